package config

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"pi/internal/printable"

	"github.com/BurntSushi/toml"
)

// Setting is one setting as a user sees it.
type Setting struct {
	Key     string   // as it is given to [Set]
	Value   string   // in force, as config.toml would have it; no secret is in it
	Text    string   // in force, as it is given to [Set]; "" of a secret
	Default string   // as config.toml would have it; "" if there is none
	Origin  string   // see [Origins]
	Meaning string   // one line
	Kind    Kind     // what its value is
	Choices []string // the words allowed; nil: any. Of [Flag]: true, false
	Secret  bool     // its value is not shown
}

// Kind is what the value of a setting is.
type Kind string

// The kinds of values.
const (
	Flag     Kind = "flag"
	Number   Kind = "number"
	Duration Kind = "duration"
	Text     Kind = "text"
	List     Kind = "list" // of words, with commas between them
)

// Settings returns all settings in the order of config.example.toml, then the keys that
// are bound and what is set of providers, in the order of names. The models of providers,
// which are lists of tables, are not among them.
func (c Config) Settings() []Setting {
	l := listing{config: c, meanings: meanings()}
	l.table(nil, "", reflect.ValueOf(c), reflect.ValueOf(Default()))
	return l.settings
}

// listing collects settings.
type listing struct {
	config   Config
	meanings map[string]string
	settings []Setting
}

// table adds what is in a struct or a map. standard has the defaults; it is not valid where
// there are none.
func (l *listing) table(key toml.Key, pattern string, v, standard reflect.Value) {
	if v.Kind() == reflect.Map {
		for _, name := range slices.SortedFunc(slices.Values(v.MapKeys()), func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) }) {
			l.value(append(slices.Clone(key), name.String()), pattern+".NAME", "", v.MapIndex(name), reflect.Value{})
		}
		return
	}
	for _, f := range reflect.VisibleFields(v.Type()) {
		name, below := f.Tag.Get("toml"), reflect.Value{}
		value := v.FieldByIndex(f.Index)
		if name == "-" || !standard.IsValid() && value.IsZero() { // what is not said of a provider
			continue
		}
		if standard.IsValid() {
			below = standard.FieldByIndex(f.Index)
		}
		l.value(append(slices.Clone(key), name), KeyPath(pattern, name), f.Tag, value, below)
	}
	if h, ok := v.Interface().(Hook); ok {
		l.hookValues(key, h.Values)
	}
}

// hookValues adds the values of a hook, or of a table among them.
func (l *listing) hookValues(key toml.Key, values map[string]any) {
	shown := shownValues(values)
	for _, name := range slices.Sorted(maps.Keys(values)) {
		at := append(slices.Clone(key), name)
		if below, ok := values[name].(map[string]any); ok {
			l.hookValues(at, below)
			continue
		}
		v := reflect.ValueOf(values[name])
		s := Setting{Key: pathOf(at), Value: formatAny(shown[name]), Origin: l.config.Origins.Of(pathOf(at[:min(len(at), 3)])), Kind: kindOf(v.Type()), Meaning: "a setting of this hook"}
		if s.Secret = s.Value != formatAny(values[name]); !s.Secret {
			s.Text = settingText(v)
		}
		if s.Kind == Flag {
			s.Choices = []string{"true", "false"}
		}
		l.settings = append(l.settings, s)
	}
}

// value adds one setting, or those of a table.
func (l *listing) value(key toml.Key, pattern string, tag reflect.StructTag, v, standard reflect.Value) {
	switch {
	case v.Type() == reflect.TypeFor[[]Model](), v.Type() == reflect.TypeFor[[]Above]():
		return
	case v.Kind() == reflect.Struct || v.Kind() == reflect.Map:
		l.table(key, pattern, v, standard)
		return
	}
	if v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	path := pathOf(key)
	s := Setting{Key: path, Value: (&printer{}).shown(tag, v), Origin: l.config.Origins.Of(path), Meaning: l.meanings[pattern], Kind: kindOf(v.Type())}
	switch s.Secret = isSecret(key); {
	case s.Secret:
		s.Value = quote(withoutSecret(v.String()))
	case tag.Get("form") == "url" && printable.URL(v.String()) != v.String(): // there is a key in it
		s.Secret = true
	default:
		s.Text = settingText(v)
	}
	if standard.IsValid() {
		s.Default = formatValue(standard)
	}
	if words := strings.Fields(tag.Get("oneof")); len(words) > 0 {
		s.Choices = words
	} else if s.Kind == Flag {
		s.Choices = []string{"true", "false"}
	}
	l.settings = append(l.settings, s)
}

func kindOf(typ reflect.Type) Kind {
	switch {
	case typ == reflect.TypeFor[time.Duration]():
		return Duration
	case typ.Kind() == reflect.Bool:
		return Flag
	case typ.Kind() == reflect.Slice:
		return List
	case typ.Kind() == reflect.String:
		return Text
	}
	return Number
}

// settingText returns a value as a user types it, without the quotes of TOML.
func settingText(v reflect.Value) string {
	switch v := v.Interface().(type) {
	case string:
		return v
	case time.Duration:
		return formatDuration(v)
	case Chords:
		return joinWords(v, ", ")
	case []string:
		return joinWords(v, ",")
	}
	return formatValue(v)
}

// joinWords returns a list as a user types it; as TOML if that would be read as another.
func joinWords(words []string, separator string) string {
	for _, word := range words {
		if strings.Contains(word, separator) || strings.TrimSpace(word) != word || strings.HasPrefix(word, "[") || word == "" {
			return formatValue(reflect.ValueOf(words))
		}
	}
	return strings.Join(words, ", ")
}

// Change returns c with another value of one setting, which is not written anywhere: for a
// change that is to hold for this run. origin says where it came from. It is an error if
// [Set] would refuse the value.
func (c Config) Change(key, value, origin string, getenv func(string) string) (Config, error) {
	parts, err := parseKey(key)
	if err != nil {
		return c, err
	}
	at := place{file: origin, home: Home(getenv)}
	literal, _, err := at.literalOf(parts, value)
	if err != nil {
		return c, err
	}
	changed := c
	changed.Origins = maps.Clone(c.Origins)
	decode(&changed, at, []byte(parts.String()+" = "+literal+"\n"))
	if changed.Origins == nil {
		changed.Origins = Origins{}
	}
	changed.Origins[pathOf(parts)] = origin
	return changed, nil
}
