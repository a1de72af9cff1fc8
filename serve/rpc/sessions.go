package rpc

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"pi/agent"
	"pi/session"
	"pi/session/export"
)

// Sessions is where a client's paths lead to.
type Sessions interface {
	// Path returns the path that a client named: ~ is the home directory, and what is
	// relative is below the working directory.
	Path(path string) string
	// OpenOrBegin opens the session at a path, or begins one there.
	OpenOrBegin(path string) (*session.Session, error)
}

// replaced is the data of a command that replaces the session.
type replaced struct {
	Text      *string `json:"text,omitempty"`
	Cancelled bool    `json:"cancelled"`
}

// replacing makes the work of such a command. change asks the hooks, interrupts what the
// agent does, and replaces the session; what it returns goes into the answer. Prompts that
// were read before and have not come to the agent yet were for the session that is left.
func (s *Server) replacing(change func(context.Context, agent.Interrupting) (*string, error)) work {
	return func(ctx context.Context, _ func()) (any, error) {
		was := s.agent.Session()
		text, err := change(ctx, s.agent.Interrupting())
		if now := s.agent.Session(); now != was {
			s.waitReleased(ctx, was)
			if err != nil { // of closing the old one
				s.user.tellError(err)
			}
			return replaced{Text: text}, nil
		}
		if errors.Is(err, agent.ErrCancelled) {
			return replaced{Cancelled: true}, nil
		}
		return replaced{Text: text}, err
	}
}

// openNew is the command new_session.
func (s *Server) openNew(r *request) work {
	o := agent.NewSessionOptions{Parent: r.optionalText("parentSession")}
	return s.replacing(func(ctx context.Context, to agent.Interrupting) (*string, error) {
		return nil, to.NewSession(ctx, o)
	})
}

// openSwitch is the command switch_session.
func (s *Server) openSwitch(r *request) work {
	path := r.text("sessionPath")
	if r.err == nil && path == "" {
		r.fail("sessionPath", "a path")
	}
	if r.err != nil {
		return nil
	}
	if s.Sessions != nil {
		path = s.Sessions.Path(path)
	}
	return s.replacing(func(ctx context.Context, to agent.Interrupting) (*string, error) {
		if s.Sessions == nil {
			return nil, to.SwitchWith(ctx, path, nil)
		}
		return nil, to.SwitchWith(ctx, path, func(context.Context) (*session.Session, error) { return s.Sessions.OpenOrBegin(path) })
	})
}

// openFork is the command fork: a new session with what came before a message of the user.
func (s *Server) openFork(r *request) work {
	id := r.text("entryId")
	return s.replacing(func(ctx context.Context, to agent.Interrupting) (*string, error) {
		if !isUserMessage(s.agent.Session().Entry(id)) {
			return nil, wording("Invalid entry ID for forking")
		}
		recalled, err := to.Branch(ctx, id)
		return &recalled.Text, err
	})
}

// openClone is the command clone: a new session with all of the current branch.
func (s *Server) openClone(*request) work {
	return s.replacing(func(ctx context.Context, to agent.Interrupting) (*string, error) { return nil, to.Clone(ctx) })
}

// openSetName is the command set_session_name.
func (s *Server) openSetName(r *request) work {
	name := strings.TrimSpace(r.text("name"))
	if r.err == nil && name == "" {
		r.err = wording("Session name cannot be empty")
	}
	return func(ctx context.Context, _ func()) (any, error) {
		err := s.agent.SetSessionName(ctx, name)
		if err == nil {
			err = s.agent.Session().Flush()
		}
		return nil, err
	}
}

// openExport is the command export_html: the session as a page in a file, whose path is
// answered as the client gave it, or whole for the usual one.
func (s *Server) openExport(r *request) work {
	file := r.optionalText("outputPath")
	return func(_ context.Context, begun func()) (any, error) {
		begun()
		path := file
		if file != "" && s.Sessions != nil {
			path = s.Sessions.Path(file)
		}
		path, err := export.PageToFile(s.agent.Session(), s.agent.Cwd(), path)
		return map[string]string{"path": cmp.Or(file, path)}, err
	}
}
