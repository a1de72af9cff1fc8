package tool

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"pi/agent"
	"pi/internal/gitignore"
	"pi/internal/globs"
)

//go:embed find.md
var findText string

const findSchema = `{
  "type": "object",
  "properties": {
    "pattern": {"type": "string", "description": "Glob such as *.go, src/**/*.ts or **/test/"},
    "path": {"type": "string", "description": "Directory to search; the working directory if absent"},
    "limit": {"type": "integer", "minimum": 1, "description": "How many results at most (default 1000)"}
  },
  "required": ["pattern"],
  "additionalProperties": false
}`

const findLimit = 1000

type findArgs struct {
	Pattern string `json:"pattern"`
	Path    string `json:"path"`
	Limit   whole  `json:"limit"`
}

// find lists the files and directories below a directory that match a glob and are not
// ignored.
func (k *kit) find(ctx context.Context, a findArgs, _ agent.Update) (agent.Result, error) {
	p, info, err := k.locateExisting(cmp.Or(a.Path, "."))
	if err != nil {
		return agent.Result{}, fmt.Errorf("find: %w", err)
	}
	if !info.IsDir() {
		return agent.Result{}, fmt.Errorf("find %s: it is not a directory", p.name)
	}
	g, err := parseGlob(a.Pattern, p)
	if err != nil {
		return agent.Result{}, fmt.Errorf("find: %w", err)
	}
	limit := a.Limit.or(findLimit)
	var lines, notes []string
	rules := k.rulesFor(p)
	for f := range gitignore.Walk(ctx, p.real, rules) {
		if !g.matches(f.Rel, f.IsDir) {
			continue
		}
		if len(lines) == limit {
			notes = append(notes, fmt.Sprintf("[the first %d results; there are more: narrow the pattern or path, or set limit]", limit))
			break
		}
		line := oneLine(p.below(f.Rel))
		if f.IsDir {
			line += "/"
		}
		lines = append(lines, line)
	}
	if err := ctx.Err(); err != nil {
		return agent.Result{}, fmt.Errorf("find %s: %w", p.name, err)
	}
	notes = append(notes, oversized(rules)...)
	if len(lines) == 0 {
		text := "(nothing matches " + a.Pattern + " in " + p.name + "; what .gitignore and .ignore name is left out)"
		return textResult(withNotes(text, notes...), listDetails{}), nil
	}
	text, d := listing(lines, "narrow the pattern or path", notes...)
	return textResult(text, d), nil
}

// rulesFor returns the ignore rules for a search at a place: see [gitignore.For], with the
// working directory as the limit.
func (k *kit) rulesFor(p location) *gitignore.Rules {
	cwd, err := realPath(k.Cwd)
	if err != nil {
		cwd = p.real
	}
	return gitignore.For(p.real, cwd)
}

// oversized is one line for the model that names the ignore files that were left out;
// nothing if there are none.
func oversized(r *gitignore.Rules) []string {
	files := r.Oversized()
	if len(files) == 0 {
		return nil
	}
	text := oneLine(strings.Join(files[:min(3, len(files))], ", "))
	if more := len(files) - 3; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return []string{fmt.Sprintf("[ignore files larger than %s or %d rules are left out, so more is shown: %s]", size(gitignore.MaxFile), gitignore.MaxRules, text)}
}

// below names something found at rel below the place.
func (p location) below(rel string) string {
	if p.name == "." {
		return rel
	}
	return strings.TrimSuffix(p.name, "/") + "/" + rel
}

// glob matches paths. Without a slash it matches names at any depth.
type glob struct {
	pattern  string
	dirsOnly bool
	names    bool
}

// parseGlob parses a glob for what is below p. An absolute one may begin with p.
func parseGlob(pattern string, p location) (glob, error) {
	g := glob{pattern: filepath.ToSlash(pattern)}
	if err := globs.Check(pattern); err != nil {
		return g, err
	}
	if !doublestar.ValidatePattern(g.pattern) {
		return g, fmt.Errorf("the pattern %q is not a valid glob: check its brackets and braces", pattern)
	}
	for _, dir := range []string{p.path, p.real} {
		if rest, ok := strings.CutPrefix(g.pattern, strings.TrimSuffix(filepath.ToSlash(dir), "/")+"/"); ok {
			g.pattern = "./" + rest
		}
	}
	g.pattern, g.dirsOnly = strings.CutSuffix(g.pattern, "/")
	g.names = !strings.Contains(g.pattern, "/")
	g.pattern = strings.TrimPrefix(strings.TrimPrefix(g.pattern, "./"), "/")
	if g.pattern == "" {
		return g, fmt.Errorf("the pattern %q matches nothing; use * for everything", pattern)
	}
	return g, nil
}

// matches reports whether a glob matches a path below its directory.
func (g glob) matches(rel string, isDir bool) bool {
	if g.dirsOnly && !isDir {
		return false
	}
	if g.names {
		rel = path.Base(rel)
	}
	ok, err := doublestar.Match(g.pattern, rel)
	return ok && err == nil
}
