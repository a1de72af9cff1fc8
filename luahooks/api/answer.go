package api

import (
	"errors"
	"fmt"
	"strings"

	"pi/agent"
	"pi/internal/suggest"
	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

// Prompt is a dialog of a hook as other hooks see it, which one of them may answer in the place of
// the user.
type Prompt struct {
	Kind, Title, Message string
	Hook                 string // that asks
	Choices              []agent.Choice
	Multi                bool
}

// Reply is an answer that a hook gave, in the form of its dialog.
type Reply struct {
	Yes     bool     // to confirm
	Numbers []string // to select: the values of choices
	Text    string   // to input and editor
	Shown   string   // for people
}

// reply reads an answer from Lua: a boolean, a text, or the label of a choice, or its position;
// for several a list of these. The error is for whoever answers.
func (p Prompt) reply(L *lua.LState, v lua.LValue) (r Reply, err error) {
	switch p.Kind {
	case "confirm":
		yes, ok := v.(lua.LBool)
		if !ok {
			return r, fmt.Errorf("this dialog is a question of yes or no: true or false answers it, not a %s", v.Type())
		}
		return Reply{Yes: bool(yes), Shown: map[bool]string{true: "yes", false: "no"}[bool(yes)]}, nil
	case "select":
		return p.choose(L, v)
	}
	text, ok := v.(lua.LString)
	if !ok {
		return r, fmt.Errorf("this dialog asks for a text, not for a %s", v.Type())
	}
	return Reply{Text: string(text), Shown: string(text)}, nil
}

// choose reads which choices are taken.
func (p Prompt) choose(L *lua.LState, v lua.LValue) (r Reply, err error) {
	wanted := []lua.LValue{v}
	if list, ok := luavm.TableOf(L, v); ok && p.Multi {
		wanted = wanted[:0]
		for i := range list.Len() {
			wanted = append(wanted, list.RawGetInt(i+1))
		}
	}
	var labels []string
	for _, w := range wanted {
		c, err := p.choice(w)
		if err != nil {
			return Reply{}, err
		}
		r.Numbers, labels = append(r.Numbers, c.Value), append(labels, c.Label)
	}
	r.Shown = strings.Join(labels, ", ")
	return r, nil
}

// choice finds the choice that a label or a position means.
func (p Prompt) choice(v lua.LValue) (agent.Choice, error) {
	var labels []string
	for i, c := range p.Choices {
		if n, ok := v.(lua.LNumber); ok && float64(n) == float64(i+1) {
			return c, nil
		}
		if s, ok := v.(lua.LString); ok && string(s) == c.Label {
			return c, nil
		}
		labels = append(labels, c.Label)
	}
	return agent.Choice{}, fmt.Errorf("this dialog has no choice %s%s", shownValue(v), suggest.Hint(v.String(), labels))
}

// Answerer takes answers of hooks to the dialogs that are open.
type Answerer interface {
	// OpenPrompt returns an open dialog by its id; false if there is none, or it has been answered.
	OpenPrompt(id string) (Prompt, bool)
	// Answer ends an open dialog with the reply of a hook; false if it has been answered, or
	// left.
	Answer(id, hook string, r Reply) bool
}

// answers are the replies of a hook to dialogs of others.
type answers struct{ *bridge }

var errAnswered = errors.New("no dialog with that id is open: it was answered, or left")

// answer is pi.answer(id, value) → true; nil and a message if the hook may not, or the dialog is
// not open any more, or the value is none that it can take.
func (a *answers) answer(L *lua.LState) int {
	a.mustHaveLoaded(L, "answer")
	id, v := L.CheckString(1), L.CheckAny(2)
	if err := a.mayAnswer(); err != nil {
		return pushResult(L, lua.LNil, err)
	}
	p, open := a.Answerer.OpenPrompt(id)
	if !open {
		return pushResult(L, lua.LNil, errAnswered)
	}
	r, err := p.reply(L, v)
	if err == nil && !a.Answerer.Answer(id, a.Hook.Name, r) {
		err = errAnswered
	}
	return pushResult(L, lua.LTrue, err)
}

// mayAnswer returns why the hook may not answer in the place of the user.
func (a *answers) mayAnswer() error {
	switch {
	case a.Hook.Scope == "project":
		return errors.New("a hook of a project answers nobody's dialogs")
	case !a.Answers:
		return fmt.Errorf("this hook may not answer dialogs; [hook.%s] answers = true in your config.toml lets it", a.Hook.Name)
	}
	return nil
}
