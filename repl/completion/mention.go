package completion

import (
	"context"
	"strings"
)

// mention completes a path behind @. It reports false if the cursor is behind no such
// word.
func (c *Completer) mention(ctx context.Context, before string) (Result, bool) {
	start, typed, quoted := lastMention(before)
	if start < 0 || c.Cwd == "" {
		return Result{}, false
	}
	r := Result{Start: start, End: len(before), Typed: typed}
	for _, path := range c.paths(ctx, typed) {
		if value, ok := mentionOf(path, quoted); ok {
			r.Items = append(r.Items, pathItem(path, value))
		}
	}
	return r, true
}

// lastMention finds the word with @ that the text ends in: where it begins, what of its
// path is typed, and whether that is in quotes, as a path with blanks has to be. start is
// -1 if there is none. An @ within a word, as in an address, begins none.
func lastMention(before string) (start int, typed string, quoted bool) {
	line := before[strings.LastIndexAny(before, "\n\ufffc")+1:]
	for from := len(line); ; {
		at := strings.LastIndexByte(line[:from], '@')
		if at < 0 {
			return -1, "", false
		}
		from = at
		if at > 0 && !strings.ContainsAny(line[at-1:at], " \t\r([{,;`'\"") {
			continue
		}
		start, rest := len(before)-len(line)+at, line[at+1:]
		if inner, ok := strings.CutPrefix(rest, `"`); ok && !strings.Contains(inner, `"`) {
			return start, inner, true
		}
		if strings.IndexFunc(rest, isBlank) < 0 && !strings.Contains(rest, `"`) {
			return start, rest, false
		}
	}
}

// mentionOf writes a path behind @, in quotes if it needs them or has them already. A
// folder in quotes keeps them open, since more of its path follows. It reports false for
// a path that cannot be written so.
func mentionOf(path string, quoted bool) (value string, ok bool) {
	switch {
	case strings.ContainsAny(path, "\"\n"):
		return "", false
	case !quoted && !strings.ContainsFunc(path, isBlank):
		return "@" + path, true
	case strings.HasSuffix(path, "/"):
		return `@"` + path, true
	}
	return `@"` + path + `"`, true
}

// pathItem is the item of a path: behind a folder no blank is put, since more of the path
// follows.
func pathItem(path, value string) Item {
	item := Item{Value: value, Label: path, Append: " "}
	if strings.HasSuffix(path, "/") {
		item.Append = ""
	}
	return item
}
