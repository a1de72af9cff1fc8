package rpc

import (
	"context"

	"pi/agent"
	"pi/internal/printable"
)

// Wants reports whether k is one of the events that Handle uses.
func (s *Server) Wants(k agent.Kind) bool {
	switch k {
	case agent.KindInput, agent.KindAgentStart, agent.KindAgentSettled,
		agent.KindCompactionStart, agent.KindCompactionEnd, agent.KindNotice, agent.KindModeSelect,
		agent.KindSessionBeforeTree, agent.KindSessionTree, agent.KindQueueChanged, agent.KindChildUpdate:
		return true
	}
	return s.out.translator.Wants(k)
}

// Handle notes what the agent does, and then writes the records of it. It waits while the client
// does not read, and never fails.
func (s *Server) Handle(ctx context.Context, e agent.Event) error {
	switch e := e.(type) {
	case *agent.Input:
		s.finishInput(ctx, e)
	case *agent.Notice:
		s.tellNotice(e)
	case *agent.ModeSelect:
		s.user.SetStatus("mode", e.Name)
	case *agent.AgentStart:
		s.noteAccepted()
		s.note(func(f *facts) { f.summing = false }) // of a move that came to nothing no event tells
	case *agent.AgentSettled:
		s.noteSettled()
	case *agent.CompactionStart:
		if !e.Auto { // else it is told for the second time
			s.note(func(f *facts) { f.compactions, f.compacted = f.compactions+1, f.compacted+1 })
		}
	case *agent.CompactionEnd:
		if !e.Auto {
			s.note(func(f *facts) { f.compactions-- })
		}
	case *agent.SessionBeforeTree:
		s.note(func(f *facts) { f.summing = e.Preparation.UserWantsSummary })
	case *agent.SessionTree:
		s.note(func(f *facts) { f.summing = false })
	case *agent.QueueChanged:
		s.note(func(f *facts) { f.pending = len(e.Steering) + len(e.FollowUp) })
	case *agent.ChildStart:
		if e.Call == "" { // else the call shows what it does
			s.tellChild(e.Name, e.Prompt)
		}
	case *agent.ChildUpdate:
		s.tellChild(e.Name, e.Last())
	case *agent.ChildEnd:
		if e.Call == "" {
			s.tellChild(e.Name, "")
		}
	}
	if s.out.translator.Wants(e.Kind()) {
		s.out.event(e)
	}
	return nil
}

// tellChild shows what an agent does that a hook uses otherwise than in a tool; "" takes it away.
func (s *Server) tellChild(name, text string) {
	s.user.SetStatus("agent:"+name, printable.FirstLine(text, statusOfChild))
}

// statusOfChild is how many characters of what a child does are shown.
const statusOfChild = 200

// tellNotice tells the client of a warning or an error. Before its first command, and for
// all that is only worth knowing, a line for a user does. The failure of a hook is a record
// of its own.
func (s *Server) tellNotice(e *agent.Notice) {
	switch {
	case e.Failed != nil:
	case e.Level == agent.LevelInfo, !s.now().spoken:
		s.stderr.notice(e.Text, e.Level)
	default:
		s.user.Notify(e.Text, e.Level)
	}
}
