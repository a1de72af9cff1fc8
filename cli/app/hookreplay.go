package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"pi/luahooks/replay"
	"pi/session"
)

// replayShown is how many events /hooks replay tells of.
const replayShown = 100

// replay runs a hook over the current session and says what it would have done.
func (h *hookCommands) replay(ctx context.Context, name string) (string, error) {
	for _, word := range strings.Fields(name) {
		if strings.HasPrefix(word, "-") {
			return "", fmt.Errorf("/hooks replay takes the name of a hook and no %s; flags are for the shell: pi hooks replay %s", word, name)
		}
	}
	r, err := replay.Session(ctx, h.chain, replay.Options{Hook: name, Tools: h.tools(), Models: h.models}, func() (*session.Session, error) {
		return recorded(h.session())
	})
	if err != nil {
		return "", err
	}
	var lines []string
	var repeats replay.Repeats
	for _, f := range r.Hook.Findings {
		if !repeats.Add(&f) {
			lines = append(lines, f.Line())
		}
	}
	if more := len(lines) - replayShown; more > 0 {
		lines = append(lines[:replayShown], fmt.Sprintf("and %d more: pi hooks replay %s %s", more, name, r.ID))
	}
	lines = slices.Concat(lines, repeats.Lines(), r.Hook.Tally.Lines())
	switch {
	case r.Hook.Stopped:
		lines = append(lines, "the hook did not stop when its time was up; the replay ends there")
	case !r.Hook.Listens:
		lines = append(lines, "the hook listens to none of "+strings.Join(replay.Events(), ", "))
	}
	return strings.Join(lines, "\n"), nil
}

// recorded returns a copy of a session that nobody else uses: what its file has, or where that
// is less than the session has, the branch.
func recorded(s *session.Session) (*session.Session, error) {
	if s.File() != "" {
		if saved, err := session.Read(s.File()); err == nil && len(saved.Entries()) == len(s.Entries()) {
			return saved, nil
		}
	}
	if s.Leaf() == "" {
		return nil, errors.New("the session is empty")
	}
	return s.CopyPath(s.Leaf(), session.Options{Cwd: s.Cwd()})
}
