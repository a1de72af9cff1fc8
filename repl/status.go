package repl

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"pi/agent"
	"pi/internal/printable"
	"pi/internal/safefile"
	"pi/repl/terminal"
	"pi/session"
	"pi/session/message"
)

// status is the line above the prompt: the model, the size of the context, the cost of
// the session, the git branch, and the texts of hooks. The cost is added up only
// once something was spent, since that reads all entries, and a long session must
// not delay the first prompt.
type status struct {
	mu    sync.Mutex
	hooks map[string]string
	spent bool
}

// set sets the text that a hook shows under a key; "" removes it. It reports whether
// that changed something.
func (s *status) set(key, text string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	text = printable.Line(text)
	had := s.hooks[key]
	if text == "" {
		delete(s.hooks, key)
		return had != ""
	}
	if s.hooks == nil {
		s.hooks = map[string]string{}
	}
	s.hooks[key] = text
	return had != text
}

// spend notes that the session has cost something, if cost is not 0. The amount is
// added up elsewhere, when it is shown.
func (s *status) spend(cost float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.spent = s.spent || cost > 0
}

// costText is what the session has cost, with a + if not all prices are known; "" for
// nothing.
func costText(a *agent.Agent, spent bool) string {
	if !spent {
		return ""
	}
	switch cost, all := a.Meter().Spent(); {
	case cost <= 0:
		return ""
	case !all:
		return fmt.Sprintf("$%.3f+", cost)
	default:
		return fmt.Sprintf("$%.3f", cost)
	}
}

// line is the line above the prompt, cut to a number of columns; a part of which
// nothing is known is left out.
func (s *status) line(a *agent.Agent, columns int) string {
	parts := []string{a.Model().Ref() + ":" + a.Thinking()}
	u, ready := a.Meter().ReadyUsage()
	if !ready {
		u = agent.ContextUsage{Tokens: contextTokens(a.Session().Branch()), Window: a.Model().ContextWindow}
	}
	if u.Tokens > 0 {
		parts = append(parts, tokens(u.Tokens, u.Window))
	}
	s.mu.Lock()
	spent := s.spent
	var texts []string
	for _, key := range slices.Sorted(maps.Keys(s.hooks)) {
		texts = append(texts, s.hooks[key])
	}
	s.mu.Unlock()
	if cost := costText(a, spent); cost != "" {
		parts = append(parts, cost)
	}
	if b := a.Meter().PrefixBreak(); b != nil {
		parts = append(parts, "cache: "+b.String())
	}
	if branch := gitBranch(a.Cwd()); branch != "" {
		parts = append(parts, branch)
	}
	if len(texts) > 0 {
		parts = append(parts, strings.Join(texts, " "))
	}
	return terminal.Cut(printable.Line(strings.Join(parts, " · ")), columns)
}

// contextTokens is the size of the last request and its answer, 0 if there was none
// since the last compaction. It looks back only as far as that, since a long session
// must not delay the first prompt.
func contextTokens(branch []*session.Entry) int {
	for _, e := range slices.Backward(branch) {
		if e.Type == session.TypeCompaction {
			return 0
		}
		if e.Type != session.TypeMessage {
			continue
		}
		if m := e.Message(); m != nil && m.Role == message.RoleAssistant && m.Usage != nil {
			if n := m.Usage.ContextTokens(); n > 0 {
				return n
			}
		}
	}
	return 0
}

// tokens is a number of tokens in words, and how much of the window it is.
func tokens(n, window int) string {
	text := fmt.Sprintf("%d tokens", n)
	if n >= 1000 {
		text = fmt.Sprintf("%.1fk tokens", float64(n)/1000)
	}
	if window > 0 {
		text += fmt.Sprintf(" (%d%%)", (n*100+window/2)/window)
	}
	return text
}

// gitBranch reads the branch of the git repository that dir is in, without running git;
// "" if it is in none.
func gitBranch(dir string) string {
	for ; ; dir = filepath.Dir(dir) {
		git := filepath.Join(dir, ".git")
		if info, err := os.Stat(git); err == nil {
			return headOf(git, info.IsDir())
		}
		if dir == filepath.Dir(dir) {
			return ""
		}
	}
}

// headOf reads the branch from HEAD of a git directory, or of the one that the file of
// a linked work tree names. Without a branch it is the beginning of the commit's hash;
// "" if HEAD cannot be read.
func headOf(git string, isDir bool) string {
	const most = 4 << 10 // bytes; none of these files is larger
	if !isDir {
		b, err := safefile.Read(git, most)
		if err != nil {
			return ""
		}
		target := strings.TrimSpace(strings.TrimPrefix(string(b), "gitdir:"))
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(git), target)
		}
		git = target
	}
	b, _ := safefile.Read(filepath.Join(git, "HEAD"), most)
	head := strings.TrimSpace(string(b))
	if branch, ok := strings.CutPrefix(head, "ref: refs/heads/"); ok {
		return branch
	}
	return head[:min(len(head), 8)]
}
