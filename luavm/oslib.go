package luavm

import (
	"fmt"
	"strings"
	"time"

	lua "github.com/yuin/gopher-lua"
)

// openOS replaces the table that OpenOs made by one of five functions. The others
// cannot be reached any more.
func openOS(L *lua.LState, g *lua.LTable, o Options) {
	all := g.RawGetString("os").(*lua.LTable)
	few := NewRecord(L, 5)
	for _, name := range []string{"clock", "getenv"} {
		Set(few, name, all.RawGetString(name))
	}
	if o.Getenv != nil { // an environment that is not that of the process; a variable that is empty counts as not set
		Set(few, "getenv", L.NewFunction(func(L *lua.LState) int {
			if v := o.Getenv(L.CheckString(1)); v != "" {
				L.Push(lua.LString(v))
			} else {
				L.Push(lua.LNil)
			}
			return 1
		}))
	}
	original := all.RawGetString("time").(*lua.LFunction).GFunction
	setAll(L, few, map[string]lua.LGFunction{
		"date": func(L *lua.LState) int { return dateOf(L, o.Now()) },
		"time": func(L *lua.LState) int { // the library's own for a table, and the clock without one
			if L.GetTop() == 0 {
				L.Push(lua.LNumber(o.Now().Unix()))
				return 1
			}
			materialiseArg(L, 1)
			return original(L)
		},
		"difftime": func(L *lua.LState) int {
			L.Push(L.CheckNumber(1) - L.OptNumber(2, 0))
			return 1
		},
	})
	Set(g, "os", few)
	if loaded, ok := L.G.Registry.RawGetString("_LOADED").(*lua.LTable); ok {
		Set(loaded, "os", few)
	}
}

// os.date, with the directives of C's strftime in the C locale.

// maxDate is far above any format of a date.
const maxDate = 4 << 10

// dateOf is os.date(format?, time?) at a moment, which counts without a time: a text, or a
// table for "*t". ! means UTC.
func dateOf(L *lua.LState, t time.Time) int {
	format := L.OptString(1, "%c")
	if len(format) > maxDate {
		L.RaiseError("format too long (limit %d KiB)", maxDate>>10)
	}
	if L.Get(2) != lua.LNil {
		t = time.Unix(int64(L.CheckNumber(2)), 0)
	}
	format, utc := strings.CutPrefix(format, "!")
	if utc {
		t = t.UTC()
	}
	if strings.HasPrefix(format, "*t") {
		L.Push(dateTable(L, t))
		return 1
	}
	var b strings.Builder
	for {
		plain, rest, more := strings.Cut(format, "%")
		b.WriteString(plain)
		if !more {
			L.Push(lua.LString(b.String()))
			return 1
		}
		piece, ok := "", false
		if rest != "" {
			piece, ok = Strftime(t, rest[0])
		}
		if !ok {
			RaiseArg(L, 1, "date", "invalid conversion %q", "%"+rest[:min(1, len(rest))])
		}
		b.WriteString(piece)
		format = rest[1:]
	}
}

// dateTable is what os.date gives for "*t".
func dateTable(L *lua.LState, t time.Time) *lua.LTable {
	r := NewRecord(L, 9)
	for name, n := range map[string]int{"year": t.Year(), "month": int(t.Month()), "day": t.Day(), "hour": t.Hour(), "min": t.Minute(),
		"sec": t.Second(), "wday": int(t.Weekday()) + 1, "yday": t.YearDay()} {
		Set(r, name, lua.LNumber(n))
	}
	Set(r, "isdst", lua.LBool(t.IsDST()))
	return r
}

// Strftime is what a directive of C's strftime stands for, in the C locale: "2026"
// for 'Y'. ok is false for a letter that is none.
func Strftime(t time.Time, directive byte) (text string, ok bool) {
	if layout := dateLayouts[directive]; layout != "" {
		return t.Format(layout), true
	}
	isoYear, isoWeek := t.ISOWeek()
	sinceSunday := int(t.Weekday())
	sinceMonday := (sinceSunday + 6) % 7
	switch directive {
	case 'C':
		return fmt.Sprintf("%02d", t.Year()/100), true
	case 'g':
		return fmt.Sprintf("%02d", isoYear%100), true
	case 'G':
		return fmt.Sprint(isoYear), true
	case 'n':
		return "\n", true
	case 's':
		return fmt.Sprint(t.Unix()), true
	case 't':
		return "\t", true
	case 'u':
		return fmt.Sprint(sinceMonday + 1), true
	case 'U': // weeks begin on Sunday; the days before the first are week 0
		return fmt.Sprintf("%02d", (t.YearDay()+6-sinceSunday)/7), true
	case 'V':
		return fmt.Sprintf("%02d", isoWeek), true
	case 'w':
		return fmt.Sprint(sinceSunday), true
	case 'W': // the same with Monday
		return fmt.Sprintf("%02d", (t.YearDay()+6-sinceMonday)/7), true
	case '%':
		return "%", true
	}
	return "", false
}

// dateLayouts are the directives that Go has a layout for.
var dateLayouts = map[byte]string{
	'a': "Mon", 'A': "Monday", 'b': "Jan", 'B': "January", 'h': "Jan", 'd': "02", 'e': "_2", 'j': "002", 'm': "01", 'y': "06", 'Y': "2006",
	'H': "15", 'I': "03", 'M': "04", 'S': "05", 'p': "PM", 'z': "-0700", 'Z': "MST",
	'c': "Mon Jan _2 15:04:05 2006", 'D': "01/02/06", 'x': "01/02/06", 'F': "2006-01-02",
	'r': "03:04:05 PM", 'R': "15:04", 'T': "15:04:05", 'X': "15:04:05",
}
