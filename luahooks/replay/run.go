package replay

import (
	"context"
	"fmt"
	"os"
	"runtime"

	"pi/luahooks"
	"pi/session"
)

// Result is what the hooks did in one session.
type Result struct {
	Path string // of the session
	ID   string // of the session
	Err  error  // why it could not be read
	Hook Played
	// Problems are what is wrong with the file, a sentence each.
	Problems []string
	Other    Played // of the hook to compare with
}

// Run plays the sessions at paths to a hook of base, several at a time, and calls do with the
// result of each, in their order. base is loaded and stays open until Run returns. The error
// is that of do, which ends the replay, or says why a hook cannot be played.
func Run(ctx context.Context, base *luahooks.Chain, paths []string, o Options, do func(*Result) error) error {
	o = o.begin()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type slot struct {
		result *Result
		err    error
	}
	slots := make(chan chan slot, runtime.GOMAXPROCS(0)) // those that play or wait to be told
	go func() {
		defer close(slots)
		for _, path := range paths {
			out := make(chan slot, 1)
			select {
			case slots <- out:
			case <-ctx.Done():
				return
			}
			go func() {
				r, err := playFile(ctx, base, path, o)
				out <- slot{r, err}
			}()
		}
	}()
	var first error
	for out := range slots {
		played := <-out // also after an error: nothing plays when Run returns
		if first != nil {
			continue
		}
		if first = played.err; first == nil {
			first = do(played.result)
		}
		if first != nil {
			cancel()
		}
	}
	if first == nil {
		first = ctx.Err()
	}
	return first
}

// maxSession is how large a session may be. Several are read at a time, each whole.
const maxSession = 256 << 20

// playFile plays a session to the hook, and to the one to compare with. A session that cannot
// be read is no error of the replay.
func playFile(ctx context.Context, base *luahooks.Chain, path string, o Options) (*Result, error) {
	r := &Result{Path: path}
	var unreadable error
	err := playInto(ctx, base, r, o, func() (s *session.Session, err error) {
		if info, err := os.Stat(path); err == nil && info.Size() > maxSession {
			unreadable = fmt.Errorf("it has %d MiB, and at most %d are replayed", info.Size()>>20, maxSession>>20)
		} else {
			s, unreadable = session.Read(path)
		}
		return s, unreadable
	})
	if unreadable != nil {
		r.Err = fmt.Errorf("read session %q: %w", path, unreadable)
		return r, nil
	}
	return r, err
}

// Session plays a session that nobody else uses to a hook of base. open opens it, once for
// each hook.
func Session(ctx context.Context, base *luahooks.Chain, o Options, open func() (*session.Session, error)) (*Result, error) {
	r := &Result{}
	return r, playInto(ctx, base, r, o.begin(), open)
}

func playInto(ctx context.Context, base *luahooks.Chain, r *Result, o Options, open func() (*session.Session, error)) error {
	for _, one := range []struct {
		hook string
		to   *Played
	}{{o.Hook, &r.Hook}, {o.Other, &r.Other}} {
		if one.hook == "" {
			continue
		}
		s, err := open()
		if err != nil {
			return err
		}
		r.ID = s.ID()
		if *one.to, err = play(ctx, base, one.hook, s, o); err != nil {
			return err
		}
		r.Problems = s.Problems()
	}
	return nil
}
