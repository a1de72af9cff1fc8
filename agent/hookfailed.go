package agent

import "context"

// HookFailed tells that a hook failed: hooks hear it as hook_error, and front ends
// that pass events on get it too.
type HookFailed struct {
	Hook      string // its name
	Path      string
	Event     string // what it was called for: an event, /NAME, shortcut KEY, timer.every, load
	Message   string // with file and line
	Traceback string // "" for none
	Count     int    // how often this has come from the same handler, with this message
}

// Kind is KindHookError.
func (*HookFailed) Kind() Kind { return KindHookError }

// HookFailed shows the person text, if it is not empty, and tells everybody what
// failed.
func (ls listeners) HookFailed(ctx context.Context, f *HookFailed, text string) {
	if text != "" {
		ls.tellAll(ctx, &Notice{Text: text, Level: LevelError, Failed: f})
	}
	ls.tellAll(ctx, f)
}
