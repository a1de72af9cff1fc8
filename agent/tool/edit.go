package tool

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"strings"

	"pi/agent"
	"pi/internal/diff"
	"pi/internal/printable"
)

//go:embed edit.md
var editText string

// The two forms are not told apart in the schema: several providers refuse
// alternatives at its top.
const editSchema = `{
  "type": "object",
  "properties": {
    "path": {"type": "string", "description": "File to change, relative to the working directory or absolute"},
    "oldText": {"type": "string", "description": "Text to replace, exactly as it stands in the file; it must stand there once"},
    "newText": {"type": "string", "description": "Text to put in its place"},
    "replaceAll": {"type": "boolean", "description": "Replace every occurrence of oldText"},
    "edits": {
      "type": "array",
      "description": "Several replacements at once, instead of oldText and newText; each is matched against the file as it was before, and they must not overlap",
      "items": {
        "type": "object",
        "properties": {
          "oldText": {"type": "string", "description": "Text to replace, which must stand once in the file"},
          "newText": {"type": "string", "description": "Text to put in its place"}
        },
        "required": ["oldText", "newText"],
        "additionalProperties": false
      }
    }
  },
  "required": ["path"],
  "additionalProperties": false
}`

// maxEdit is the largest file that edit takes.
const maxEdit = 64 << 20

type editArgs struct {
	Path       string  `json:"path"`
	OldText    *string `json:"oldText"`
	NewText    *string `json:"newText"`
	ReplaceAll bool    `json:"replaceAll"`
	Edits      []struct {
		OldText string `json:"oldText"`
		NewText string `json:"newText"`
	} `json:"edits"`
}

type editDetails struct {
	Diff             string `json:"diff"`
	FirstChangedLine int    `json:"firstChangedLine"`
}

// edit makes the replacements of a call in a file, all or none, and shows the
// difference. Unlike write it changes a file that the model does not know as it is, and
// then says so.
func (k *kit) edit(ctx context.Context, a editArgs, _ agent.Update) (agent.Result, error) {
	p, info, err := k.locateExisting(a.Path)
	if err != nil {
		return agent.Result{}, fmt.Errorf("edit: %w", err)
	}
	fail := func(err error) (agent.Result, error) {
		return agent.Result{}, fmt.Errorf("edit %s: %w", p.name, err)
	}
	if !info.Mode().IsRegular() {
		return fail(fmt.Errorf("it is %s, not a regular file", kindOf(info.Mode())))
	}
	if err := k.checkWritable(p); err != nil {
		return agent.Result{}, fmt.Errorf("edit: %w", err)
	}
	edits, err := a.replacements()
	if err != nil {
		return fail(err)
	}
	done, err := k.lock(ctx, p)
	if err != nil {
		return fail(err)
	}
	defer done()
	var file textFile = p
	reader, canRead := k.reader(p)
	if _, canWrite := k.writer(p); canRead && canWrite {
		file = reader
	}
	e, err := editFile(ctx, file, edits)
	if err != nil {
		return fail(err)
	}
	was, known, _ := k.known(p)
	e.changed = known && was.sum != e.read
	k.note(p, stateOf(e.wrote))
	r, line := e.result(p.name)
	r.Touched = k.touched(p, line)
	r.Touched.Change = &agent.FileChange{Before: &e.before, After: e.after}
	return r, nil
}

// replacements lists the edits of a call, which are given in one of two forms: oldText
// and newText, or a list of edits. It fails unless one of them is used.
func (a *editArgs) replacements() ([]replacement, error) {
	single := a.OldText != nil && *a.OldText != "" || a.NewText != nil && *a.NewText != ""
	switch {
	case len(a.Edits) > 0 && single:
		return nil, errors.New("give either oldText and newText or edits, not both")
	case len(a.Edits) > 0 && a.ReplaceAll:
		return nil, errors.New("replaceAll goes with oldText and newText only; give each of the edits a unique oldText")
	case len(a.Edits) > 0:
		list := make([]replacement, len(a.Edits))
		for i, e := range a.Edits {
			list[i] = replacement{old: withoutBOM(e.OldText), new: e.NewText}
		}
		return list, nil
	case a.OldText == nil || a.NewText == nil:
		return nil, errors.New("oldText and newText are needed, or edits with a list of them")
	}
	return []replacement{{withoutBOM(*a.OldText), *a.NewText, a.ReplaceAll}}, nil
}

// edited is a change that was made.
type edited struct {
	before, after string
	changes       []change
	read          [sha256.Size]byte // of the file before
	wrote         []byte            // the file now
	note          string            // of the file that was replaced
	changed       bool              // somebody else had changed the file since the model last knew it
}

// editFile makes all edits of a file or none, and returns its text before and after. It
// fails if that would change nothing.
func editFile(ctx context.Context, file textFile, edits []replacement) (*edited, error) {
	data, err := file.load(ctx)
	if err != nil {
		return nil, err
	}
	bom := ""
	if bytes.HasPrefix(data, utf8BOM) {
		bom = string(utf8BOM)
	}
	m := &matcher{body: string(data[len(bom):])}
	changes, err := m.plan(edits)
	if err != nil {
		return nil, err
	}
	after := m.apply(changes)
	if after == m.body {
		return nil, fmt.Errorf("nothing would change: at %s the file already reads like newText", m.lines(changes[0]))
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	whole := []byte(bom + after)
	note, err := file.replace(ctx, whole)
	if err != nil {
		return nil, err
	}
	return &edited{before: m.body, after: after, changes: changes, read: sha256.Sum256(data), wrote: whole, note: note}, nil
}

// load reads a text file. It fails if the file is larger than maxEdit, or binary.
func (p location) load(ctx context.Context) ([]byte, error) {
	data, err := p.readMost(ctx, maxEdit+1)
	if err != nil {
		return nil, err
	}
	return data, checkText(data)
}

// readMost reads a file on the disk, at most so many bytes of it.
func (p location) readMost(ctx context.Context, most int64) ([]byte, error) {
	f, err := p.open()
	if err != nil {
		return nil, plain(err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(&ctxReader{ctx, f}, most))
	return data, plain(err)
}

// plan finds the changes of all edits, each in the text as it is before any of them,
// and returns them in the order of the text. It fails if an edit has none, or if two
// overlap.
func (m *matcher) plan(edits []replacement) ([]change, error) {
	var all []change
	for i, r := range edits {
		found, err := m.findOne(r)
		if err != nil && len(edits) > 1 {
			return nil, fmt.Errorf("edits[%d]: %w; none of the edits was made", i, err)
		}
		if err != nil {
			return nil, err
		}
		for _, c := range found {
			c.edit = i
			all = append(all, c)
		}
	}
	return all, m.sortChanges(all)
}

// findOne finds the changes of one edit: one, or with replaceAll several. If there are
// none, the error tells the model why.
func (m *matcher) findOne(r replacement) ([]change, error) {
	if r.old == "" {
		return nil, errors.New("oldText is empty; give the text to replace, or use write for a whole file")
	}
	if r.old == r.new {
		where := ""
		if at := strings.Index(m.body, r.old); at >= 0 {
			where = fmt.Sprintf(" (it stands on line %d)", m.line(at))
		}
		return nil, fmt.Errorf("nothing would change: oldText and newText are the same%s", where)
	}
	return m.find(r)
}

// result tells the model how many replacements were made, and what it may not know:
// bytes that only looked like oldText, and that the file had changed. The difference is
// in the details. line is the first line that changed.
func (e *edited) result(name string) (r agent.Result, line int) {
	same := 0
	for same < len(e.before) && same < len(e.after) && e.before[same] == e.after[same] {
		same++
	}
	d := editDetails{Diff: e.diff(name), FirstChangedLine: 1 + strings.Count(e.after[:same], "\n")}
	text := fmt.Sprintf("Edited %s: %s, first changed line %d", name, printable.Count(len(e.changes), "replacement"), d.FirstChangedLine)
	for _, c := range e.changes {
		if c.tolerant {
			// The model did not know these bytes, so they are shown.
			text += "\nThe text that was replaced differs from oldText in quotes, dashes, spaces or Unicode form:\n" + d.Diff
			break
		}
	}
	if e.changed {
		text += "\n[the file had changed since you last read, wrote or edited it; the rest of it may not be what you know: use read to see it]"
	}
	return textResult(text+e.note, d), d.FirstChangedLine
}

// diff is the unified difference of the changes, as valid UTF-8. Only lines that they touch are
// compared, for the file may be long.
func (e *edited) diff(name string) string {
	name = strings.TrimPrefix(name, "/")
	u := diff.Unified{From: "a/" + name, To: "b/" + name, Context: 3}
	before, after := u.Lines(e.before), u.Lines(e.after)
	var places []diff.Change
	at, line := 0, 0          // how far the old text was looked at
	longer, moreLines := 0, 0 // by how much the new text is longer up to there
	for _, c := range e.changes {
		line += strings.Count(e.before[at:c.start], "\n")
		p := diff.Change{Start: line, ReplStart: line + moreLines}
		p.End = p.Start + strings.Count(e.before[c.start:c.end], "\n")
		p.ReplEnd = p.ReplStart + strings.Count(c.text, "\n")
		at, line = c.end, p.End
		longer += len(c.text) - (c.end - c.start)
		moreLines = p.ReplEnd - p.End
		if !startsLine(e.before, at) || !startsLine(e.after, at+longer) {
			p.End = min(p.End+1, len(before))
			p.ReplEnd = min(p.ReplEnd+1, len(after))
		}
		if n := len(places); n > 0 && (p.Start < places[n-1].End || p.ReplStart < places[n-1].ReplEnd) { // in the same line
			p.Start, p.ReplStart = places[n-1].Start, places[n-1].ReplStart
			places = places[:n-1]
		}
		places = append(places, p)
	}
	return strings.ToValidUTF8(u.Within(before, after, places), "\uFFFD")
}

func startsLine(text string, at int) bool { return at == 0 || text[at-1] == '\n' }

func withoutBOM(s string) string { return strings.TrimPrefix(s, string(utf8BOM)) }
