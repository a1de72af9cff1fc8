package luavm

import (
	"fmt"
	"strings"
	"time"

	lua "github.com/yuin/gopher-lua"
)

// os.date, with the directives of C's strftime in the C locale.

// maxDate is far above any format of a date.
const maxDate = 4 << 10

// osDate is os.date(format?, time?): a text, or a table for "*t". ! means UTC.
func osDate(L *lua.LState) int {
	format := L.OptString(1, "%c")
	if len(format) > maxDate {
		L.RaiseError("format too long (limit %d KiB)", maxDate>>10)
	}
	t := time.Now()
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
			piece, ok = datePart(t, rest[0])
		}
		if !ok {
			RaiseArg(L, 1, "date", "invalid conversion %q", "%"+rest[:min(1, len(rest))])
		}
		b.WriteString(piece)
		format = rest[1:]
	}
}

func dateTable(L *lua.LState, t time.Time) *lua.LTable {
	r := NewRecord(L, 9)
	for name, n := range map[string]int{"year": t.Year(), "month": int(t.Month()), "day": t.Day(), "hour": t.Hour(), "min": t.Minute(),
		"sec": t.Second(), "wday": int(t.Weekday()) + 1, "yday": t.YearDay()} {
		Set(r, name, lua.LNumber(n))
	}
	Set(r, "isdst", lua.LBool(t.IsDST()))
	return r
}

// datePart is what a directive stands for.
func datePart(t time.Time, directive byte) (string, bool) {
	if layout := dateLayout(directive); layout != "" {
		return t.Format(layout), true
	}
	isoYear, isoWeek := t.ISOWeek()
	hour12 := (t.Hour()+11)%12 + 1
	switch directive {
	case 'C':
		return fmt.Sprintf("%02d", t.Year()/100), true
	case 'e':
		return fmt.Sprintf("%2d", t.Day()), true
	case 'g':
		return fmt.Sprintf("%02d", isoYear%100), true
	case 'G':
		return fmt.Sprint(isoYear), true
	case 'I':
		return fmt.Sprintf("%02d", hour12), true
	case 'j':
		return fmt.Sprintf("%03d", t.YearDay()), true
	case 'n':
		return "\n", true
	case 's':
		return fmt.Sprint(t.Unix()), true
	case 't':
		return "\t", true
	case 'u':
		return fmt.Sprint((int(t.Weekday())+6)%7 + 1), true
	case 'U': // weeks begin on Sunday; the days before the first are week 0
		return fmt.Sprintf("%02d", (t.YearDay()+6-int(t.Weekday()))/7), true
	case 'V':
		return fmt.Sprintf("%02d", isoWeek), true
	case 'w':
		return fmt.Sprint(int(t.Weekday())), true
	case 'W': // the same with Monday
		return fmt.Sprintf("%02d", (t.YearDay()+6-(int(t.Weekday())+6)%7)/7), true
	case '%':
		return "%", true
	}
	return "", false
}

// dateLayout is a directive in Go's words; "" for those that Go has none for.
func dateLayout(directive byte) string {
	switch directive {
	case 'a':
		return "Mon"
	case 'A':
		return "Monday"
	case 'b', 'h':
		return "Jan"
	case 'B':
		return "January"
	case 'c':
		return "Mon Jan _2 15:04:05 2006"
	case 'd':
		return "02"
	case 'D', 'x':
		return "01/02/06"
	case 'F':
		return "2006-01-02"
	case 'H':
		return "15"
	case 'm':
		return "01"
	case 'M':
		return "04"
	case 'p':
		return "PM"
	case 'r':
		return "03:04:05 PM"
	case 'R':
		return "15:04"
	case 'S':
		return "05"
	case 'T', 'X':
		return "15:04:05"
	case 'y':
		return "06"
	case 'Y':
		return "2006"
	case 'z':
		return "-0700"
	case 'Z':
		return "MST"
	}
	return ""
}
