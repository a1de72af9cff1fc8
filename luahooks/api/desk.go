package api

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"pi/agent"
	"pi/internal/printable"
	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

// mostCopied is how many bytes a hook copies at most.
const mostCopied = 1 << 20

// copy is ctx.ui.copy(text) → true, or nil and a message: it copies a text to the user's
// clipboard, who is told.
func (d *display) copy(L *lua.LState) int {
	ui, text := d.front(L, "copy"), L.CheckString(1)
	if text == "" {
		luavm.RaiseArg(L, 1, "copy", "the text is empty")
	}
	desk, ok := ui.(agent.Desk)
	err := error(nil)
	switch {
	case !ok || !ui.HasUI():
		err = errors.New("there is no clipboard here")
	case len(text) > mostCopied:
		err = fmt.Errorf("the text is larger than %s", printable.Bytes(mostCopied))
	default:
		err = d.wait(L, "copy", func(ctx context.Context) error {
			way, err := desk.Copy(ctx, text)
			if err == nil {
				d.tell(ctx, agent.LevelInfo, fmt.Sprintf("hook %s copied %s to the clipboard (%s)", d.Hook.Name, printable.Size(int64(len(text))), way))
			}
			return err
		})
	}
	return pushResult(L, lua.LTrue, err)
}

// notifyDesktop is ctx.ui.notify_desktop(title, body?) → true, or nil and a message: it tells a
// user something who looks at another window, as [ui] notify allows.
func (d *display) notifyDesktop(L *lua.LState) int {
	ui, title, body := d.front(L, "notify_desktop"), L.CheckString(1), L.OptString(2, "")
	if strings.TrimSpace(title) == "" {
		luavm.RaiseArg(L, 1, "notify_desktop", "the title is empty")
	}
	desk, ok := ui.(agent.Desk)
	err := errors.New("there is no desktop here")
	if ok && ui.HasUI() {
		err = d.Places.desktop.notify(d.now(), func() error { return desk.NotifyDesktop(cutText(title), cutText(body)) })
	}
	return pushResult(L, lua.LTrue, err)
}

// now is the time that the hook goes by.
func (d *display) now() time.Time {
	if d.Clock != nil {
		return d.Clock.Now()
	}
	return time.Now()
}

// desktop is where notices of all hooks appear. The zero value is ready.
type desktop struct {
	mu   sync.Mutex // guards last
	last time.Time
}

// noticePause is how long no hook gives another notice after one.
const noticePause = 5 * time.Second

// notify gives a notice, unless the last one was a moment ago.
func (d *desktop) notify(now time.Time, give func() error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if since := now.Sub(d.last); !d.last.IsZero() && since >= 0 && since < noticePause {
		return fmt.Errorf("one notice in %v: the last one was a moment ago", noticePause)
	}
	err := give()
	if err == nil {
		d.last = now
	}
	return err
}
