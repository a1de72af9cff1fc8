package tool

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"pi/agent"
)

//go:embed ls.md
var lsText string

const lsSchema = `{
  "type": "object",
  "properties": {
    "path": {"type": "string", "description": "Directory to list; the working directory if absent"},
    "limit": {"type": "integer", "minimum": 1, "description": "How many entries at most (default 500)"}
  },
  "additionalProperties": false
}`

const lsLimit = 500

type lsArgs struct {
	Path  string `json:"path"`
	Limit whole  `json:"limit"`
}

// ls lists the entries of a directory, as many as limit allows.
func (k *kit) ls(ctx context.Context, a lsArgs, _ agent.Update) (agent.Result, error) {
	p, info, err := k.locateExisting(cmp.Or(a.Path, "."))
	if err != nil {
		return agent.Result{}, fmt.Errorf("ls: %w", err)
	}
	if !info.IsDir() {
		return agent.Result{}, fmt.Errorf("ls %s: it is not a directory but a file of %s; use read", p.name, size(info.Size()))
	}
	names, err := entryNames(ctx, p)
	if err != nil {
		return agent.Result{}, fmt.Errorf("ls %s: %w", p.name, plain(err))
	}
	if len(names) == 0 {
		return textResult("(the directory is empty)", listDetails{}), nil
	}
	var notes []string
	if limit := a.Limit.or(lsLimit); len(names) > limit {
		notes = append(notes, fmt.Sprintf("[%d of %d entries; all with limit=%d]", limit, len(names), len(names)))
		names = names[:limit]
	}
	text, d := listing(names, "narrow it with find", notes...)
	return textResult(text, d), nil
}

// entryNames lists a directory, sorted. A directory, or a link to one, ends in /.
func entryNames(ctx context.Context, p location) ([]string, error) {
	dir, err := p.open()
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	entries, err := dir.ReadDir(-1)
	if err != nil {
		return nil, err
	}
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		name := oneLine(e.Name())
		isDir := e.IsDir()
		if e.Type()&fs.ModeSymlink != 0 {
			info, err := os.Stat(p.real + string(os.PathSeparator) + e.Name())
			isDir = err == nil && info.IsDir()
		}
		if isDir {
			name += "/"
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return names, nil
}
