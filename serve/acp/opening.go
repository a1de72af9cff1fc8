package acp

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	sessions "pi/session"
	"pi/session/folder"
)

// startTime is how long the answer that a session is open waits for the hooks that are told
// that it has started.
const startTime = 2 * time.Second

// beginNew begins an empty session.
func (v *Server) beginNew(f fields) (handler, error) {
	cwd, err := needDirectory(f)
	if err != nil {
		return nil, err
	}
	s := v.newSession(cwd)
	s.servers = f["mcpServers"]
	return func(ctx context.Context) (any, error) {
		if err := v.open(ctx, s, ""); err != nil {
			return nil, err
		}
		if err := v.register(s); err != nil {
			return nil, errors.Join(err, s.close(context.WithoutCancel(ctx)))
		}
		return nil, s.answerOpened(ctx, s.id, true)
	}, nil
}

// beginOpen opens a session that exists. Requests that name it wait for that. One that is
// open here stays as it is.
func (v *Server) beginOpen(f fields, replay bool) (handler, error) {
	id, err := f.needText("sessionId")
	if err != nil {
		return nil, err
	}
	cwd, err := needDirectory(f)
	if err != nil {
		return nil, err
	}
	s, fresh, err := v.reserve(id, cwd)
	if err != nil {
		return nil, err
	}
	if fresh {
		s.servers = f["mcpServers"]
	}
	before, done := s.begins.next()
	return func(ctx context.Context) (any, error) {
		defer done()
		if fresh {
			if err := v.openExisting(ctx, s, id); err != nil {
				return nil, err
			}
		} else if err := waitFor(ctx, before); err != nil {
			return nil, err
		}
		if err := s.wait(ctx); err != nil {
			return nil, err
		}
		if !isSameDirectory(cwd, s.cwd) {
			return nil, otherDirectory(cwd, s.cwd)
		}
		if replay {
			replayer{s}.replay()
		} else if fresh {
			replayer{s}.noteCalls()
		}
		return nil, s.answerOpened(ctx, "", fresh)
	}, nil
}

// needDirectory returns the directory that a session is to work in.
func needDirectory(f fields) (string, error) {
	cwd, err := f.needText("cwd")
	if err != nil {
		return "", err
	}
	if err := checkAbsolute("cwd", cwd); err != nil {
		return "", err
	}
	cwd = filepath.Clean(cwd)
	info, err := os.Stat(cwd)
	switch {
	case err != nil:
		return "", newError(codeParams, `"cwd": %v`, err)
	case !info.IsDir():
		return "", newError(codeParams, `"cwd" must be a directory, and %s is none`, cwd)
	}
	return cwd, nil
}

// isSameDirectory reports whether two paths lead to one directory.
func isSameDirectory(a, b string) bool {
	if filepath.Clean(a) == filepath.Clean(b) {
		return true
	}
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

func otherDirectory(cwd, of string) error {
	return newError(codeParams, `"cwd" is %s, but the session belongs to %s`, cwd, of)
}

// register makes a new session known by its id.
func (v *Server) register(s *session) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.ending {
		return errDisconnected
	}
	v.sessions[s.id] = s
	return nil
}

// reserve returns the session with an id, and whether it is still to be opened.
func (v *Server) reserve(id, cwd string) (s *session, fresh bool, err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if s := v.sessions[id]; s != nil {
		return s, false, nil
	}
	if v.ending {
		return nil, false, errDisconnected
	}
	s = v.newSession(cwd)
	s.id = id
	v.sessions[id] = s
	return s, true, nil
}

// openExisting opens the session with an id that is on the disk, or was closed here before
// anything of it was saved.
func (v *Server) openExisting(ctx context.Context, s *session, id string) error {
	path, header, err := v.lookup(id)
	if err != nil {
		v.mu.Lock()
		header.Cwd = v.empty[id]
		v.mu.Unlock()
	}
	switch {
	case err != nil && header.Cwd == "":
		return s.fail(err)
	case header.Cwd != "" && !isSameDirectory(s.cwd, header.Cwd):
		return s.fail(otherDirectory(s.cwd, header.Cwd))
	}
	return v.open(ctx, s, path)
}

// maxID is how long the id of a session may be.
const maxID = 255

// sessionID is what ids of sessions look like. What looks otherwise is no id: no path is.
var sessionID = regexp.MustCompile(`^[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?$`)

// lookup returns the file of the session with exactly this id, and its header.
func (v *Server) lookup(id string) (path string, h sessions.Header, err error) {
	unknown := newError(codeNoSession, "there is no session %q", cut(id, 80))
	if v.Root == "" || len(id) > maxID || !sessionID.MatchString(id) || strings.Contains(id, "..") {
		return "", h, unknown
	}
	path, err = folder.Find(v.Root, id)
	if several, ok := errors.AsType[*folder.AmbiguousError](err); ok {
		return "", h, several
	}
	if err != nil {
		return "", h, unknown
	}
	h, err = sessions.ReadHeader(path)
	if err != nil || h.ID != id {
		return "", h, unknown
	}
	return path, h, nil
}

// open makes the run of a session. After an error the session is gone.
func (v *Server) open(ctx context.Context, s *session, path string) error {
	run, err := v.Opener.Open(s.ctx, SessionRequest{Cwd: s.cwd, Path: path, ID: s.id, UI: &user{session: s}, Listener: listener{s}, Files: s.files(), Servers: s.servers})
	s.servers = nil // the line that it is a part of may be large
	if err != nil {
		if _, known := errors.AsType[*rpcError](err); !known {
			err = failedWith(err)
		}
		return s.fail(err)
	}
	if s.ctx.Err() != nil { // it was closed meanwhile
		return errors.Join(s.fail(errEnding), run.Close(context.WithoutCancel(ctx)))
	}
	s.id = run.Agent.Session().ID()
	s.out.id = s.id
	s.run = run
	close(s.ready)
	v.requests.Go(func() {
		defer close(s.started)
		_ = v.guarded(func() { run.Agent.Start(s.ctx) }) // the hooks' own failures are told by them
		go s.runSubmitted()
	})
	if ctx.Err() != nil {
		return errors.Join(ctx.Err(), s.close(context.WithoutCancel(ctx)))
	}
	return nil
}

// fail notes why the session has no run.
func (s *session) fail(err error) error {
	s.failed = err
	close(s.ready)
	s.stop()
	s.server.drop(s)
	return err
}

// answerOpened waits until the hooks know that the session has started, though not long, and
// not if one of them wants to ask something. Then it answers the request, and writes what
// the client may know from then on. If the request is cancelled, a fresh session is closed
// again.
func (s *session) answerOpened(ctx context.Context, id string, fresh bool) error {
	timer := time.NewTimer(startTime)
	defer timer.Stop()
	select {
	case <-s.started:
	case <-s.out.wanted:
	case <-timer.C:
	case <-ctx.Done():
		if !fresh {
			return ctx.Err()
		}
		return errors.Join(ctx.Err(), s.close(context.WithoutCancel(ctx)))
	}
	return &answered{func(write func(any)) {
		s.out.release(func() { write(s.opened(id)) })
		slash{s}.advertise(true)
		s.tellTitle()
		if id == "" && s.agent().Session().Leaf() != "" { // it was opened again
			if u := s.usage(s.agent().Totals().ContextUsage); u != nil {
				s.out.send(*u)
			}
		}
		if fresh && s.run.Answered != nil {
			s.run.Answered()
		}
	}}
}

// answered is the error of a handler that has more to write right behind its answer.
type answered struct{ finish func(write func(any)) }

func (*answered) Error() string { return "answered" }

// opened is the answer that the session is open.
func (s *session) opened(id string) opened {
	return opened{SessionID: id, Modes: menu{s}.modes(), ConfigOptions: menu{s}.noted()}
}

// beginClose ends a session.
func (v *Server) beginClose(f fields) (handler, error) {
	s, err := v.need(f)
	if err != nil {
		return nil, err
	}
	s.cancel()
	return func(ctx context.Context) (any, error) {
		if err := s.wait(ctx); err != nil {
			return nil, err
		}
		if err := s.close(context.WithoutCancel(ctx)); err != nil {
			return nil, err
		}
		return empty{}, nil
	}, nil
}

// beginDelete moves a session to the trash, also one that is open here. One that is not
// there counts as deleted.
func (v *Server) beginDelete(f fields) (handler, error) {
	id, err := f.needText("sessionId")
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) (any, error) {
		path, _, err := v.lookup(id)
		if s := v.find(id); s != nil {
			if err := s.close(context.WithoutCancel(ctx)); err != nil {
				return nil, err
			}
		}
		v.mu.Lock()
		delete(v.empty, id)
		v.mu.Unlock()
		if err != nil {
			return empty{}, nil
		}
		if err := v.Opener.Remove(path); err != nil {
			return nil, err
		}
		return empty{}, nil
	}, nil
}
