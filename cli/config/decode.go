package config

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sort"
	"strings"
	"time"

	"pi/internal/printable"
	"pi/internal/suggest"
)

// decodeDocument decodes the whole file into cfg. In a project's file, keys that a project
// may not set are ignored with a warning, and its lists of hooks are stored apart from
// those of the user.
func (d *decoder) decodeDocument(cfg *Config, doc map[string]any) {
	if d.project != "" {
		for _, key := range d.inOrder("", doc) {
			if _, known := fieldOf(reflect.TypeFor[Config](), key); known && !slices.Contains(projectKeys(), key) {
				d.warn(d.line(KeyPath("", key)), fmt.Sprintf("key %q is ignored: a project may set only %s",
					KeyPath("", key), strings.Join(projectKeys(), ", ")))
				delete(doc, key)
			}
		}
		// The project's lists are decoded on their own and kept apart.
		own := *cfg
		own.Hooks, own.Disable, own.Hook = nil, nil, nil
		d.decodeTable("", reflect.ValueOf(&own).Elem(), doc)
		own.ProjectHooks, own.Hooks = own.Hooks, cfg.Hooks
		own.ProjectDisable, own.Disable = own.Disable, cfg.Disable
		own.ProjectHook, own.Hook = own.Hook, cfg.Hook
		*cfg = own
		return
	}
	d.decodeTable("", reflect.ValueOf(cfg).Elem(), doc)
}

// projectKeys are what the file of a project may set: nothing that runs a
// program, reaches another server, or loosens a limit.
func projectKeys() []string {
	return []string{"model", "thinking", "models", "compaction", "ui", "hooks", "disable", "hook"}
}

// decodeTable decodes the table src, which is at path, into the struct dst. Keys that do
// not exist are reported.
func (d *decoder) decodeTable(path string, dst reflect.Value, src map[string]any) {
	for _, key := range d.inOrder(path, src) {
		full := KeyPath(path, key)
		field, ok := fieldOf(dst.Type(), key)
		if path == "" {
			d.concerns = full
		}
		if _, isTable := src[key].(map[string]any); full == hookKey && !isTable {
			d.concerns = hooksKey // a list of hooks was meant, which may be gates
		}
		if !ok && len(d.problems) >= maxProblems { // the nearest known key takes long to find
			d.unshown++
			continue
		}
		if !ok && path == "" {
			d.concerns = cmp.Or(suggest.Nearest(key, keysOf(dst.Type())), full)
		}
		if !ok {
			d.report(d.line(full), unknownKey(full, key, path, dst.Type()))
			continue
		}
		d.decodeValue(target{full, field.Tag, dst.FieldByIndex(field.Index)}, src[key])
	}
}

// decodeValue decodes one value of the file into its setting, by the type of the setting.
// What does not fit is reported and changes nothing.
func (d *decoder) decodeValue(t target, v any) {
	switch dst := t.dst.Addr().Interface().(type) {
	case *Chords:
		d.decodeChords(t, v)
	case *[]string:
		d.decodeList(t, v)
	case *map[string]string:
		d.decodeStrings(t, dst, v)
	case *map[string]any:
		if src, ok := d.asTable(t, v); ok {
			*dst = src
			for key := range src {
				full := KeyPath(t.path, key)
				d.origins[full] = d.origin(full)
			}
		}
	case *[]Model:
		d.decodeModels(t, dst, v)
	case *[]Above:
		d.decodeAbove(t, dst, v)
	case *Hook:
		d.decodeHook(t, dst, v)
	default:
		d.decodeByKind(t, v)
	}
}

// decodeChords decodes the keys of one action: a list, or a string with a comma and a blank
// between them. A comma alone is a key.
func (d *decoder) decodeChords(t target, v any) {
	s, isText := v.(string)
	if !isText {
		d.decodeList(t, v)
		return
	}
	chords := []string{}
	for chord := range strings.SplitSeq(s, ", ") {
		chord, ok := d.checkText(t, strings.TrimSpace(chord))
		if !ok {
			return
		}
		chords = append(chords, chord)
	}
	t.dst.Set(reflect.ValueOf(chords).Convert(t.dst.Type()))
	d.noteOrigin(t)
}

// decodeByKind decodes a value into a setting whose type has no rule of its own in
// decodeValue. It returns false if nothing of it was used.
func (d *decoder) decodeByKind(t target, v any) (ok bool) {
	var src map[string]any
	switch t.dst.Kind() {
	case reflect.Pointer:
		elem := reflect.New(t.dst.Type().Elem())
		if ok = d.decodeByKind(target{t.path, t.tag, elem.Elem()}, v); ok {
			t.dst.Set(elem)
		}
	case reflect.Struct:
		if src, ok = d.asTable(t, v); ok {
			d.decodeTable(t.path, t.dst, src)
		}
	case reflect.Map:
		if src, ok = d.asTable(t, v); ok {
			d.decodeNamed(t, src)
		}
	default:
		ok = d.decodeScalar(t, v)
	}
	return ok
}

// decodeNamed decodes a table whose keys are names that the user chose, such as
// [providers]. The names in it replace those that are there already; others stay.
func (d *decoder) decodeNamed(t target, src map[string]any) {
	// Copied first: a Config that was handed out shares no map with this one.
	all := reflect.MakeMap(t.dst.Type())
	for iter := t.dst.MapRange(); iter.Next(); {
		all.SetMapIndex(iter.Key(), iter.Value())
	}
	for _, name := range d.inOrder(t.path, src) {
		elem := reflect.New(t.dst.Type().Elem()).Elem()
		d.concerns = KeyPath(t.path, name)
		d.decodeValue(target{KeyPath(t.path, name), t.tag, elem}, src[name])
		_, isTable := src[name].(map[string]any)
		if isTable && elem.Kind() == reflect.Struct || !elem.IsZero() { // [providers.x] alone counts
			all.SetMapIndex(reflect.ValueOf(name), elem)
		}
	}
	t.dst.Set(all)
}

// decodeList decodes a list of strings. An element that breaks a rule is reported and left
// out; if none is left, the setting stays as it was.
func (d *decoder) decodeList(t target, v any) {
	elems, ok := v.([]any)
	if !ok {
		d.report(d.line(t.path), wrongType(t.path, "list of strings", v))
		return
	}
	good := []string{}
	for i, elem := range elems {
		at := indexPath(t.path, i)
		s, ok := elem.(string)
		if !ok {
			d.report(d.line(at), wrongType(at, "string", elem))
			continue
		}
		if s, ok = d.checkText(target{at, t.tag, t.dst}, s); ok {
			good = append(good, s)
		}
	}
	if len(good) > 0 || len(elems) == 0 {
		t.dst.Set(reflect.ValueOf(good).Convert(t.dst.Type()))
		d.noteOrigin(t)
	}
}

// decodeStrings decodes a table of strings, such as headers. A value that is no string is
// reported and left out.
func (d *decoder) decodeStrings(t target, dst *map[string]string, v any) {
	src, ok := d.asTable(t, v)
	if !ok {
		return
	}
	out := make(map[string]string, len(src))
	for _, name := range d.inOrder(t.path, src) {
		full := KeyPath(t.path, name)
		if s, ok := src[name].(string); ok {
			out[name] = s
			if printable.CarriesKey(name) {
				d.notePlainKey(full)
			}
			d.origins[full] = d.origin(full)
			continue
		}
		d.report(d.line(full), wrongType(full, "string", src[name]))
	}
	*dst = out
}

// decodeModels decodes [[providers.NAME.models]]; one without an id names nothing and
// is left out.
func (d *decoder) decodeModels(t target, dst *[]Model, v any) {
	tables, ok := tablesOf(v)
	if !ok {
		d.report(d.line(t.path), wrongType(t.path, "list of tables", v))
		return
	}
	for i, src := range tables {
		path := indexPath(t.path, i)
		var m Model
		d.decodeTable(path, reflect.ValueOf(&m).Elem(), src)
		if m.ID == "" {
			d.report(d.line(path), fmt.Sprintf("%q has no id", path))
			continue
		}
		*dst = append(*dst, m)
	}
}

// decodeAbove decodes what longer prompts cost; a step that does not follow the one before
// it is left out.
func (d *decoder) decodeAbove(t target, dst *[]Above, v any) {
	tables, ok := tablesOf(v)
	if !ok {
		d.report(d.line(t.path), wrongType(t.path, "list of tables", v))
		return
	}
	tokens := 0
	for i, src := range tables {
		path := indexPath(t.path, i)
		var a Above
		d.decodeTable(path, reflect.ValueOf(&a).Elem(), src)
		if a.Tokens <= tokens {
			d.report(d.line(path), fmt.Sprintf("%q: tokens has to be more than %d; steps go from the shortest prompt to the longest", path, tokens))
			continue
		}
		*dst, tokens = append(*dst, a), a.Tokens
	}
}

// tablesOf returns a list of tables, whether it was written as [[name]] or as a list of
// inline tables; false if v is none.
func tablesOf(v any) ([]map[string]any, bool) {
	if tables, ok := v.([]map[string]any); ok {
		return tables, true
	}
	elems, ok := v.([]any)
	tables := make([]map[string]any, 0, len(elems))
	for _, elem := range elems {
		table, isTable := elem.(map[string]any)
		ok = ok && isTable
		tables = append(tables, table)
	}
	return tables, ok
}

// decodeScalar decodes a single value and checks its rules; false means that it was
// rejected.
func (d *decoder) decodeScalar(t target, v any) bool {
	fitting, expected := convert(t.dst.Type(), v)
	if !fitting.IsValid() {
		d.reject(t, wrongType(t.path, expected, v))
		return false
	}
	if text := outOfRange(t, fitting); text != "" {
		d.reject(t, text)
		return false
	}
	if s, ok := fitting.Interface().(string); ok {
		if s, ok = d.checkText(t, s); !ok {
			return false
		}
		fitting = reflect.ValueOf(s)
	}
	t.dst.Set(fitting)
	d.noteOrigin(t)
	return true
}

// convert converts a TOML value to the type of its setting. If it cannot, the returned
// Value is not valid, and expected says in words what the setting wants.
func convert(typ reflect.Type, v any) (converted reflect.Value, expected string) {
	if typ == reflect.TypeFor[time.Duration]() {
		s, _ := v.(string)
		if dur, err := time.ParseDuration(s); err == nil {
			return reflect.ValueOf(dur), ""
		}
		return reflect.Value{}, `duration such as "500ms", "2s" or "1m30s"`
	}
	switch n := v.(type) {
	case string, bool:
		if reflect.TypeOf(v) == typ {
			return reflect.ValueOf(v), ""
		}
	case float64:
		if typ.Kind() == reflect.Float64 && n-n == 0 { // neither infinite nor NaN
			return reflect.ValueOf(n), ""
		}
	case int64:
		if typ.Kind() == reflect.Float64 {
			return reflect.ValueOf(float64(n)), ""
		}
		if typ.Kind() == reflect.Int && int64(int32(n)) == n { // so that no unit of time overflows
			return reflect.ValueOf(int(n)), ""
		}
	}
	return reflect.Value{}, cmp.Or(map[reflect.Kind]string{reflect.Int: "integer", reflect.Float64: "number", reflect.Bool: "boolean"}[typ.Kind()], "string")
}

// asTable returns v as a table, or reports that it is none.
func (d *decoder) asTable(t target, v any) (map[string]any, bool) {
	src, ok := v.(map[string]any)
	if !ok {
		d.report(d.line(t.path), wrongType(t.path, "table", v))
	}
	return src, ok
}

// inOrder returns the keys of src in the order of their lines in the file.
func (d *decoder) inOrder(path string, src map[string]any) []string {
	keys := slices.Sorted(maps.Keys(src))
	sort.SliceStable(keys, func(i, j int) bool {
		return d.line(KeyPath(path, keys[i])) < d.line(KeyPath(path, keys[j]))
	})
	return keys
}

// fieldOf returns the field of a struct that has this key in its toml tag.
func fieldOf(typ reflect.Type, key string) (reflect.StructField, bool) {
	for _, f := range reflect.VisibleFields(typ) {
		if name := f.Tag.Get("toml"); name == key && name != "-" {
			return f, true
		}
	}
	return reflect.StructField{}, false
}
