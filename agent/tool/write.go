package tool

import (
	"context"
	_ "embed"
	"fmt"
	"strings"

	"pi/agent"
	"pi/internal/printable"
)

//go:embed write.md
var writeText string

const writeSchema = `{
  "type": "object",
  "properties": {
    "path": {"type": "string", "description": "File to write, relative to the working directory or absolute"},
    "content": {"type": "string", "description": "The whole new content of the file"}
  },
  "required": ["path", "content"],
  "additionalProperties": false
}`

type writeArgs struct {
	Path    string `json:"path"`
	Content string `json:"content"`
}

type writeDetails struct {
	Bytes int `json:"bytes"`
}

// write replaces a file by new content, or makes it with its directories. It fails if
// the file has changed since the model last saw it.
func (k *kit) write(ctx context.Context, a writeArgs, _ agent.Update) (agent.Result, error) {
	if strings.HasSuffix(a.Path, "/") {
		return agent.Result{}, fmt.Errorf("write %s: the path ends in a slash; name a file (its directories are made)", a.Path)
	}
	p, err := k.locate(a.Path)
	if err != nil {
		return agent.Result{}, fmt.Errorf("write: %w", err)
	}
	if err := k.checkWritable(p); err != nil {
		return agent.Result{}, fmt.Errorf("write: %w", err)
	}
	done, err := k.lock(ctx, p)
	if err != nil {
		return agent.Result{}, fmt.Errorf("write %s: %w", p.name, err)
	}
	defer done()
	if err := ctx.Err(); err != nil {
		return agent.Result{}, fmt.Errorf("write %s: %w", p.name, err)
	}
	before, err := k.look(ctx, p)
	if err != nil {
		return agent.Result{}, fmt.Errorf("write %s: %w", p.name, err)
	}
	var file textFile = p
	if f, ok := k.writer(p); ok {
		file = f
	}
	note, err := file.replace(ctx, []byte(a.Content))
	if err != nil {
		return agent.Result{}, fmt.Errorf("write %s: %w", p.name, err)
	}
	k.note(p, stateOf([]byte(a.Content)))
	r := textResult(a.report(p, before)+note, writeDetails{len(a.Content)})
	r.Touched = k.touched(p, 0)
	r.Touched.Change = &agent.FileChange{Created: !before.exists, Before: before.text, After: a.Content}
	return r, nil
}

// report says what was done to the file at p, for the model.
func (a *writeArgs) report(p location, before present) string {
	verb := "Created"
	if before.exists {
		verb = "Replaced"
	}
	return fmt.Sprintf("%s %s: %s, %s", verb, p.name, printable.Count(len(a.Content), "byte"), printable.Count(countLines(a.Content), "line"))
}
