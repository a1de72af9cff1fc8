package completion

import (
	"context"
	"strings"

	"pi/internal/fuzzy"
)

// shell completes a word of the command line that begins at from: the name of a program
// where one can be, else a path.
func (c *Completer) shell(ctx context.Context, before string, from int) Result {
	w := lastShellWord(before[from:])
	r := Result{Start: from + w.start, End: len(before), Typed: w.text}
	if w.program && !strings.Contains(w.text, "/") {
		if c.Programs == nil || w.text == "" {
			return r
		}
		names := c.Programs.Names()
		for _, i := range fuzzy.NewIndex(names).Best(w.text, most) {
			r.Items = append(r.Items, Item{Value: w.write(names[i], true), Label: names[i], Append: " "})
		}
		return r
	}
	if c.Cwd == "" {
		return r
	}
	found := c.folder(w.text)
	if w.text != "" {
		found = append(found, c.paths(ctx, w.text)...)
	}
	for _, path := range uniquePaths(found, w.text) {
		if strings.Contains(path, "\n") {
			continue
		}
		r.Items = append(r.Items, pathItem(path, w.write(path, !strings.HasSuffix(path, "/"))))
	}
	return r
}

// shellWord is the last word of a command line.
type shellWord struct {
	start   int    // in the line
	text    string // without quotes
	quote   byte   // the quote that is open at the end, or 0
	program bool   // it is where the name of a program can be
}

// lastShellWord reads a command line as a shell does, as far as words and quotes go, and
// returns its last word. What is behind an = is a word of its own, so that --file=x and
// NAME=x can be completed.
func lastShellWord(line string) shellWord {
	w := shellWord{program: true}
	var text strings.Builder
	begin := func(at int, program bool) {
		w.start, w.program = at, program
		text.Reset()
	}
	for i := 0; i < len(line); i++ {
		ch := line[i]
		switch {
		case w.quote == '\'' && ch != '\'', w.quote == '"' && ch != '"' && ch != '\\':
			text.WriteByte(ch)
		case ch == '\\' && i+1 < len(line):
			i++
			text.WriteByte(line[i])
		case ch == '\\':
		case w.quote != 0: // it ends here
			w.quote = 0
		case ch == '\'' || ch == '"':
			w.quote = ch
		case ch == ' ' || ch == '\t':
			begin(i+1, w.program && i == w.start)
		case strings.IndexByte("|&;(\n`", ch) >= 0:
			begin(i+1, true)
		case strings.IndexByte("<>=", ch) >= 0:
			begin(i+1, false)
		default:
			text.WriteByte(ch)
		}
	}
	w.text = text.String()
	return w
}

// write writes a word as the shell reads it: in the quotes that were begun, which are
// closed if the word is whole, else with backslashes.
func (w shellWord) write(text string, whole bool) string {
	end := ""
	if whole && w.quote != 0 {
		end = string(w.quote)
	}
	switch w.quote {
	case '\'':
		return "'" + strings.ReplaceAll(text, "'", `'\''`) + end
	case '"':
		return `"` + escaped(text, "\"\\$`") + end
	}
	if rest, ok := strings.CutPrefix(text, "~/"); ok {
		return "~/" + escaped(rest, special)
	}
	return escaped(text, special)
}

// special are the characters that mean something to a shell.
const special = "= \t\"'\\$`*?[]{}()<>|&;#!~"

// escaped puts a backslash before each of some characters.
func escaped(text, of string) string {
	var b strings.Builder
	for i := range len(text) {
		if strings.IndexByte(of, text[i]) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(text[i])
	}
	return b.String()
}
