package tool

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"

	"pi/agent"
	"pi/internal/gitignore"
)

//go:embed grep.md
var grepText string

const grepSchema = `{
  "type": "object",
  "properties": {
    "pattern": {"type": "string", "description": "Regular expression (RE2), matched against each line"},
    "path": {"type": "string", "description": "Directory or file to search; the working directory if absent"},
    "glob": {"type": "string", "description": "Search only files that match, such as *.go or src/**/*.ts; with ! in front, only others"},
    "ignoreCase": {"type": "boolean", "description": "Upper and lower case are the same"},
    "literal": {"type": "boolean", "description": "The pattern is plain text, not a regular expression"},
    "context": {"type": "integer", "minimum": 0, "description": "Lines to show before and after each match"},
    "limit": {"type": "integer", "minimum": 1, "description": "How many matching lines at most (default 100)"}
  },
  "required": ["pattern"],
  "additionalProperties": false
}`

const (
	grepLimit  = 100
	maxSkipped = 10 // files whose names are told
)

type grepArgs struct {
	Pattern    string `json:"pattern"`
	Path       string `json:"path"`
	Glob       string `json:"glob"`
	IgnoreCase bool   `json:"ignoreCase"`
	Literal    bool   `json:"literal"`
	Context    whole  `json:"context"`
	Limit      whole  `json:"limit"`
}

// grep shows the lines that match a regular expression, in a file or in the files below
// a directory that are not ignored.
func (k *kit) grep(ctx context.Context, a grepArgs, _ agent.Update) (agent.Result, error) {
	re, err := a.compile()
	if err != nil {
		return agent.Result{}, fmt.Errorf("grep: %w", err)
	}
	p, info, err := k.locateExisting(cmp.Or(a.Path, "."))
	if err != nil {
		return agent.Result{}, fmt.Errorf("grep: %w", err)
	}
	if !info.IsDir() && !info.Mode().IsRegular() {
		return agent.Result{}, fmt.Errorf("grep %s: it is %s, not a file or directory", p.name, kindOf(info.Mode()))
	}
	want, err := fileFilter(a.Glob, p)
	if err != nil {
		return agent.Result{}, fmt.Errorf("grep: %w", err)
	}
	s := &search{pattern: newPattern(re), context: min(int(a.Context.or(0)), maxLines), limit: a.Limit.or(grepLimit)}
	rules := gitignore.None()
	if info.IsDir() {
		rules = k.rulesFor(p)
	}
	if err := s.run(ctx, k.candidates(ctx, p, info, rules, want)); err != nil {
		return agent.Result{}, fmt.Errorf("grep %s: %w", p.name, err)
	}
	return s.result(a, p, oversized(rules)), nil
}

// compile makes the regular expression that every line is matched against.
func (a *grepArgs) compile() (*regexp.Regexp, error) {
	if a.Pattern == "" {
		return nil, errors.New("the pattern is empty")
	}
	if a.Literal && strings.Contains(a.Pattern, "\n") {
		return nil, errors.New("the pattern holds a line break, but lines are matched one by one; search for one of its lines")
	}
	expr := a.Pattern
	if a.Literal {
		expr = regexp.QuoteMeta(expr)
	}
	if a.IgnoreCase {
		expr = "(?i)" + expr
	}
	re, err := regexp.Compile(expr)
	if err != nil {
		return nil, fmt.Errorf("the pattern is not a regular expression of RE2 (which has no lookaround and no backreferences): %w; set literal to search for it as it stands", err)
	}
	return re, nil
}

// fileFilter returns a function that reports whether a glob argument means a file; with
// ! in front, whether it does not.
func fileFilter(pattern string, p location) (func(rel string) bool, error) {
	if pattern == "" {
		return func(string) bool { return true }, nil
	}
	pattern, others := strings.CutPrefix(pattern, "!")
	g, err := parseGlob(pattern, p)
	if err != nil {
		return nil, err
	}
	return func(rel string) bool { return g.matches(rel, false) != others }, nil
}

// candidates yields the files to search: the one that was named, or all below
// the directory that was, but for those with logins.
func (k *kit) candidates(ctx context.Context, p location, info fs.FileInfo, r *gitignore.Rules, want func(string) bool) func(func(candidate) bool) {
	return func(yield func(candidate) bool) {
		if !info.IsDir() {
			if want(filepath.Base(p.real)) {
				yield(candidate{p, p.name})
			}
			return
		}
		for f := range gitignore.Walk(ctx, p.real, r) {
			if !f.File || !want(f.Rel) {
				continue
			}
			at := location{real: f.Path, root: p.root}
			if k.isNamedLikeSecret(f.Path) && k.checkSecret(at) != nil {
				continue
			}
			if !yield(candidate{at, oneLine(p.below(f.Rel))}) {
				return
			}
		}
	}
}

// result is the matching lines as the model reads them, or that there are none, and
// notes on what was left out.
func (s *search) result(a grepArgs, p location, left []string) agent.Result {
	notes := append(s.notes(), left...)
	if s.matches == 0 {
		text := fmt.Sprintf("(no line matches in %s; what .gitignore names and binary files are left out)", p.name)
		return textResult(withNotes(text, notes...), listDetails{})
	}
	text, d := listing(s.lines, "narrow the pattern, path or glob", notes...)
	return textResult(text, d)
}

// notes tell the model what the result lacks: matches beyond the limit, the rest of
// long lines, files that were not searched.
func (s *search) notes() []string {
	var notes []string
	if s.more {
		notes = append(notes, fmt.Sprintf("[the first %d matches; there are more: narrow the pattern, path or glob, or set limit]", s.matches))
	}
	if s.cut {
		notes = append(notes, fmt.Sprintf("[lines longer than %d bytes end in …; read shows them whole]", grepWidth))
	}
	if len(s.skipped) > 0 {
		names := strings.Join(s.skipped[:min(len(s.skipped), maxSkipped)], ", ")
		if more := len(s.skipped) - maxSkipped; more > 0 {
			names += fmt.Sprintf(" and %d more", more)
		}
		notes = append(notes, fmt.Sprintf("[not searched, larger than %s or growing while they are read: %s]", size(maxSearch), names))
	}
	return notes
}
