package acp

import (
	"errors"
	"io/fs"
	"strings"

	"pi/agent"
	"pi/internal/safefile"
)

// changeOf is a change of a file as a client shows it; nil if there is none that can be
// shown.
func changeOf(t *agent.Touched) *diff {
	if t.Change == nil || !t.Change.Created && t.Change.Before == nil {
		return nil
	}
	d := &diff{Type: "diff", Path: t.Path, OldText: t.Change.Before, NewText: t.Change.After}
	if t.Change.Created {
		d.OldText = nil
	}
	return d
}

// wouldChange returns what a call of edit or write is about to change, by the file on the
// disk: whole rows, with some around them.
func wouldChange(c toolCall) (diffs []any) {
	f, err := parseFields(c.RawInput)
	if err != nil || len(c.Locations) == 0 {
		return nil
	}
	path := c.Locations[0].Path
	data, err := safefile.Read(path, mostText)
	before := string(data)
	if c.Name == "write" {
		text, ok := f.text("content")
		switch {
		case !ok:
		case errors.Is(err, fs.ErrNotExist):
			return []any{diff{Type: "diff", Path: path, NewText: text}}
		case err == nil:
			return []any{diff{"diff", path, &before, text}}
		}
		return nil
	}
	before = strings.ReplaceAll(before, "\r\n", "\n") // as models write what they edit
	for _, each := range argumentDiffs(c, "") {
		d := each.(diff)
		if was, is, ok := withRows(before, *d.OldText, d.NewText); ok {
			d.OldText, d.NewText = &was, is
		}
		diffs = append(diffs, d)
	}
	return diffs
}

// rowsAround is how many rows are shown before and behind a change.
const rowsAround = 3

// withRows makes whole rows of a change of a text, with those around it; ok is false if the
// text does not have what is changed, or has it twice.
func withRows(text, was, is string) (before, after string, ok bool) {
	head, tail, found := strings.Cut(text, was)
	if !found || was == "" || strings.Contains(tail, was) {
		return "", "", false
	}
	from, to := len(head), 0
	for range rowsAround + 1 {
		if from = strings.LastIndexByte(head[:from], '\n'); from < 0 {
			break
		}
	}
	head = head[from+1:]
	rows := rowsAround
	if !strings.HasSuffix(was, "\n") {
		rows++ // the rest of its last row
	}
	for range rows {
		end := strings.IndexByte(tail[to:], '\n')
		if end < 0 {
			to = len(tail)
			break
		}
		to += end + 1
	}
	return head + was + tail[:to], head + is + tail[:to], true
}

// argumentDiffs returns what a call of edit or write changes, as far as its arguments say it:
// the file as it was is not stored. result is what the tool said; "" if it has not run.
func argumentDiffs(c toolCall, result string) (diffs []any) {
	f, err := parseFields(c.RawInput)
	if err != nil || len(c.Locations) == 0 {
		return nil
	}
	path := c.Locations[0].Path
	add := func(f fields) {
		was, hasOld := f.text("oldText")
		if is, hasNew := f.text("newText"); hasOld && hasNew {
			diffs = append(diffs, diff{"diff", path, &was, is})
		}
	}
	switch c.Name {
	case "edit":
		add(f)
		edits, _ := f.list("edits")
		for _, raw := range edits {
			if edit, err := parseFields(raw); err == nil {
				add(edit)
			}
		}
	case "write":
		if text, ok := f.text("content"); ok && strings.HasPrefix(result, "Created ") {
			diffs = append(diffs, diff{Type: "diff", Path: path, NewText: text})
		}
	}
	return diffs
}
