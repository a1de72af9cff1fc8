package rpc

import (
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

// wording is an error in the words of the protocol, by which clients know it.
type wording string

func (w wording) Error() string { return string(w) }

// changes are the commands about sessions.
type changes struct{ *parts }

// replaced is the data of a command that replaces the session.
type replaced struct {
	Text      *string `json:"text,omitempty"`
	Cancelled bool    `json:"cancelled"`
}

// replacing makes the work of such a command. change asks the hooks, interrupts what the
// agent does, and replaces the session; what it returns goes into the answer. Prompts that
// were read before and have not come to the agent yet were for the session that is left.
func (s *changes) replacing(r *request, change func(context.Context, agent.Interrupting) (*string, error)) work {
	return func(ctx context.Context, _ func()) {
		was := s.agent.Session()
		text, err := change(ctx, s.agent.Interrupting())
		if now := s.agent.Session(); now != was {
			s.claims.waitLeft(ctx, was)
			if err != nil { // of closing the old one
				s.person.tellError(err)
			}
			s.out.succeed(r, replaced{Text: text})
			return
		}
		if errors.Is(err, agent.ErrCancelled) {
			s.out.succeed(r, replaced{Cancelled: true})
			return
		}
		s.out.reply(r, replaced{Text: text}, err)
	}
}

// openNew is the command new_session.
func (s *changes) openNew(f *fields, r *request) work {
	o := agent.NewSessionOptions{Parent: f.optionalText("parentSession")}
	return s.replacing(r, func(ctx context.Context, to agent.Interrupting) (*string, error) {
		return nil, to.NewSession(ctx, o)
	})
}

// openSwitch is the command switch_session.
func (s *changes) openSwitch(f *fields, r *request) work {
	path := f.text("sessionPath")
	if f.err == nil && path == "" {
		f.fail("sessionPath", "a path")
	}
	if f.err != nil {
		return nil
	}
	if s.Sessions != nil {
		path = s.Sessions.Path(path)
	}
	return s.replacing(r, func(ctx context.Context, to agent.Interrupting) (*string, error) {
		if s.Sessions == nil {
			return nil, to.SwitchWith(ctx, path, nil)
		}
		return nil, to.SwitchWith(ctx, path, func(context.Context) (*session.Session, error) { return s.Sessions.OpenOrBegin(path) })
	})
}

// openFork is the command fork: a new session with what came before a message of the person.
func (s *changes) openFork(f *fields, r *request) work {
	id := f.text("entryId")
	return s.replacing(r, func(ctx context.Context, to agent.Interrupting) (*string, error) {
		if !isUserMessage(s.agent.Session().Entry(id)) {
			return nil, wording("Invalid entry ID for forking")
		}
		recalled, err := to.Branch(ctx, id)
		return &recalled.Text, err
	})
}

// openClone is the command clone: a new session with all of the current branch.
func (s *changes) openClone(_ *fields, r *request) work {
	return s.replacing(r, func(ctx context.Context, to agent.Interrupting) (*string, error) { return nil, to.Clone(ctx) })
}

// openSetName is the command set_session_name.
func (s *changes) openSetName(f *fields, r *request) work {
	name := strings.TrimSpace(f.text("name"))
	if f.err == nil && name == "" {
		f.err = wording("Session name cannot be empty")
	}
	return func(ctx context.Context, _ func()) {
		err := s.agent.SetSessionName(ctx, name)
		if err == nil {
			err = s.agent.Session().Flush()
		}
		s.out.reply(r, nil, err)
	}
}

// openExport is the command export_html.
func (s *changes) openExport(f *fields, r *request) work {
	file := f.optionalText("outputPath")
	return func(_ context.Context, begun func()) {
		begun()
		path, err := s.exportPage(file)
		s.out.reply(r, struct {
			Path string `json:"path"`
		}{path}, err)
	}
}

// exportPage writes the session as a page to a file, "" for the usual one, and returns its
// name: as the client gave it, or the whole path of the usual one.
func (s *changes) exportPage(file string) (string, error) {
	path := file
	if file != "" && s.Sessions != nil {
		path = s.Sessions.Path(file)
	}
	path, err := export.PageToFile(s.agent.Session(), s.agent.Cwd(), path)
	if err != nil || file == "" {
		return path, err
	}
	return file, nil
}
