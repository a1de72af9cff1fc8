package luahooks

import (
	"context"
	"sync"
	"sync/atomic"

	"pi/agent"
	"pi/luahooks/api"
)

// audience is whom a chain talks to: the host, which shows notices and does what
// hooks ask for, and the person at its front end. What is told before there is a
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

// attach sets the host and the person's front end, and gives the host the notices from
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

// uiNow returns the person; nil: there is none yet.
func (a *audience) uiNow() agent.UI {
	if u := a.ui.Load(); u != nil {
		return *u
	}
	return nil
}

// person returns the front end where a person answers what only a person may decide, else nil.
func (a *audience) person() agent.UI {
	if ui := a.uiNow(); agent.HasPerson(ui) {
		return ui
	}
	return nil
}

// notify tells the person something, now or when there is a host.
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
