package stdlib

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

// openTime makes pi.time. A time is a number of milliseconds since the beginning
// of 1970 in UTC, as in messages. Where a time becomes text or text a time, zone
// says how: "utc" (the default), "local", or a name such as "Europe/Berlin".
//
//	now() → ms                        since(ms) → ms
//	iso(ms?, {zone}?) → text          2026-01-31T12:00:00.000Z
//	format(ms, layout, {zone}?) → text
//	parse(text, {zone}?) → ms         RFC 3339, a date, a date and a time, or as
//	                                  in e-mail; zone is for texts without one
//	duration(ms) → text               1h 2m 3s
//
// layout is that of strftime: %Y %m %d %H %M %S %L (milliseconds) %y %b %B %a %A
// %e %j %I %p %Z %z %s %F %T and %%.
func openTime(vm *luavm.VM, L *lua.LState, env *Env) lua.LValue {
	m := newModule(vm, env, "time")
	m.fn("now", func() int64 { return env.clock().Now().UnixMilli() })
	m.fn("since", func(ms float64) float64 { return float64(env.clock().Now().UnixMilli()) - ms })
	m.fn("iso", func(L *lua.LState, ms *float64, opts lua.LValue) (string, error) {
		t := env.clock().Now()
		if ms != nil {
			var err error
			if t, err = fromMillis(*ms); err != nil {
				return "", err
			}
		}
		t, err := inZone(L, 2, "time.iso", t)
		return t.Format("2006-01-02T15:04:05.000Z07:00"), err
	})
	m.fn("format", func(L *lua.LState, ms float64, layout string, opts lua.LValue) (string, error) {
		t, err := fromMillis(ms)
		if err != nil {
			return "", err
		}
		if t, err = inZone(L, 3, "time.format", t); err != nil {
			return "", err
		}
		return strftime(t, layout)
	})
	m.fn("parse", func(L *lua.LState, text string, opts lua.LValue) (int64, error) {
		where, err := zoneOption(L, 2, "time.parse")
		if err != nil {
			return 0, err
		}
		return parseTime(text, where)
	})
	m.fn("duration", func(ms float64) (string, error) {
		if math.IsNaN(ms) || math.Abs(ms) > maxMillis {
			return "", luavm.Misusef("%v is no number of milliseconds", ms)
		}
		return durationText(int64(ms)), nil
	})
	return m.table()
}

// maxMillis is the end of the year 9999.
const maxMillis = 253402300799999

// fromMillis converts milliseconds from Lua to a time in UTC; what is beyond the year
// 9999 is misuse.
func fromMillis(ms float64) (time.Time, error) {
	if math.IsNaN(ms) || ms > maxMillis || ms < -maxMillis/4 {
		return time.Time{}, luavm.Misusef("%v is no time in milliseconds", ms)
	}
	return time.UnixMilli(int64(math.Floor(ms))).UTC(), nil
}

// inZone returns t in the zone that the options at argument n name, UTC if none.
func inZone(L *lua.LState, n int, function string, t time.Time) (time.Time, error) {
	where, err := zoneOption(L, n, function)
	if err != nil {
		return t, err
	}
	return t.In(where), nil
}

// zoneOption reads {zone} from argument n: utc, which is also for none, local, or the
// name of a zone. A name that the system does not know is an error.
func zoneOption(L *lua.LState, n int, function string) (*time.Location, error) {
	zone := "utc"
	luavm.Unpack(L, n, function, luavm.Opt("zone", &zone))
	switch strings.ToLower(zone) {
	case "utc":
		return time.UTC, nil
	case "local":
		return time.Local, nil
	case "":
		return nil, luavm.Misusef("an empty zone")
	}
	where, err := time.LoadLocation(zone)
	if err != nil {
		return nil, fmt.Errorf("find the zone %s: %w", zone, err)
	}
	return where, nil
}

// parseTime reads a time in one of the forms that programs write, as milliseconds; where
// is the zone of texts that name none.
func parseTime(text string, where *time.Location) (int64, error) {
	text = strings.TrimSpace(text)
	for _, layout := range []string{
		time.RFC3339, "2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05 -0700", "2006-01-02T15:04:05-0700",
		"2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02T15:04", "2006-01-02 15:04", "2006-01-02",
		time.RFC1123Z, time.RFC1123, "Mon, _2 Jan 2006 15:04:05 -0700", time.ANSIC,
	} {
		if t, err := time.ParseInLocation(layout, text, where); err == nil {
			return t.UnixMilli(), nil
		}
	}
	return 0, fmt.Errorf("parse time: %q is no time that is known", shorten(text, 60))
}

// shorten cuts a text for a message.
func shorten(s string, n int) string {
	if len(s) > n {
		return strings.ToValidUTF8(s[:n], "") + "…"
	}
	return s
}

// strftime formats as C does, with %L for milliseconds.
func strftime(t time.Time, layout string) (string, error) {
	var b strings.Builder
	for i := 0; i < len(layout); i++ {
		if layout[i] != '%' {
			b.WriteByte(layout[i])
			continue
		}
		i++
		if i == len(layout) {
			return "", luavm.Misusef("the layout ends in a single %%")
		}
		s, ok := timeField(t, layout[i])
		if !ok {
			return "", luavm.Misusef("the layout has %%%c, which stands for nothing", layout[i])
		}
		b.WriteString(s)
	}
	return b.String(), nil
}

// timeField returns what %letter stands for; false if it is no directive of this module.
func timeField(t time.Time, letter byte) (string, bool) {
	if letter == 'L' {
		return fmt.Sprintf("%03d", t.Nanosecond()/int(time.Millisecond)), true
	}
	if strings.IndexByte("YymdeHIMSpbBaAjZzFTs%", letter) < 0 {
		return "", false
	}
	return luavm.Strftime(t, letter)
}

// durationText writes milliseconds as "250ms", "2.5s" from a second on, and "1h 2m 3s"
// from ten.
func durationText(ms int64) string {
	if ms < 0 {
		return "-" + durationText(-ms)
	}
	switch {
	case ms < 1000:
		return fmt.Sprintf("%dms", ms)
	case ms < 10_000:
		return fmt.Sprintf("%d.%ds", ms/1000, ms%1000/100)
	}
	s := ms / 1000
	parts := []string{}
	for _, unit := range []struct {
		seconds int64
		name    string
	}{{86400, "d"}, {3600, "h"}, {60, "m"}, {1, "s"}} {
		if n := s / unit.seconds; n > 0 {
			parts = append(parts, strconv.FormatInt(n, 10)+unit.name)
		}
		s %= unit.seconds
	}
	return strings.Join(parts, " ")
}
