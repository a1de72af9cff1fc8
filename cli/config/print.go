package config

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"pi/internal/printable"

	"github.com/BurntSushi/toml"
)

// Print writes what is in force as a TOML file, keys and header values
// hidden. With origins, each line says in a comment where its value came from;
// nil omits that.
func Print(w io.Writer, cfg Config, origins Origins) error {
	p := &printer{out: bufio.NewWriter(w), origins: origins}
	p.table("", "", reflect.ValueOf(cfg))
	p.projectLists(cfg)
	p.sections("", "", reflect.ValueOf(cfg))
	return p.out.Flush()
}

type printer struct {
	out     *bufio.Writer
	origins Origins
}

// table writes the header of a table and the settings of v in it, one line each. Tables in
// it are left to sections, because TOML wants them after the plain values.
func (p *printer) table(header, path string, v reflect.Value) {
	if header != "" {
		fmt.Fprintf(p.out, "\n%s\n", shownKey(header))
	}
	for _, f := range reflect.VisibleFields(v.Type()) {
		name, value := f.Tag.Get("toml"), v.FieldByIndex(f.Index)
		if name == "-" || isSection(value) || isOwn(path) && value.IsZero() {
			continue
		}
		p.setting(KeyPath(path, name), name, p.shown(f.Tag, value))
	}
}

// isOwn reports whether a table is one that only sets what differs, so that the rest is left
// out: a provider overrides the catalogue, and most hooks have no settings of the program.
func isOwn(path string) bool {
	return strings.HasPrefix(path, "providers.") || strings.HasPrefix(path, hookKey+".")
}

// setting writes the line of one setting, with where it came from if that is wanted.
func (p *printer) setting(path, key, value string) {
	line := shownKey(toml.Key{key}.String()) + " = " + value
	if p.origins != nil {
		line = fmt.Sprintf("%-40s # %s", line, printable.Short(p.origins.Of(path)))
	}
	fmt.Fprintln(p.out, line)
}

// shownKey returns a key with invisible characters escaped.
func shownKey(key string) string {
	var b strings.Builder
	for _, r := range key {
		if printable.Hidden(r) {
			escape(&b, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// projectLists writes the hooks that the project's file names, as comments: in a file of
// the user there is no key for them.
func (p *printer) projectLists(cfg Config) {
	for i, list := range [][]string{cfg.ProjectHooks, cfg.ProjectDisable} {
		if len(list) == 0 {
			continue
		}
		name := []string{"project hooks", "project disable"}[i]
		fmt.Fprintf(p.out, "# %s: %s", name, formatValue(reflect.ValueOf(list)))
		if p.origins != nil {
			fmt.Fprintf(p.out, " # %s", printable.Short(p.origins.Of(name)))
		}
		fmt.Fprintln(p.out)
	}
}

// sections writes the tables inside of the struct v. header is the name of v in table
// headers and path its path with positions in lists, by which origins are found.
func (p *printer) sections(header, path string, v reflect.Value) {
	for _, f := range reflect.VisibleFields(v.Type()) {
		value := v.FieldByIndex(f.Index)
		if name := f.Tag.Get("toml"); name != "-" && isSection(value) {
			p.section(KeyPath(header, name), KeyPath(path, name), f.Tag, value)
		}
	}
}

// section writes a value for which isSection is true: one table, one for each element of a
// list, or one for each name; and the tables inside of them.
func (p *printer) section(header, path string, tag reflect.StructTag, v reflect.Value) {
	switch value := v.Interface().(type) {
	case *Cost:
		if value != nil {
			p.table("["+header+"]", path, v.Elem())
			p.sections(header, path, v.Elem())
		}
	case Login:
		if !v.IsZero() {
			p.table("["+header+"]", path, v)
			p.sections(header, path, v)
		}
	case []Above:
		for i := range value {
			p.table("[["+header+"]]", indexPath(path, i), v.Index(i))
		}
	case []Model:
		for i := range value {
			at := indexPath(path, i)
			p.table("[["+header+"]]", at, v.Index(i))
			p.sections(header, at, v.Index(i))
		}
	case map[string]Provider:
		for _, name := range slices.Sorted(maps.Keys(value)) {
			at, elem := KeyPath(path, name), v.MapIndex(reflect.ValueOf(name))
			p.table("["+at+"]", at, elem)
			p.sections(at, at, elem)
		}
	case map[string]Hook:
		for _, name := range slices.Sorted(maps.Keys(value)) {
			p.hook(KeyPath(path, name), value[name])
		}
	default:
		if v.Kind() == reflect.Struct {
			p.table("["+header+"]", path, v)
			return
		}
		keys := v.MapKeys() // of a table of plain values by name
		if len(keys) > 0 {
			fmt.Fprintf(p.out, "\n%s\n", shownKey("["+header+"]"))
		}
		slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
		for _, key := range keys {
			tag := tag
			if tag.Get("secret") == "named" && !printable.CarriesKey(key.String()) {
				tag = ""
			}
			p.setting(KeyPath(path, key.String()), key.String(), p.shown(tag, v.MapIndex(key)))
		}
	}
}

// hook writes the table of one hook.
func (p *printer) hook(path string, h Hook) {
	p.table("["+path+"]", path, reflect.ValueOf(h))
	values := shownValues(h.Values)
	for _, key := range slices.Sorted(maps.Keys(values)) {
		p.setting(KeyPath(path, key), key, formatAny(values[key]))
	}
}

// isSection reports whether a setting is written as a [table] of its own, or several, and
// not as a line key = value.
func isSection(v reflect.Value) bool {
	switch v.Interface().(type) {
	case *Cost, []Model, []Above:
		return true
	}
	return v.Kind() == reflect.Struct || v.Kind() == reflect.Map
}

// shown returns a value as it is printed. Secrets are hidden, and so is a key in an
// address.
func (p *printer) shown(tag reflect.StructTag, v reflect.Value) string {
	if tag.Get("secret") != "" {
		return quote(withoutSecret(v.String()))
	}
	if tag.Get("form") == "url" {
		return quote(printable.URL(v.String()))
	}
	return formatValue(v)
}

// withoutSecret returns what may be shown of an api_key setting: the name of a variable or a file,
// which is no secret and what people want to know here, and that there is a command or a
// key.
func withoutSecret(spec string) string {
	switch {
	case spec == "":
		return ""
	case strings.HasPrefix(spec, "env:"):
		return "env:" + ShownVariable(strings.TrimPrefix(spec, "env:"))
	case strings.HasPrefix(spec, "file:"):
		return spec
	case strings.HasPrefix(spec, "!"):
		return "!…"
	}
	return "…"
}

// formatValue writes a value as TOML does.
func formatValue(v reflect.Value) string {
	if dur, ok := v.Interface().(time.Duration); ok {
		return quote(formatDuration(dur))
	}
	switch v.Kind() {
	case reflect.String:
		return quote(v.String())
	case reflect.Pointer:
		if v.IsNil() {
			return "false"
		}
		return formatValue(v.Elem())
	case reflect.Interface, reflect.Map:
		return formatAny(v.Interface())
	case reflect.Slice:
		elems := make([]string, v.Len())
		for i := range elems {
			elems[i] = formatValue(v.Index(i))
		}
		return "[" + strings.Join(elems, ", ") + "]"
	case reflect.Float64:
		return formatFloat(v.Float())
	}
	return fmt.Sprint(v.Interface())
}

// formatDuration omits what is zero: 1m, not 1m0s.
func formatDuration(dur time.Duration) string {
	s := dur.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// formatAny formats a value from a table without fixed keys, such as compat, as TOML.
func formatAny(v any) string {
	switch v := v.(type) {
	case map[string]any:
		pairs := []string{}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			pairs = append(pairs, toml.Key{key}.String()+" = "+formatAny(v[key]))
		}
		return "{" + strings.Join(pairs, ", ") + "}"
	case time.Time:
		return v.Format(time.RFC3339Nano)
	}
	return formatValue(reflect.ValueOf(v))
}

// formatFloat formats a number as TOML does, with a point or an exponent, so that it is no
// integer.
func formatFloat(f float64) string {
	switch {
	case math.IsNaN(f):
		return "nan"
	case math.IsInf(f, 0):
		return strings.ToLower(fmt.Sprintf("%+f", f))
	}
	s := strconv.FormatFloat(f, 'g', -1, 64)
	if strings.ContainsAny(s, ".e") {
		return s
	}
	return s + ".0"
}

// escape writes a character as a TOML escape with its number.
func escape(b *strings.Builder, r rune) {
	if r > 0xffff {
		fmt.Fprintf(b, `\U%08X`, r)
		return
	}
	fmt.Fprintf(b, `\u%04X`, r)
}

// quote returns s as a TOML string in double quotes, with invisible characters escaped.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case !strconv.IsPrint(r) || printable.Hidden(r):
			escape(&b, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
