package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"time"

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

// Annotations are what a tool says of what it does. Gates, modes and editors go by them; a
// tool that says nothing may do anything.
type Annotations struct {
	ReadOnly    bool   // it changes nothing
	Destructive bool   // what it changes may be lost
	OpenWorld   bool   // it may reach beyond this machine
	Kind        string // one of ToolKinds; "" for none of them
	Claimed     bool   // a server says so of its own tool, and nobody has checked it
}

// Annotated is a Tool that says what it does.
type Annotated interface{ Annotations() Annotations }

// AnnotationsOf returns what a tool says of what it does; the zero value if it says nothing.
func AnnotationsOf(t Tool) Annotations {
	if a, ok := t.(Annotated); ok {
		return a.Annotations()
	}
	return Annotations{}
}

// ToolKinds are the kinds of tools, by what they do.
func ToolKinds() []string {
	return []string{"read", "edit", "delete", "move", "search", "execute", "fetch", "think"}
}

// String is such as "reads only" or "execute, may lose what it changes"; "" for the zero
// value.
func (a Annotations) String() string {
	text := a.Kind
	for _, w := range []struct {
		on   bool
		word string
	}{{a.ReadOnly, "reads only"}, {a.Destructive, "destructive"}, {a.OpenWorld, "open world"}} {
		switch {
		case !w.on:
		case text == "":
			text = w.word
		default:
			text += ", " + w.word
		}
	}
	return text
}

// Preparer is a Tool that changes its arguments before they are checked. Prepare gets
// them as the model sent them and returns those that are checked against the
// schema, shown to the gate and run. An error is told to the model as it reads.
type Preparer interface {
	Prepare(ctx context.Context, input json.RawMessage) (json.RawMessage, error)
}

// Forwarder is a Tool of which some calls are calls of other tools, which stand behind it: those
// are decided about, told and run as what they are.
type Forwarder interface {
	// Forwards returns the name of the tool that a call with input is one of, and the
	// arguments of that; ok is false if it is a call of the Forwarder itself. It does not wait.
	Forwards(input json.RawMessage) (name string, arguments json.RawMessage, ok bool)
	// Target returns that tool. An error is told to the model as it reads.
	Target(ctx context.Context, input json.RawMessage) (Tool, error)
	// Wrap returns the input of a call that is one of the tool with that name; ok is false if
	// the name is none of a tool that can stand behind the Forwarder.
	Wrap(name string, arguments json.RawMessage) (input json.RawMessage, ok bool)
	// Within returns the Forwarder for the tools alone whose names are allowed, too. Whether
	// its own calls are is what allows says of its name.
	Within(allows func(name string) bool) Tool
}

// Update reports progress of a running tool: each time all there is so far, for it takes
// the place of the report before. Reports that come fast are skipped, but for the last one.
// It may be nil.
type Update func(Result)

// Result is what a tool run gives back. It is what the model sees, and Details
// are for people and hooks.
type Result struct {
	Content   []message.Block
	Details   json.RawMessage
	IsError   bool
	Usage     *message.Usage
	Terminate bool // end the run if all calls of the batch say so

	// For front ends; neither is stored, nor seen by hooks.
	Touched     *Touched // the file that the tool has used; nil: none
	Interrupted bool     // an interrupt ended the tool, or kept it from running
}

// Touched is a file that a tool has read or changed. Front ends follow along with it.
type Touched struct {
	Path   string      // absolute
	Line   int         // the first line that was read or changed, from 1; 0: none in particular
	Change *FileChange // nil if the file was only read
}

// FileChange is what a tool has made of a file.
type FileChange struct {
	Created bool    // there was none
	Before  *string // the text before; nil if there was none, or none that can be shown
	After   string
}

// TextResult is a Result of one text block.
func TextResult(s string) Result { return Result{Content: []message.Block{message.TextBlock(s)}} }

// UI asks and tells the user, if there is one. Every call honours ctx. What a
// front end has no place for, it ignores.
//
// The methods that show something may be called by any goroutine, also while the
// agent works, and do not wait. Their texts may be anybody's: the front end takes
// out what controls a terminal, but for what its Theme writes, and cuts them to the
// room that it has.
type UI interface {
	HasUI() bool

	// Dialogs. One that is asked while another is open waits for it. ok is false when
	// there was no answer: the user left it, its time was up, or nobody is there. The
	// end of ctx ends it as leaving does, but with the error of ctx.

	// Select returns the values of the choices; one, unless o.Multi is set. With Multi
	// none is an answer, too.
	Select(ctx context.Context, title string, choices []Choice, o DialogOptions) (values []string, ok bool, err error)
	Confirm(ctx context.Context, title, message string, o DialogOptions) (Answer, error)
	Input(ctx context.Context, title, placeholder string, o DialogOptions) (text string, ok bool, err error)
	Editor(ctx context.Context, title, prefill string, o DialogOptions) (text string, ok bool, err error)

	// What is shown beside the conversation.

	Notify(text string, level Level)
	SetStatus(key, text string)                        // a part of the status line; "" removes it
	SetWidget(place Place, key string, lines []string) // by key in each place; nil removes it
	SetPlan(items []PlanItem)                          // what is done and what is open; none takes it away
	SetTitle(text string)                              // of the terminal; "" puts the usual one back
	SetWorking(text string)                            // shown while the agent works; "" is the usual text
	SetIndicator(frames []string, every time.Duration) // that turns while the agent works; nil is the usual one
	SetEditorText(text string)                         // the line being typed
	EditorText() string

	// Custom shows a component until its surface is closed; nil without a user. It
	// may return before the component was drawn, or after.
	Custom(c Component, o SurfaceOptions) (Surface, error)
	// Lend gives the terminal to a program and waits for its end. Meanwhile nothing else
	// is shown, and no key read. The error is [ErrNoTerminal] where there is none to give,
	// or says why the program could not be started.
	Lend(ctx context.Context, p Program) (Exit, error)
	Theme() Theme
}

// Choice is what a user can choose in a Select.
type Choice struct {
	Value       string // what Select returns; no two are equal
	Label       string // shown; "" is Value
	Description string // shown behind the label, dim
	Further     bool   // it leads to more choices, and is offered also where nothing matches what is typed
}

// Choices are choices that are their labels.
func Choices(labels ...string) []Choice {
	list := make([]Choice, len(labels))
	for i, label := range labels {
		list[i].Value = label
	}
	return list
}

// Text is what is shown of a choice.
func (c Choice) Text() string { return cmp.Or(c.Label, c.Value) }

// Answer is what a user said to a question.
type Answer int

const (
	No     Answer = iota // also where nobody answered
	Yes                  // this time
	Always               // and to all questions with the same DialogOptions.Always in this session
)

// DialogOptions are common to all dialogs.
type DialogOptions struct {
	From      string // the hook that asks, which the dialog names; "": the program
	About     string // what the program itself asks about, such as [AboutContinuations]; may be empty
	TimeoutMS int    // 0: none; then the default answer counts

	Multi   bool     // of Select: any number may be chosen
	Whole   bool     // of Select: nothing is filtered; what is typed has to be a whole value
	Default []string // of Select: the values that are marked at first, or with one answer the one the cursor is on
	Always  string   // of Confirm: if it is not empty, Always may be the answer, too; whoever asks remembers it under this key
	Secret  bool     // of Input: the text is not shown
	Empty   bool     // of Input, and of Select with Multi: nothing is an answer, too, also where that is how a user leaves
}

// Place is where a widget stands, in the rows below the transcript.
type Place string

const (
	Header Place = "header" // the first rows
	Above  Place = "above"  // above the line being typed
	Below  Place = "below"  // below that
	Footer Place = "footer" // the last rows
)

// PlanItem is a step of a plan that a user follows.
type PlanItem struct {
	Content  string
	Status   string // pending, in_progress or completed
	Priority string // high, medium or low; "" counts as medium
}

// PlanStatuses are what the status of a PlanItem can be.
func PlanStatuses() []string { return []string{"pending", "in_progress", "completed"} }

// PlanPriorities are what the priority of a PlanItem can be.
func PlanPriorities() []string { return []string{"high", "medium", "low"} }

// Drawer draws the lines that a hook shows at a Place, for the width that there is.
type Drawer interface {
	// Draw returns the lines for a width in cells; none shows nothing. It is called once at a
	// time, may take a while, and may take the drawer away.
	Draw(width int, s Surroundings) []string
	// Asked has a value when the hook wants to be drawn anew.
	Asked() <-chan struct{}
}

// Surroundings are what a front end tells a Drawer of what else it shows.
type Surroundings struct {
	Branch   string            // of git; "" for none
	Statuses map[string]string // of all hooks, by key
}

// Wide is a UI that has a width to draw for.
type Wide interface {
	// SetDrawer has d draw the lines under a key in a place, instead of those of SetWidget;
	// nil takes it away. It draws anew when the width or the surroundings are others, but
	// not more often than ten times a second.
	SetDrawer(place Place, key string, d Drawer)
	// HideStatus has the row with the model, the context and the cost go, or come back. What
	// a user must know of it stays.
	HideStatus(hidden bool)
}

// Hider is a UI that shows while the agent works that it does.
type Hider interface {
	// HideWorking has that go, or come back. What the user must know stays: that a question, a hook
	// or another attempt is waited for.
	HideWorking(hidden bool)
}

// Desk is a UI whose user sits at a machine with a clipboard and a desktop.
type Desk interface {
	// Copy copies a text to the user's clipboard, and returns the way that it went, for
	// people. Whoever calls it tells the user.
	Copy(ctx context.Context, text string) (way string, err error)
	// NotifyDesktop tells a user who looks at another window something, in the way of
	// [ui] notify. The error says why nobody was told.
	NotifyDesktop(title, body string) error
}

// Ability is what a UI can do besides asking and telling.
type Ability string

// The abilities of a UI.
const (
	CanCustom Ability = "custom" // show a component of a hook
	CanDraw   Ability = "draw"   // draw a header, a footer or a widget by width
	CanCopy   Ability = "copy"   // copy to the clipboard
	CanRun    Ability = "run"    // lend its terminal to a program
)

// Abilities lists them.
func Abilities() []Ability { return []Ability{CanCustom, CanDraw, CanCopy, CanRun} }

// Able is a UI that can do more than asking and telling.
type Able interface{ Can(a Ability) bool }

// UICan reports whether a UI, which may be nil, can do something.
func UICan(ui UI, a Ability) bool {
	able, ok := ui.(Able)
	return ok && able.Can(a)
}

// Component draws itself, as what a hook shows does. Its methods are called one at a time.
type Component interface {
	// Render draws all of it. Lines beyond height, which is what there is room for, are
	// not shown, nor is what goes beyond width, in cells.
	Render(width, height int) Drawing
	// HandleInput reports whether the component used the key. One that it did not use has
	// its usual meaning: Esc closes the surface, all else is for the line being typed, if
	// that is in view.
	HandleInput(k Key) (used bool)
}

// Drawing is a component as it looks now.
type Drawing struct {
	Lines  []string
	Cursor *Position // nil: it has none
}

// Position is a place in a Drawing, both counted from 0.
type Position struct{ Row, Column int } // Column in cells

// Key is a key that was pressed, or released.
type Key struct {
	Name    string // "a", "enter", "up", "ctrl+x", "shift+f5", "paste": modifiers in the order ctrl, alt, shift
	Text    string // what it types, of a paste all of it; "" for none
	Release bool   // it was released, not pressed; only with SurfaceOptions.Releases
}

// SurfaceOptions say how a component is shown.
type SurfaceOptions struct {
	From     string // the hook whose component it is; "": the program's
	Over     bool   // it covers the window, the line being typed included; else it stands above that
	Rows     int    // the most that it gets; 0: as many as there is room for
	Releases bool   // it wants to know when keys are released, where the terminal tells
	Waits    bool   // the hook goes on when it is closed
}

// Surface is where a Component is shown, until Close or the end of the front
// end. Its methods do not wait; the component itself may call them.
type Surface interface {
	RequestRender() // soon, and once for many calls
	Close()
	Done() <-chan struct{} // closed when it is shown no more
}

// Program is one that gets the terminal. It is looked for as a shell does, and no shell
// runs it.
type Program struct {
	Name string
	Args []string
	Dir  string   // "": the working directory
	Env  []string // NAME=value, in addition to the environment
}

// Exit is how a program ended.
type Exit struct {
	Code   int    // -1 if a signal ended it
	Signal string // such as TERM; "" if none did
}

// ErrNoTerminal means that there is no terminal that a program could have.
var ErrNoTerminal = errors.New("no terminal")

// Theme paints text for the terminal at hand; plain where there are no colours. What it
// writes ends with the text, so that one paint inside of another does not end that.
type Theme interface {
	// Paint returns text in one of ThemeColors or ThemeStyles, or text as it is
	// for another name.
	Paint(style, text string) string
	// Background returns text on one of ThemeColors, or as it is for another name.
	Background(name, text string) string
	// RGB returns text in a colour, or in the nearest that the terminal has.
	RGB(r, g, b uint8, text string) string
	// OnRGB returns text on a background of a colour, likewise.
	OnRGB(r, g, b uint8, text string) string
}

// ThemeColors are the colours that a theme has.
func ThemeColors() []string {
	return []string{"accent", "success", "warning", "error", "muted", "dim", "border", "tool_title", "tool_output",
		"thinking", "user", "code", "link"}
}

// ThemeStyles are the styles that a theme has besides.
func ThemeStyles() []string {
	return []string{"bold", "italic", "underline", "strikethrough", "inverse"}
}

// PlainTheme paints nothing.
type PlainTheme struct{}

// Paint returns text.
func (PlainTheme) Paint(_, text string) string { return text }

// Background returns text.
func (PlainTheme) Background(_, text string) string { return text }

// RGB returns text.
func (PlainTheme) RGB(_, _, _ uint8, text string) string { return text }

// OnRGB returns text.
func (PlainTheme) OnRGB(_, _, _ uint8, text string) string { return text }

// Client is a UI behind which a program answers, which may do so without asking anybody.
type Client interface{ IsClient() bool }

// HasUser reports whether a user answers what ui asks. What only a user may decide, as
// whether a changed hook runs, is asked nowhere else.
func HasUser(ui UI) bool {
	if ui == nil || !ui.HasUI() {
		return false
	}
	c, ok := ui.(Client)
	return !ok || !c.IsClient()
}

// NoUI is the UI where nobody is: every question has its default answer, and
// what would be shown has nowhere to go, but for notices. Front ends build on it.
type NoUI struct {
	// Notices, if set, is called with each notice, by any goroutine.
	Notices func(text string, level Level)
}

func (NoUI) HasUI() bool { return false }

// Select chooses nothing.
func (NoUI) Select(context.Context, string, []Choice, DialogOptions) ([]string, bool, error) {
	return nil, false, nil
}

// Confirm answers No.
func (NoUI) Confirm(context.Context, string, string, DialogOptions) (Answer, error) { return No, nil }

// Input answers nothing.
func (NoUI) Input(context.Context, string, string, DialogOptions) (string, bool, error) {
	return "", false, nil
}

// Editor answers nothing.
func (NoUI) Editor(context.Context, string, string, DialogOptions) (string, bool, error) {
	return "", false, nil
}

// Notify hands the notice to Notices.
func (n NoUI) Notify(text string, level Level) {
	if n.Notices != nil {
		n.Notices(text, level)
	}
}

func (NoUI) SetStatus(string, string)             {}
func (NoUI) SetWidget(Place, string, []string)    {}
func (NoUI) SetPlan([]PlanItem)                   {}
func (NoUI) SetTitle(string)                      {}
func (NoUI) SetWorking(string)                    {}
func (NoUI) SetIndicator([]string, time.Duration) {}
func (NoUI) SetEditorText(string)                 {}
func (NoUI) EditorText() string                   { return "" }

// Custom shows nothing.
func (NoUI) Custom(Component, SurfaceOptions) (Surface, error) { return nil, nil }

// Lend runs nothing.
func (NoUI) Lend(context.Context, Program) (Exit, error) { return Exit{}, ErrNoTerminal }

func (NoUI) Theme() Theme { return PlainTheme{} }

var _ UI = NoUI{}
