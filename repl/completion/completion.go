// Package completion finds what the word before the cursor can become: the name of a
// command or an argument of one, a path behind @, a program or a path behind !, and what
// hooks offer behind a character of their own. It shows nothing and knows no terminal.
//
//	c := completion.Completer{Commands: set.All, Files: completion.NewFiles(cwd), …}
//	r := c.Complete(ctx, text, cursor)     what the word can become, the best first
//	r.Only()                               the one thing, if there is no other
//	r.Apply(text, item)                    the text with it, and where the cursor is then
//
// Matching is by [fuzzy.Index]: the typed characters stay, in their order, in whatever
// replaces them. That holds for everybody's candidates, since they are filtered here; a
// hook that ignores what was typed loses nothing.
//
// A [Completer] may be asked by several goroutines at a time, if its functions may be.
// [Runner] asks it in the background, where the newest question counts.
package completion

import (
	"context"
	"strings"

	"pi/agent/command"
	"pi/internal/fuzzy"
)

// most is how many items a result has at most.
const most = 100

// Item is one thing that a word can become.
type Item struct {
	Value       string // what replaces the word
	Label       string // what is shown; "" is Value
	Description string
	Append      string // what is put behind Value: a blank, or nothing where more of the word follows
}

// Text is what is shown of an item.
func (i Item) Text() string {
	if i.Label != "" {
		return i.Label
	}
	return i.Value
}

// Result is what a part of a text can become.
type Result struct {
	Start, End int    // that part, in bytes
	Typed      string // what of it is matched with the labels
	Items      []Item // the best first
}

// Only returns the item of a result that has no other.
func (r Result) Only() (Item, bool) {
	if len(r.Items) != 1 {
		return Item{}, false
	}
	return r.Items[0], true
}

// Apply puts an item into the text that the result is for, and returns where the cursor is
// then. A blank is not put before another one.
func (r Result) Apply(text string, item Item) (applied string, cursor int) {
	insert, rest := item.Value+item.Append, text[r.End:]
	if strings.HasSuffix(insert, " ") && strings.HasPrefix(rest, " ") {
		rest = rest[1:]
	}
	return text[:r.Start] + insert + rest, r.Start + len(insert)
}

// Completer knows where candidates come from. Whatever is nil offers none.
type Completer struct {
	Commands func() []command.Command // all that there are now
	Files    *Files                   // of the project, for @ and !
	Programs *Programs                // for the first word behind !
	Sources  func() []Source          // of hooks
	Cwd      string                   // absolute; relative paths begin there
	Home     string                   // what ~ is
}

// Complete returns what the word before the cursor, a position in bytes, can become. It
// takes as long as the slowest of what it asks, sources no longer than their limit. Without
// a word, or anything that it can become, the result has no items.
func (c *Completer) Complete(ctx context.Context, text string, cursor int) Result {
	before := text[:max(0, min(cursor, len(text)))]
	if shell, ok := strings.CutPrefix(before, "!"); ok {
		return c.shell(ctx, before, len(before)-len(strings.TrimPrefix(shell, "!")))
	}
	sourced := c.sourced(ctx, before)
	r, ok := c.mention(ctx, before)
	switch {
	case !ok && len(sourced.Items) > 0:
		return sourced
	case !ok:
		return c.command(before)
	case r.Start == sourced.Start:
		r.Items = uniqueItems(append(r.Items, sourced.Items...))
	}
	return r
}

// isBlank reports whether a character parts words. An object in the place of a text, such
// as a paste, does.
func isBlank(r rune) bool { return r == ' ' || r == '\t' || r == '\n' || r == '\r' || r == '\ufffc' }

// lastWord returns where the last word of a text begins, which may be its end.
func lastWord(text string) int {
	return len(text) - len(text[strings.LastIndexFunc(text, isBlank)+1:])
}

// rank orders items by how their values, without a prefix that all have, match what was
// typed, and drops those that do not.
func rank(items []Item, prefix, typed string) []Item {
	texts := make([]string, len(items))
	for i, item := range items {
		texts[i] = strings.TrimPrefix(item.Value, prefix)
	}
	var ranked []Item
	for _, i := range fuzzy.NewIndex(texts).Best(typed, most) {
		ranked = append(ranked, items[i])
	}
	return ranked
}
