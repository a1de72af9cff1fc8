package config

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"pi/internal/printable"

	"github.com/BurntSushi/toml"
)

// Hook is what config.toml says of one hook, in [hook.NAME]. Its tagged fields are the
// program's and mean the same for every hook; a project's file may not set them.
type Hook struct {
	MaxContinuations *int `toml:"max_continuations" min:"0" max:"1000"` // nil: none of its own
	Answers          bool `toml:"answers"`                              // it may answer dialogs of other hooks

	// Values are the other keys, which the hook itself gives a meaning: strings, bool,
	// int64, float64, []any and map[string]any of them. Dates are strings.
	Values map[string]any `toml:"-"`

	// File is where the table stands, and Wrong why the values cannot be handed to the hook;
	// "" if they can.
	File, Wrong string `toml:"-"`

	lines lineIndex `toml:"-"` // of the keys, by their path below the table; the table's own is ""
}

// maxHook is how many bytes the values of one hook may have, written as TOML.
const maxHook = 64 << 10

// Where returns "file:line" of a value, by its keys and positions in lists below the table,
// counted from 0; of the nearest table or list that has a line, if it has none.
func (h Hook) Where(path ...any) string {
	line := h.lines[""]
	at := ""
	for _, part := range path {
		if i, ok := part.(int); ok {
			at = indexPath(at, i)
		} else {
			at = KeyPath(at, fmt.Sprint(part))
		}
		if n, ok := h.lines[at]; ok {
			line = n
		}
	}
	return Problem{File: h.File, Line: line}.Where()
}

// JSON returns the values as a JSON object; nil if there are none. Wrong says why there are none.
func (h Hook) JSON() json.RawMessage {
	if len(h.Values) == 0 {
		return nil
	}
	raw, err := json.Marshal(h.Values)
	if err != nil { // decodeHook has refused what JSON does not have
		return nil
	}
	return raw
}

// HookEntries returns what a settings file says of hooks, as a text of its own; nil if it says
// nothing, or cannot be read. The same entries come to the same text, wherever they stand.
func HookEntries(settings []byte) []byte {
	if _, beyond := indexLines(string(settings)); beyond != nil || len(settings) > maxSize {
		return nil
	}
	var doc map[string]any
	if _, err := toml.Decode(string(settings), &doc); err != nil {
		return nil
	}
	tables, ok := doc[hookKey].(map[string]any)
	if !ok || len(tables) == 0 {
		return nil
	}
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(tables)) {
		table, ok := tables[name].(map[string]any)
		if !ok {
			table = map[string]any{"": tables[name]}
		}
		fmt.Fprintf(&b, "[%s]\n", KeyPath(hookKey, name))
		for _, key := range slices.Sorted(maps.Keys(table)) {
			fmt.Fprintf(&b, "%s = %s\n", KeyPath("", key), formatAny(table[key]))
		}
	}
	return []byte(b.String())
}

// ForHook returns what the files say of the hook of that name: the project's file of a
// project's hook, the user's of any other. Neither reaches the hooks of the other.
func (c Config) ForHook(name string, ofProject bool) Hook {
	if ofProject {
		return c.ProjectHook[name]
	}
	return c.Hook[name]
}

// decodeHook decodes [hook.NAME]. Values that cannot be used as a whole are no values: the
// hook would go on with half of its rules.
func (d *decoder) decodeHook(t target, dst *Hook, v any) {
	src, ok := d.asTable(t, v)
	if !ok {
		*dst = Hook{File: d.file, lines: lineIndex{"": d.line(t.path)}, Wrong: wrongType(t.path, "table", v)}
		return
	}
	h := Hook{File: d.file, lines: d.linesBelow(t.path), Values: map[string]any{}}
	for _, key := range d.inOrder(t.path, src) {
		full := KeyPath(t.path, key)
		field, ofProgram := fieldOf(reflect.TypeFor[Hook](), key)
		switch {
		case !ofProgram:
			h.Values[key] = plainValue(src[key])
			d.origins[full] = d.origin(full)
		case d.project != "":
			d.warn(d.line(full), fmt.Sprintf("key %q is ignored: only your own config.toml may set it, and for hooks of your own", full))
		default:
			d.decodeValue(target{full, field.Tag, reflect.ValueOf(&h).Elem().FieldByIndex(field.Index)}, src[key])
		}
	}
	if size := len(formatAny(h.Values)); size > maxHook {
		h.Wrong = fmt.Sprintf("%q has %d bytes, at most %d are handed to a hook", t.path, size, maxHook)
	} else if _, err := json.Marshal(h.Values); err != nil {
		h.Wrong = fmt.Sprintf("%q has a number that is infinite or none", t.path)
	}
	if h.Wrong != "" {
		h.Values = nil
		d.report(d.line(t.path), h.Wrong)
	}
	*dst = h
}

// linesBelow returns the lines of what is below a table, by the path from there.
func (d *decoder) linesBelow(table string) lineIndex {
	below := lineIndex{"": d.line(table)}
	for path, line := range d.lines {
		if rest, ok := strings.CutPrefix(path, table+"."); ok {
			below[rest] = line
		}
	}
	return below
}

// plainValue returns a value as hooks are given it: dates as text, tables in a list as any
// other values there.
func plainValue(v any) any {
	switch v := v.(type) {
	case map[string]any:
		plain := make(map[string]any, len(v))
		for key, below := range v {
			plain[key] = plainValue(below)
		}
		return plain
	case []map[string]any:
		plain := make([]any, len(v))
		for i, below := range v {
			plain[i] = plainValue(below)
		}
		return plain
	case []any:
		plain := make([]any, len(v))
		for i, below := range v {
			plain[i] = plainValue(below)
		}
		return plain
	case time.Time:
		return dateText(v)
	}
	return v
}

// dateText returns a date or a time as a TOML file has it: the parser gives those without a
// zone one of a name.
func dateText(t time.Time) string {
	switch t.Location().String() {
	case "datetime-local":
		return t.Format("2006-01-02T15:04:05.999999999")
	case "date-local":
		return t.Format(time.DateOnly)
	case "time-local":
		return t.Format("15:04:05.999999999")
	}
	return t.Format(time.RFC3339Nano)
}

// shownValues returns values of a hook as they may be shown: a text whose key says that it
// is a secret is hidden, as that of an API key is.
func shownValues(values map[string]any) map[string]any {
	shown := maps.Clone(values)
	for key, v := range shown {
		switch v := v.(type) {
		case string:
			if printable.CarriesKey(key) {
				shown[key] = withoutSecret(v)
			}
		case map[string]any:
			shown[key] = shownValues(v)
		case []any:
			shown[key] = shownElements(key, v)
		}
	}
	return shown
}

// shownElements is shownValues for the elements of a list.
func shownElements(key string, elems []any) []any {
	shown := slices.Clone(elems)
	for i, elem := range shown {
		shown[i] = shownValues(map[string]any{key: elem})[key]
	}
	return shown
}

// hookSetting reports whether key is one of the values of a hook, below [hook.NAME].
func hookSetting(key toml.Key) bool {
	if len(key) < 3 || key[0] != "hook" {
		return false
	}
	_, ofProgram := fieldOf(reflect.TypeFor[Hook](), key[2])
	return !ofProgram
}

// isHiddenHookSetting reports whether a value of a hook is one that is not shown.
func isHiddenHookSetting(key toml.Key) bool {
	return hookSetting(key) && printable.CarriesKey(key[len(key)-1])
}
