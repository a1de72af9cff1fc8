package trust

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Judge looks at the files of hooks, and at those that are pending, and decides about
// the changes: one that may be adopted is active when it returns, the others are
// pending. ask are those that a user is to be asked about now; the others wait for
// /hooks approve. Unless sure, files that are gone or empty are often so for a moment
// only, while an editor saves: unsure has them, and nothing is decided.
func (g *Guard) Judge(files map[string]Scope, sure bool) (ask []*Pending, unsure map[string]bool) {
	s := g.lock()
	defer g.mu.Unlock()
	paths := s.ledger.withPending(files)
	changes := s.ledger.changed(paths, s.window)
	if len(changes) > 0 { // whoever wrote these may just have written others that were read before
		changes = s.ledger.changed(paths, s.window)
	}
	unsure = map[string]bool{}
	if !sure {
		changes = slices.DeleteFunc(changes, func(c change) bool {
			if !c.is.exists() || len(c.is.Code) == 0 && c.is.Err == nil {
				unsure[c.path] = true
			}
			return unsure[c.path]
		})
	}
	if len(changes) > 0 {
		ask = s.decide(changes)
	}
	return ask, unsure
}

// errCommand is why a command that prints a key does not run.
var errCommand = errors.New("it was added to auth.json while the agent was at work")

// MayRunCommand reports whether a command in auth.json may run: it does not if tools could
// have put it there, until a user approved it. A command that a user put there counts
// at once, and logins are renewed as they like.
func (g *Guard) MayRunCommand(command string) error {
	s := g.lock()
	defer g.mu.Unlock()
	if changes := s.ledger.changed(map[string]Scope{s.home.keys: ""}, s.window); len(changes) > 0 {
		s.decide(changes)
	}
	commands := strings.Split(string(s.readLocked(s.home.keys).Code), "\n")
	if slices.Contains(commands, commandLine(command)) {
		return nil
	}
	return fmt.Errorf("the command of the key is %w: %w; `pi trust` shows it", ErrNotApproved, errCommand)
}

// decide makes each change active or withholds it: it withholds what tools could have
// changed, and what needs an approval. It returns the files about which a user is to be
// asked at once; for the others there is a notice. A change that was undone waits no more.
func (s *state) decide(changes []change) (ask []*Pending) {
	s.lookAtOthers()
	crowd, clients := s.approvals.noteChanges(changes, time.Now()), s.clients.look()
	for _, c := range changes {
		h := s.ledger.pending[c.path]
		switch {
		case h != nil && h.active.same(c.is): // it is again what it was
			s.ledger.undo(c.path, c.is)
		case h != nil && h.marked && !s.isOpenToAsk():
			h.now = c.is
		case (s.mayBeOfTool(c) || clients.to(c.path, c.was, c.is)) && !s.isOpenToAsk():
			s.withhold(c)
		case s.mayAdopt(c, crowd):
			s.adopt(c)
		default:
			h := s.ledger.withhold(c, false)
			if !h.asking {
				ask = append(ask, s.home.pending(c.path, h))
			}
		}
	}
	s.writeMarks()
	return ask
}

// mayBeOfTool reports whether tools could have made a change. One that the stamp of the file
// does not show was not made by an editor.
func (s *state) mayBeOfTool(c change) bool {
	return s.damaged != nil || s.others.atWork || s.window != nil && !s.window.had(c.path, c.is) || s.last.hides(c.path, c.is)
}

// isOpenToAsk reports whether the window is open only because every change is asked about
// ([Guard.AskEdits]), while no tool runs and no process of one lives.
func (s *state) isOpenToAsk() bool {
	return s.ledger.askEdits && s.window != nil && s.window.idle && !s.hasProcesses(s.window)
}

// mayAdopt reports whether a change that no tool can have made becomes active without a
// question: it is no file of the project, or approved, or not used unless it is, or an edit of a file whose edits were
// approved in this run. crowd says that several files changed at once.
func (s *state) mayAdopt(c change, crowd bool) bool {
	switch {
	case c.path == s.home.index && c.path != "":
		return true // another program wrote it, which asks nobody
	case s.isInstalled(c):
		return true
	case s.ledger.askEdits:
		return false
	case !s.home.isProjects(c.scope, c.path):
		return true
	case !c.is.exists(): // one of a package is missed
		return s.home.packageOf(c.path) == ""
	case s.approvals.isApproved(c.path, c.is.Sum):
		return true
	case s.home.isOfServers(c.path): // who uses it asks whether it is approved
		return true
	}
	return s.approvals.live[c.path] && c.path != s.home.teamFile() && !crowd && s.ledger.pending[c.path] == nil && s.home.headNow() == s.approvals.head
}

// adopt makes a changed version active. A file of the project gets an approval for it, if it
// has none.
func (s *state) adopt(c change) {
	if s.home.isProjects(c.scope, c.path) && c.is.exists() && !s.home.isOfServers(c.path) && !s.approvals.isApproved(c.path, c.is.Sum) {
		_ = s.approve(c.path, c.is.Sum) // if it cannot be stored, it is valid for this run
	}
	s.ledger.put(c.path, c.is)
	s.clients.noteActive(c.path, c.is)
	if s.window != nil && s.isInstalled(c) { // the user was asked when it was installed
		s.noteApproved(c.path, c.is, c.scope)
	}
	if s.window != nil && c.path == s.home.index {
		s.window.base[c.path] = c.is
	}
	if s.ledger.pending[c.path] != nil {
		s.ledger.release(c.path)
	}
}
