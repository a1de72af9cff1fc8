package repl

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"

	"pi/agent"
	"pi/agent/command"
	"pi/internal/printable"
)

// pagedRows is from how many rows on a block is shown by the pager.
const pagedRows = 200

// expandNext shows the newest folded block whole that Ctrl+O has not shown yet. The
// caller has the lock.
func (k *keyboard) expandNext() after {
	s := k.screen
	block, ok := s.folds.older()
	if !ok {
		s.answerKey("nothing is folded")
		return nil
	}
	return func() { go k.expand(block) }
}

// expand shows a folded block whole: a long one through the pager while nothing runs,
// else in the transcript.
func (k *keyboard) expand(b folded) {
	s := k.screen
	s.mu.Lock()
	columns, busy := s.columns, len(s.busy.works) > 0
	s.mu.Unlock()
	rows := b.whole(columns)
	if len(rows) >= pagedRows && !busy && !k.person.term.Plain() && k.page(rows) {
		return
	}
	rows = append([]string{s.palette.Paint("dim", fmt.Sprintf("#%d %s", b.number, printable.Line(b.title)))}, rows...)
	s.change(func() { s.interject(kindNotice, 0, s.wrapped(rows)) })
}

// page shows rows with the pager, and reports whether that could be started.
func (k *keyboard) page(rows []string) bool {
	words := strings.Fields(k.opts.Pager)
	if len(words) == 0 {
		words = []string{"less", "-R"}
	}
	path, err := exec.LookPath(words[0])
	if err != nil {
		return false
	}
	started := false
	err = k.person.lend(func() error {
		cmd := exec.Command(path, words[1:]...)
		cmd.Stdin = strings.NewReader(strings.Join(rows, "\n") + "\n")
		cmd.Stdout, cmd.Stderr = k.opts.Out, k.opts.Out
		cmd.Env = os.Environ()
		if err := cmd.Start(); err != nil {
			return err
		}
		started = true
		return cmd.Wait()
	})
	if err != nil && started {
		k.person.Notify(fmt.Sprintf("the pager %s: %v", words[0], err), agent.LevelWarning)
	}
	return started
}

// expandCommand is /expand N.
func (k *keyboard) expandCommand(_ context.Context, args string) (command.Outcome, error) {
	s := k.screen
	s.mu.Lock()
	var block folded
	ok := false
	if args == "" {
		block, ok = s.folds.older()
	} else if n, err := strconv.Atoi(strings.TrimPrefix(args, "#")); err == nil {
		block, ok = s.folds.find(n)
	}
	last := s.folds.last
	s.mu.Unlock()
	switch {
	case ok:
		k.expand(block)
		return command.Outcome{}, nil
	case last == 0:
		return command.Outcome{}, fmt.Errorf("nothing is folded yet")
	}
	return command.Outcome{}, fmt.Errorf("no folded block %q: there are #%d to #%d", args, max(1, last-foldsKept+1), last)
}
