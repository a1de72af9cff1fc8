package luahooks

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"weak"

	"pi/agent"
	"pi/luahooks/api"
	"pi/luavm"
	"pi/session"

	lua "github.com/yuin/gopher-lua"
)

// audience is whom a chain talks to: the host, which shows notices and does what
// hooks ask for, and the user at its front end. What is told before there is a
// host waits for it. All methods may be called from any goroutine.
type audience struct {
	host   atomic.Pointer[api.Host] // set once, while mu is held
	ui     atomic.Pointer[agent.UI]
	screen api.Places // at the front end, with what hooks show there
	log    hookLog

	mu      sync.Mutex // guards what waits for the host, and what was told
	notices []notice
	sends   []func(api.Host)
	told    map[string]bool // by notifyOnce
}

type notice struct {
	level  agent.Level
	text   string            // "" is not shown
	failed *agent.HookFailed // of a hook; its level is error
}

func (n notice) deliver(ctx context.Context, h api.Host) {
	if n.failed != nil {
		h.HookFailed(ctx, n.failed, n.text)
	} else {
		h.Notify(ctx, n.level, n.text)
	}
}

// attach sets the host and the user's front end, and gives the host the notices from
// before. It returns what keep stored, for the caller to call: that may begin a run.
func (a *audience) attach(host api.Host, ui agent.UI) (sends []func(api.Host)) {
	a.ui.Store(&ui)
	a.mu.Lock()
	a.host.Store(&host)
	notices, sends := a.notices, a.sends
	a.notices, a.sends = nil, nil
	a.mu.Unlock()
	for _, n := range notices {
		n.deliver(context.Background(), host)
	}
	return sends
}

// PendingNotices returns the notices from before [Chain.Attach], line by line, and drops
// them. It is for a start that fails: they may say why.
func (a *audience) PendingNotices() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	var lines []string
	for _, n := range a.notices {
		switch {
		case n.text == "":
		case n.level == agent.LevelInfo:
			lines = append(lines, n.text)
		default:
			lines = append(lines, string(n.level)+": "+n.text)
		}
	}
	a.notices = nil
	return lines
}

// hostNow returns the host; nil: there is none yet.
func (a *audience) hostNow() api.Host {
	if h := a.host.Load(); h != nil {
		return *h
	}
	return nil
}

// sessionID returns the id of the session; "" before there is one.
func (a *audience) sessionID() string {
	if h := a.hostNow(); h != nil {
		if s := h.Session(); s != nil {
			return s.ID()
		}
	}
	return ""
}

// uiNow returns the user; nil: there is none yet.
func (a *audience) uiNow() agent.UI {
	if u := a.ui.Load(); u != nil {
		return *u
	}
	return nil
}

// user returns the front end where a user answers what only a user may decide, else nil.
func (a *audience) user() agent.UI {
	if ui := a.uiNow(); agent.HasUser(ui) {
		return ui
	}
	return nil
}

// notify tells the user something, now or when there is a host.
func (a *audience) notify(ctx context.Context, level agent.Level, text string) {
	a.tell(ctx, notice{level: level, text: text})
}

// notifyOnce is notify for what is told once in the life of the chain; what names it.
func (a *audience) notifyOnce(ctx context.Context, what string, level agent.Level, text string) {
	a.mu.Lock()
	known := a.told[what]
	if a.told == nil {
		a.told = map[string]bool{}
	}
	a.told[what] = true
	a.mu.Unlock()
	if !known {
		a.notify(ctx, level, text)
	}
}

// tell gives a notice to the host, or stores it until there is one.
func (a *audience) tell(ctx context.Context, n notice) {
	host := a.hostNow()
	if host == nil {
		a.mu.Lock()
		if host = a.hostNow(); host == nil { // else it came just now
			a.notices = append(a.notices, n)
		}
		a.mu.Unlock()
	}
	if host != nil {
		n.deliver(ctx, host)
	}
}

// keep stores send, to be called by attach's caller as soon as there is a host. It is false,
// and stores nothing, if there is one already.
func (a *audience) keep(send func(api.Host)) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.hostNow() != nil {
		return false
	}
	a.sends = append(a.sends, send)
	return true
}

// dialogQueue shows the dialogs of all hooks one at a time, unless the front end can show
// several. It is a [api.Dialogs].
type dialogQueue struct {
	open    chan struct{}  // of size 1; holds one token: who has put it there may ask the user
	events  agent.Listener // is told when the program waits for the user
	several atomic.Bool    // nobody waits for a token
	prompts openPrompts    // those that hooks may answer
	ui      func() agent.UI
}

// severalAsker is a front end that says whether it can have several dialogs open at a time.
type severalAsker interface{ SeveralDialogs() bool }

// attach takes note of what the front end can show.
func (q *dialogQueue) attach(ui agent.UI) {
	asker, ok := ui.(severalAsker)
	q.several.Store(ok && asker.SeveralDialogs())
}

// IsOpen is that of [api.Dialogs].
func (q *dialogQueue) IsOpen() bool { return len(q.open) > 0 }

// Ask is that of [api.Dialogs].
func (q *dialogQueue) Ask(ctx context.Context, kind, title string, f func(context.Context) error) error {
	defer agent.AwaitUser(ctx)()
	if !q.several.Load() {
		select {
		case q.open <- struct{}{}:
			defer func() { <-q.open }()
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if q.events.Wants(agent.KindUIPromptStart) {
		_ = q.events.Handle(ctx, &agent.UIPromptStart{PromptKind: kind, Title: title})
	}
	if q.events.Wants(agent.KindUIPromptEnd) {
		defer func() {
			_ = q.events.Handle(context.WithoutCancel(ctx), &agent.UIPromptEnd{PromptKind: kind, Title: title})
		}()
	}
	return f(ctx)
}

// answeredAlways has the questions that a user answered with "always" in one session. It is
// an [api.Memory].
type answeredAlways struct {
	mu        sync.Mutex // guards what follows
	in        weak.Pointer[session.Session]
	questions map[string]bool
}

// IsKept is that of [api.Memory].
func (a *answeredAlways) IsKept(s *session.Session, question string) bool {
	return a.inSession(s, func() bool { return a.questions[question] })
}

// Keep is that of [api.Memory].
func (a *answeredAlways) Keep(s *session.Session, question string) {
	a.inSession(s, func() bool { a.questions[question] = true; return true })
}

// inSession calls f with the lock, after it has dropped what was answered in another session
// than s, or in s before it was closed and opened again.
func (a *answeredAlways) inSession(s *session.Session, f func() bool) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if now := weak.Make(s); a.questions == nil || a.in != now {
		a.in, a.questions = now, map[string]bool{}
	}
	return f()
}

// What handlers and other functions of hooks did. A failure is shown to the user once per
// line of a file and message, at most [shownPerPlace] of a line in a session, counted for
// /hooks, told to the other hooks each time, and logged once. Each run is counted, and shown
// if its hook is traced.

// tellFailure reports what went wrong in a handler, which may be nil.
func (a *audience) tellFailure(ctx context.Context, h *hook, in *instance, event string, handler *lua.LFunction, err error) {
	n := in.again(failure{handler, event, err.Error()})
	if n == 1 {
		a.log.write(h.Name, event+": "+fullText(err))
	}
	place := event // unless the line is known where it was raised
	if e, ok := errors.AsType[*luavm.Error](err); ok && e.Where != "" {
		place = e.Where
	}
	times, row := in.failedAt(place, a.sessionID(), "hook "+h.Name+": "+event+": "+err.Error())
	h.fault(err, times)
	a.tellFailed(ctx, failureOf(h, event, err, n), row)
}

// failureOf is the event of a failure that came for the n-th time.
func failureOf(h *hook, event string, err error, n int) *agent.HookFailed {
	f := &agent.HookFailed{Hook: h.Name, Path: h.Path, Event: event, Message: err.Error(), Count: n}
	var e *luavm.Error
	if errors.As(err, &e) && e.Traceback != "-" {
		f.Traceback = e.Traceback
	}
	return f
}

// tellingErrorKey marks the context of a handler of hook_error, and of what it sets
// off.
type tellingErrorKey struct{}

// tellFailed shows text, if it is not empty, and tells the other hooks and front ends
// of f. A failure in a handler of hook_error is only shown: telling it would never end.
func (a *audience) tellFailed(ctx context.Context, f *agent.HookFailed, text string) {
	ctx = context.WithoutCancel(ctx)
	if ctx.Value(tellingErrorKey{}) == nil {
		a.tell(ctx, notice{level: agent.LevelError, text: text, failed: f})
	} else if text != "" {
		a.notify(ctx, agent.LevelError, text)
	}
}

// ran counts a run of a handler, a command, a tool or a timer that ended with result or
// err. It is told too if its hook is traced.
func (a *audience) ran(ctx context.Context, h *hook, what, result string, took time.Duration, err error) {
	h.stats.add(what, took, err != nil && !interrupted(ctx, err))
	if !h.traced.Load() {
		return
	}
	if err != nil {
		result = "error: " + err.Error()
	}
	line := fmt.Sprintf("%s: %s in %s", what, result, took.Round(time.Microsecond))
	a.log.write(h.Name, "trace: "+line)
	a.notify(context.WithoutCancel(ctx), agent.LevelInfo, "hook "+h.Name+": "+line)
}

// tellCutOff tells that a hook did not get the time that it wanted for something.
func (a *audience) tellCutOff(h *hook, what, why string) {
	text := what + " was cut off: " + why
	a.log.write(h.Name, text)
	a.notify(context.Background(), agent.LevelWarning, "hook "+h.Name+": "+text)
}

// interrupted reports whether a job with this context ended because somebody cancelled
// it. A job that was cut off with its VM was not interrupted, though the end of the VM
// may end its context as well.
func interrupted(ctx context.Context, err error) bool {
	var e *luavm.Error
	return errors.As(err, &e) && e.Kind == luavm.Cancelled && ctx.Err() != nil && !errors.Is(err, luavm.ErrCutOff)
}

// fullText is an error with its traceback, if it has one.
func fullText(err error) string {
	var e *luavm.Error
	if errors.As(err, &e) && e.Traceback != "" && e.Traceback != "-" {
		return err.Error() + "\n" + e.Traceback
	}
	return err.Error()
}

// hookLog is the file that pi.log and errors go to. It is opened on the first
// line, private to the user; what cannot be written is not worth a failure.
type hookLog struct {
	path string
	mu   sync.Mutex // guards file
	file *os.File
}

// write adds a line of a hook, with the time; further lines of text are indented. It opens
// the file if need be, and reports no error.
func (l *hookLog) write(hook, text string) {
	if l.path == "" {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		if os.MkdirAll(filepath.Dir(l.path), 0o700) != nil {
			return
		}
		f, err := os.OpenFile(l.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY|syscall.O_NONBLOCK, 0o600)
		if err != nil {
			return
		}
		if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() { // a pipe that a tool put there would be waited for
			f.Close()
			return
		}
		l.file = f
	}
	stamp := time.Now().UTC().Format("2006-01-02T15:04:05.000Z")
	fmt.Fprintf(l.file, "%s %s: %s\n", stamp, hook, strings.ReplaceAll(text, "\n", "\n    "))
}

func (l *hookLog) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file != nil {
		l.file.Close()
		l.file = nil
	}
}
