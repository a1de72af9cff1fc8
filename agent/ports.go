package agent

import (
	"context"
	"encoding/json"

	"pi/agent/llm"
	"pi/session/message"
)

// Tool is something a model can do. Its description is immutable. Run gets
// arguments that passed the schema; an error is told to the model as it reads.
// Run honours ctx and may be called concurrently.
type Tool interface {
	Spec() llm.ToolSpec
	Run(ctx context.Context, input json.RawMessage, update Update) (Result, error)
}

// Preparer is a Tool that changes its arguments before they are checked. Prepare gets
// them as the model sent them and returns those that are checked against the
// schema, shown to the gate and run. An error is told to the model as it reads.
type Preparer interface {
	Prepare(ctx context.Context, input json.RawMessage) (json.RawMessage, error)
}

// Update reports progress of a running tool. It never blocks and may be nil.
type Update func(Result)

// Result is what a tool run gives back. It is what the model sees, and Details
// are for people and hooks.
type Result struct {
	Content   []message.Block
	Details   json.RawMessage
	IsError   bool
	Usage     *message.Usage
	Terminate bool // end the run if all calls of the batch say so
}

// TextResult is a Result of one text block.
func TextResult(s string) Result { return Result{Content: []message.Block{message.TextBlock(s)}} }

// UI asks and tells the person, if there is one. Every call honours ctx. The
// methods that show something may be called by any goroutine and do not wait.
type UI interface {
	HasUI() bool

	// Dialogs. ok is false when there was no answer.
	Select(ctx context.Context, title string, options []string, o DialogOptions) (choice string, ok bool, err error)
	Confirm(ctx context.Context, title, message string, o DialogOptions) (bool, error)
	Input(ctx context.Context, title, placeholder string, o DialogOptions) (text string, ok bool, err error)
	Editor(ctx context.Context, title, prefill string) (text string, ok bool, err error)

	Notify(text string, level Level)
	SetStatus(key, text string)           // "" removes
	SetWidget(key string, lines []string) // above the prompt; nil removes
	SetTitle(text string)                 // of the terminal
	SetWorking(text string)               // shown while the agent works; "" is the usual text
	SetEditorText(text string)            // the prompt line
	EditorText() string
	Custom(c Component) (Surface, error) // nil without a person
	Theme() Theme
}

// DialogOptions are common to all dialogs.
type DialogOptions struct {
	TimeoutMS int // 0: none; then the default answer counts

	// Of Select: the option that is in view at first, where not all are, and those
	// that lead to more of them, which are offered also where nothing matches what
	// is typed.
	Near    string
	Further []string
}

// Component is something that a hook draws below the transcript. Its methods
// are called one at a time.
type Component interface {
	Render(width int) []string
	HandleInput(key string) // "a", "enter", "up", "ctrl+c", …
}

// Surface is where a Component is shown, until Close or the end of the front
// end.
type Surface interface {
	RequestRender()
	Close()
	Done() <-chan struct{} // closed when it is shown no more
}

// Theme paints text for the terminal at hand; plain where there are no colours.
type Theme interface {
	// Paint returns text in one of ThemeColors or ThemeStyles, or text as it is
	// for another name.
	Paint(style, text string) string
}

// ThemeColors are the colours that a theme has.
func ThemeColors() []string {
	return []string{"accent", "success", "warning", "error", "muted", "dim", "border", "tool_title", "tool_output",
		"thinking", "user", "code", "link"}
}

// ThemeStyles are the styles that a theme has besides.
func ThemeStyles() []string { return []string{"bold", "italic", "underline", "strikethrough"} }

// PlainTheme paints nothing.
type PlainTheme struct{}

// Paint returns text.
func (PlainTheme) Paint(_, text string) string { return text }

// NoUI is the UI where nobody is: every question has its default answer, and
// what would be shown has nowhere to go, but for notices. Front ends build on it.
type NoUI struct {
	// Notices, if set, is called with each notice, by any goroutine.
	Notices func(text string, level Level)
}

func (NoUI) HasUI() bool { return false }

// Select chooses nothing.
func (NoUI) Select(context.Context, string, []string, DialogOptions) (string, bool, error) {
	return "", false, nil
}

// Confirm answers No.
func (NoUI) Confirm(context.Context, string, string, DialogOptions) (bool, error) { return false, nil }

// Input answers nothing.
func (NoUI) Input(context.Context, string, string, DialogOptions) (string, bool, error) {
	return "", false, nil
}

// Editor answers nothing.
func (NoUI) Editor(context.Context, string, string) (string, bool, error) { return "", false, nil }

// Notify hands the notice to Notices.
func (n NoUI) Notify(text string, level Level) {
	if n.Notices != nil {
		n.Notices(text, level)
	}
}

func (NoUI) SetStatus(string, string)          {}
func (NoUI) SetWidget(string, []string)        {}
func (NoUI) SetTitle(string)                   {}
func (NoUI) SetWorking(string)                 {}
func (NoUI) SetEditorText(string)              {}
func (NoUI) EditorText() string                { return "" }
func (NoUI) Custom(Component) (Surface, error) { return nil, nil }
func (NoUI) Theme() Theme                      { return PlainTheme{} }

var _ UI = NoUI{}
