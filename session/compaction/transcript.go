package compaction

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"pi/session"
	"pi/session/message"
)

// How many characters a transcript shows of the output of tools and commands and of the
// arguments of calls, and how many of a thought: nobody said them to anybody.
const (
	outputKept  = 2000
	thoughtKept = 500
)

// Transcript is a conversation as text, for a model that is asked about it and
// not to go on with it. The words of people and models stand there in full; the
// output of tools and commands, long arguments and thoughts are clipped, with a
// note of how much is missing; images are named. Messages that no model sees are
// left out.
//
// The text is one section of tags ([Section]), and each message in it another:
// nothing that a message says looks like the end of either.
func Transcript(items []session.Item) string {
	var b strings.Builder
	for _, it := range items {
		if s := messageSection(it.Message); s != "" {
			b.WriteString(s)
			b.WriteByte('\n')
		}
	}
	return Section("conversation", strings.TrimSuffix(b.String(), "\n"))
}

// Section puts a text between an opening and a closing tag. Tags of that name
// that stand in the text are made harmless.
func Section(name, text string) string {
	return "<" + name + ">\n" + withoutTag(text, name) + "\n</" + name + ">"
}

// withoutTag puts a backslash behind the < of everything in a text that looks like an
// opening or closing tag of that name, in whatever case.
func withoutTag(text, name string) string {
	var b strings.Builder
	done := 0
	for i := 0; ; {
		n := strings.IndexByte(text[i:], '<')
		if n < 0 {
			break
		}
		i += n + 1
		rest := strings.TrimLeft(text[i:], " \t\r\n/")
		if len(rest) >= len(name) && strings.EqualFold(rest[:len(name)], name) {
			b.WriteString(text[done:i])
			b.WriteByte('\\')
			done = i
		}
	}
	if done == 0 {
		return text
	}
	return b.String() + text[done:]
}

// messageSection returns one message of a transcript between its tags; "" if no model
// sees the message or nothing of it is shown.
func messageSection(m *message.Message) string {
	if m == nil || message.Hidden(m) {
		return ""
	}
	from, text := speaker(m), messageText(m)
	if strings.TrimSpace(text) == "" {
		return ""
	}
	return "<message from=" + withoutTag(from, "message") + ">\n" + withoutTag(text, "message") + "\n</message>"
}

// speaker is who a message is from, with what else its tag says of it.
func speaker(m *message.Message) string {
	switch m.Role {
	case message.RoleToolResult:
		from := strconv.Quote("tool " + m.ToolName)
		if m.IsError {
			from += " failed=\"yes\""
		}
		return from
	case message.RoleCustom:
		return strconv.Quote("hook " + m.CustomType)
	case message.RoleBashExecution:
		return `"user, who ran a command"`
	case message.RoleBranchSummary, message.RoleCompactionSummary:
		return `"summary"`
	}
	return strconv.Quote(string(m.Role))
}

// messageText returns what a transcript shows of a message, with long output clipped.
func messageText(m *message.Message) string {
	switch m.Role {
	case message.RoleBashExecution:
		short := *m
		short.Output = clipped(m.Output, outputKept)
		return message.CommandText(&short)
	case message.RoleBranchSummary, message.RoleCompactionSummary:
		return message.AsUser(m).Text()
	}
	var parts []string
	if m.Role == message.RoleToolResult {
		parts = append(parts, clipped(strings.ToValidUTF8(m.Text(), "\uFFFD"), outputKept))
	}
	for i := range m.Content {
		if b := &m.Content[i]; b.Type != message.BlockText || m.Role != message.RoleToolResult {
			parts = append(parts, strings.ToValidUTF8(blockText(b), "\uFFFD"))
		}
	}
	parts = slices.DeleteFunc(parts, func(s string) bool { return strings.TrimSpace(s) == "" })
	return strings.Join(parts, "\n")
}

// blockText is what a transcript shows of a block; "" for one that it leaves out.
func blockText(b *message.Block) string {
	switch b.Type {
	case message.BlockText:
		return b.Text
	case message.BlockThinking:
		if strings.TrimSpace(b.Text) == "" {
			return ""
		}
		return "(thinks: " + clipped(b.Text, thoughtKept) + ")"
	case message.BlockToolCall:
		return fmt.Sprintf("(calls %s %s)", b.Name, clipped(string(b.Arguments), outputKept))
	case message.BlockImage:
		return fmt.Sprintf("(an image, %s, %d KB)", b.MimeType, (len(b.Data)*3/4+1023)/1024)
	}
	return ""
}

func clipped(text string, chars int) string { return clip(text, chars, "left out") }

// Chunks divides items, in their order, so that the transcript of each part is
// about so many tokens at most. A message stays whole, unless its words alone are
// more than that: then they are divided among items of the same entry.
func Chunks(items []session.Item, tokens int) [][]session.Item {
	var chunks [][]session.Item
	var chunk []session.Item
	sum := 0
	for _, whole := range items {
		for _, it := range pieces(whole, tokens) {
			n := tokensOf(characters(messageSection(it.Message)))
			if len(chunk) > 0 && sum+n > tokens {
				chunks, chunk, sum = append(chunks, chunk), nil, 0
			}
			chunk = append(chunk, it)
			sum += n
		}
	}
	if len(chunk) > 0 {
		chunks = append(chunks, chunk)
	}
	return chunks
}

// pieces divides a message whose text alone is longer than so many tokens into several
// items of the same entry; other messages are returned as they are. Images and calls
// come with the last piece.
func pieces(it session.Item, tokens int) []session.Item {
	const frame = 100 // more than the tags of a message
	chars := max(tokens*charsPerToken-frame, frame)
	m := it.Message
	text := m.Text()
	isWhole := !message.Hidden(m) && (m.Role == message.RoleUser || m.Role == message.RoleAssistant || m.Role == message.RoleCustom)
	if !isWhole || characters(text) <= chars { // of others a transcript shows a part only
		return []session.Item{it}
	}
	var list []session.Item
	for text != "" {
		piece := firstRunes(text, chars)
		text = text[len(piece):]
		part := it
		part.Message = m.Clone()
		part.Message.Content = []message.Block{message.TextBlock(piece)}
		list = append(list, part)
	}
	last := list[len(list)-1].Message
	for _, b := range m.Content {
		if b.Type != message.BlockText {
			last.Content = append(last.Content, b)
		}
	}
	return list
}
