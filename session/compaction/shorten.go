package compaction

import (
	"fmt"
	"sort"

	"pi/session"
	"pi/session/message"
)

// About how many tokens of a result are left: at least, and so that it says more
// than what a summary would be made of.
const (
	shortest   = 100
	worthwhile = 1000
)

// large is a result that may be shortened, with about how many tokens of text.
type large struct {
	item   session.Item
	tokens int
}

// shorten returns edits that shorten the tool results kept by a cut until all that is
// kept has at most room tokens, as far as that can be done, and lowers kept by what they
// save. All results above a certain length get that length, so the largest lose most.
// room 0 is no limit.
func (c *cutting) shorten(at, room int, kept *int) []session.ContextEdit {
	if room <= 0 || *kept <= room {
		return nil
	}
	results := c.results(at)
	length := lengthFor(results, *kept-room)
	var edits []session.ContextEdit
	for _, r := range results {
		if r.tokens <= length {
			break
		}
		content := shortened(r.item.Message, length*charsPerToken)
		saved := r.tokens - tokensOf(characters(content[0].Text))
		if saved <= 0 {
			continue
		}
		*kept -= saved
		edits = append(edits, session.ContextEdit{TargetID: r.item.Entry.ID, Replacement: &session.Replacement{Content: content}})
	}
	return edits
}

// shortens reports whether shortening tool results makes what a cut keeps fit into room,
// while each shortened one still has worthwhile tokens.
func (c *cutting) shortens(at, room int) bool {
	return lengthFor(c.results(at), c.kept[at]-room) >= worthwhile
}

// results returns the tool results behind a cut that the model sees, the largest first,
// with their text as it is on the branch: an edit replaces that, not what a hook made of
// it.
func (c *cutting) results(at int) []large {
	seen := map[int]int{}
	for i, it := range c.items {
		if c.calls[i] >= 0 && it.Entry != nil && it.Index >= at {
			seen[it.Index] = c.tokens[i]
		}
	}
	var list []large
	for _, it := range c.core {
		if n, ok := seen[it.Index]; ok && it.Message.Role == message.RoleToolResult {
			list = append(list, large{it, min(n, tokensOf(characters(it.Message.Text())))})
		}
	}
	sort.SliceStable(list, func(i, j int) bool { return list[i].tokens > list[j].tokens })
	return list
}

// lengthFor returns the length, in tokens, to which the longest results are to be cut so
// that all together lose excess tokens; never less than shortest, which may not be
// enough. results are sorted, the largest first.
func lengthFor(results []large, excess int) int {
	sum := 0
	for i, r := range results {
		sum += r.tokens
		next := shortest
		if i+1 < len(results) {
			next = max(next, results[i+1].tokens)
		}
		if length := (sum - excess) / (i + 1); sum >= excess && length >= next {
			return length
		}
	}
	return shortest
}

// shortened returns the content of a tool result with at most about so many characters
// of text: its beginning, a note that says how much is missing, and its end. Images
// stay.
func shortened(m *message.Message, chars int) []message.Block {
	const note = 100 // about as long as the note
	content := []message.Block{message.TextBlock(clip(m.Text(), max(chars-note, 0), "left out to make room in the context"))}
	for _, b := range m.Content {
		if b.Type != message.BlockText {
			content = append(content, b)
		}
	}
	return content
}

// clip shortens a text to so many characters, half from its beginning and half from its
// end, with a note between them that says how many are missing. A shorter text stays as
// it is.
func clip(text string, chars int, note string) string {
	n := characters(text)
	if n <= chars {
		return text
	}
	return fmt.Sprintf("%s\n\n[… %d of %d characters %s …]\n\n%s",
		firstRunes(text, chars-chars/2), n-chars, n, note, lastRunes(text, chars/2))
}

// firstRunes is the beginning of a text, n characters long.
func firstRunes(text string, n int) string {
	for i := range text {
		if n == 0 {
			return text[:i]
		}
		n--
	}
	return text
}

// lastRunes is the end of a text, n characters long.
func lastRunes(text string, n int) string {
	i := len(text)
	for ; n > 0 && i > 0; n-- {
		for i--; i > 0 && text[i]&0xC0 == 0x80; i-- {
		}
	}
	return text[i:]
}
