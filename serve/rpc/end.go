package rpc

import (
	"context"
	"errors"
	"time"

	"pi/internal/jsonlines"
)

var (
	// ErrBrokenPipe ends the Server when nobody can read what it writes any more.
	ErrBrokenPipe = jsonlines.ErrBrokenPipe
	// ErrUnread says that the client did not read to the end.
	ErrUnread = errors.New("not all that was written has been read")
)

// endLimit is how long the end of a Server waits for what is under way.
const endLimit = 2 * time.Second

// Run works on commands until the end: that of the input, which is nil; that of the context
// of Begin, which is its cause; a hook's wish, nil; or that of the output, ErrBrokenPipe, if
// the input has not ended as well. Then what is under way is interrupted: its last events are
// written, open questions get their default answers, and all commands that were read are
// answered, as far as that takes no longer than two seconds.
func (s *Server) Run() error {
	close(s.started)
	err := s.wait()
	s.finish()
	return err
}

// wait returns when the Server is to end, and why.
func (s *Server) wait() error {
	select {
	case err := <-s.read:
		return err
	case <-s.work.Done():
		return context.Cause(s.work)
	case <-s.out.lines.Broken():
		return s.brokenOutput()
	case <-s.agent.ShutdownRequested():
		s.waitAnswered(s.work)
		return nil
	}
}

// brokenOutput is why the Server ends when its output cannot be written. A client that is
// gone has closed its other side too; that is no error.
func (s *Server) brokenOutput() error {
	timer := time.NewTimer(endLimit / 20)
	defer timer.Stop()
	select {
	case err := <-s.read:
		return err
	case <-timer.C:
		return s.out.lines.Err()
	}
}

// waitAnswered waits until the agent is idle and the commands in hand are answered, which
// for those that wait for something is no longer than the end may take.
func (s *Server) waitAnswered(ctx context.Context) {
	_ = s.agent.WaitIdle(ctx)
	s.waitReleased(ctx, nil)
	ctx, cancel := context.WithTimeout(ctx, endLimit)
	defer cancel()
	waitClosed(ctx, s.allAnswered())
}

// finish ends what is under way. The commands that were read are begun before, so that each
// has its answer.
func (s *Server) finish() {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.work), endLimit)
	defer cancel()
	unread := time.AfterFunc(endLimit/2, s.dropUnread)
	defer unread.Stop()
	s.user.dialogs.close()
	orderly, stop := context.WithTimeout(ctx, endLimit/4) // before what is unread is dropped
	defer stop()
	s.waitBegun(orderly)
	interrupt(s.opened(false))
	interrupt(s.opened(true))
	s.waitBegun(ctx) // what stood behind a prompt that waited for another one
	s.agent.Abort()
	s.stop()
	_ = s.agent.WaitIdle(ctx)
	waitClosed(ctx, s.allAnswered())
	close(s.ending)
	done := make(chan struct{})
	go func() {
		s.tasks.Wait()
		close(done)
	}()
	waitClosed(ctx, done)
}

// dropUnread drops what waits for the client, if anything does: a run that waits to write can
// then store its end.
func (s *Server) dropUnread() {
	now, cancel := context.WithCancel(context.Background())
	cancel()
	if s.out.lines.Flush(now) != nil {
		_ = s.out.lines.Close(now) // Close tells of it
	}
}

// Close writes what was put and not yet written, until ctx is done; nothing is written after
// it. It is called when the agent is closed, for hooks may show something until then. The
// error is ErrUnread if the client did not read all, unless it is gone: that is none here.
func (s *Server) Close(ctx context.Context) error {
	s.user.dialogs.close()
	err := s.out.lines.Close(ctx)
	switch {
	case err == nil, errors.Is(err, ErrBrokenPipe):
		return nil
	case errors.Is(err, jsonlines.ErrClosed), errors.Is(err, ctx.Err()):
		return ErrUnread
	}
	return err
}
