package luavm

import (
	"errors"
	"fmt"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// Kind is how a job failed.
type Kind uint8

const (
	Raised    Kind = iota // Lua raised an error, or Go code did for it
	Timeout               // its clock ran out
	Cancelled             // its context ended
	Memory                // the heap grew beyond Options.MemoryLimit
	Panic                 // an API function panicked
	Abandoned             // it did not stop; the VM is dead
)

func (k Kind) String() string {
	return [...]string{"raised", "timeout", "cancelled", "memory", "panic", "abandoned"}[k]
}

var (
	// ErrClosed: the VM takes no more jobs. A job that ends with it did not
	// begin, and may be run elsewhere.
	ErrClosed = errors.New("the hook's VM is closed")
	// ErrDead: a job of the VM was abandoned. A job that ends with it did not
	// begin either; one that had begun and waited was cut off.
	ErrDead = errors.New("the hook's VM is dead")
	// ErrCutOff matches, with errors.Is, an *Error of a job that had begun and
	// waited when its VM died.
	ErrCutOff = errors.New("cut off")
	// ErrNested: a job was started inside another, outside Wait.
	ErrNested = errors.New("a hook was started inside another without waiting for it properly")
	// ErrAbandoned matches, with errors.Is, an *Error of kind Abandoned.
	ErrAbandoned = errors.New("abandoned")
)

// Error is why a job failed.
type Error struct {
	Message   string // without the place
	Where     string // "file:line", or empty
	Traceback string // bounded; may be empty
	Kind      Kind
	Value     lua.LValue // what was raised, or nil; belongs to the VM

	cause error
}

func (e *Error) Error() string {
	if e.Where == "" {
		return e.Message
	}
	return e.Where + ": " + e.Message
}

func (e *Error) Unwrap() error { return e.cause }

// at returns a copy of e, the reason why a job was stopped, with the place and traceback
// of err, where Lua noticed it; e itself if err is nil.
func (e *Error) at(err error) *Error {
	if found := errorOf(err); found != nil {
		return &Error{Kind: e.Kind, Message: e.Message, cause: e.cause, Where: found.Where, Traceback: found.Traceback}
	}
	return e
}

// errorOf makes an *Error of what PCall returned: kind, place, message and traceback. It
// returns nil for nil.
func errorOf(err error) *Error {
	var api *lua.ApiError
	if !errors.As(err, &api) {
		if err == nil {
			return nil
		}
		return &Error{Kind: Raised, Message: err.Error()}
	}
	e := &Error{Kind: Raised, Traceback: api.StackTrace, Value: api.Object}
	if api.Type == lua.ApiErrorPanic {
		e.Kind = Panic
	}
	e.Where, e.Message = splitPlace(messageOf(api.Object))
	if e.Where == "" {
		e.Where = firstPlace(api.StackTrace)
	}
	return e
}

// splitPlace splits "file:line: message" into place and message; the place is "" if
// there is none.
func splitPlace(s string) (where, message string) {
	if where = placeBefore(s, ": "); where != "" {
		return where, s[len(where)+len(": "):]
	}
	return "", strings.TrimPrefix(s, " ")
}

// firstPlace returns "file:line" of the innermost Lua function in a traceback, "" if
// there is none.
func firstPlace(trace string) string {
	for line := range strings.Lines(trace) {
		name, indented := strings.CutPrefix(line, "\t")
		if !indented || name == "" || name[0] == '[' {
			continue
		}
		if rest := placeBefore(name[1:], ": in "); rest != "" {
			return name[:1] + rest
		}
	}
	return ""
}

// placeBefore is the shortest "name:line" at the beginning of s that then follows,
// within the first line of s; "" if there is none.
func placeBefore(s, then string) string {
	for i := 0; i < len(s) && s[i] != '\n'; i++ {
		if s[i] != ':' {
			continue
		}
		digits := len(s[i+1:]) - len(strings.TrimLeft(s[i+1:], "0123456789"))
		if end := i + 1 + digits; digits > 0 && strings.HasPrefix(s[end:], then) {
			return s[:end]
		}
	}
	return ""
}

// messageOf returns the text of an error value: a string or number itself, the field
// message of a table, or else a sentence that names the type.
func messageOf(v lua.LValue) string {
	switch v := v.(type) {
	case nil:
		return "nil"
	case lua.LString, lua.LNumber:
		return v.String()
	case *lua.LTable:
		if m := v.RawGetString("message"); lua.LVCanConvToString(m) {
			return m.String()
		}
	}
	return fmt.Sprintf("(error object is a %s value)", v.Type())
}

// describe sets the Message of an error whose value is a table without a message: to
// what its __tostring returns, or else to its fields as JSON. If neither works, it stays
// as it is.
func describe(th *lua.LState, e *Error) {
	t, ok := e.Value.(*lua.LTable)
	if !ok || lua.LVCanConvToString(t.RawGetString("message")) {
		return
	}
	th.Push(th.NewFunction(func(L *lua.LState) int {
		if L.GetMetaField(t, "__tostring") != lua.LNil {
			L.Push(L.ToStringMeta(t))
		} else if raw, err := encodeUpTo(maxErrorJSON, L, t, JSON{}); err == nil && t.Len()+len(raw) > len("{}") {
			L.Push(lua.LString(raw))
		}
		return L.GetTop()
	}))
	if th.PCall(0, 1, nil) != nil {
		return // keep the message that e has
	}
	if s, ok := th.Get(-1).(lua.LString); ok {
		e.Message = string(s)
	}
	th.Pop(1)
}

// maxErrorJSON is about what a user reads.
const maxErrorJSON = 1000

// Misuse is an error that raises at the caller's line instead of becoming
// nil, "message".
type Misuse struct{ Message string }

func (m *Misuse) Error() string { return m.Message }

// Misusef makes a *Misuse.
func Misusef(format string, args ...any) error {
	return &Misuse{fmt.Sprintf(format, args...)}
}

// Raise raises an error at the line of the Lua code that called.
func Raise(L *lua.LState, format string, args ...any) {
	L.Error(lua.LString(placed(where(L, 0), fmt.Sprintf(format, args...))), 0)
}

// RaiseArg raises what is wrong with the n-th argument of a function.
func RaiseArg(L *lua.LState, n int, function, format string, args ...any) {
	Raise(L, "bad argument #%d to '%s' (%s)", n, function, fmt.Sprintf(format, args...))
}

// typeName is the type of an argument, for messages.
func typeName(L *lua.LState, n int) string {
	if n > L.GetTop() {
		return "no value"
	}
	return L.Get(n).Type().String()
}
