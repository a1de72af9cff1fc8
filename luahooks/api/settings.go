package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"pi/agent/schema"
	"pi/internal/suggest"
	"pi/luavm"
	"pi/stdlib"

	lua "github.com/yuin/gopher-lua"
)

// Settings are what the settings file says of a hook.
type Settings struct {
	Table string                   // its header: hook.gate
	JSON  json.RawMessage          // an object; nil: nothing is said
	Where func(path ...any) string // file and line of a value, by keys and positions from 0
	Err   error                    // why they cannot be used; the hook does not load then
	// What the program itself reads there; it is not in JSON.
	MaxContinuations *int // nil: the hook shares max_continuations
	Answers          bool // it may answer dialogs of other hooks
	// Secret reads what a setting names as a secret, "env:NAME", "file:PATH" or "!command". The
	// error does not repeat it. nil: nothing may be named there.
	Secret func(ctx context.Context, spec string) (string, error)
}

// Setting is a setting that a hook has declared.
type Setting struct {
	Path        []string // its keys below the table of the hook
	Description string
	Type        string          // of JSON Schema; "" for any
	Choices     []string        // the texts allowed; nil: any
	Default     json.RawMessage // nil: none
	Secret      bool
	Value       json.RawMessage // in force; nil: none, or a secret
}

// settings are pi.settings and what declares them.
type settings struct {
	*bridge
	pi       *lua.LTable
	declared bool
}

func (s *settings) part() part {
	return part{"declare_settings": s.declare, "settings": value(s.undeclared)}
}

// undeclared is pi.settings as the file has them.
func (s *settings) undeclared() lua.LValue {
	fields := map[string]json.RawMessage{}
	if len(s.Settings.JSON) > 0 {
		_ = json.Unmarshal(s.Settings.JSON, &fields) // the program wrote it
	}
	return s.view(fields, nil)
}

// view shows fields as pi.settings. known are the fields that there may be; nil: any.
func (s *settings) view(fields map[string]json.RawMessage, known []string) lua.LValue {
	return s.vm.ViewOf(luavm.View{Of: "pi.settings", Names: slices.Sorted(maps.Keys(fields)), Known: known,
		Read: func(name string) lua.LValue { return s.records.JSON(fields[name]) }})
}

// declare is pi.declare_settings(schema): it checks what the settings file says, fills in
// defaults, reads secrets, and returns pi.settings. What does not fit raises, with the line
// in the settings file, so that the hook does not load.
func (s *settings) declare(L *lua.LState, table *lua.LTable) lua.LValue {
	const function = "declare_settings"
	switch {
	case !s.vm.Loading():
		luavm.Raise(L, "%s: only while the hook loads, at the level of the file", function)
	case s.declared:
		luavm.Raise(L, "%s: called twice; one schema describes all settings of a hook", function)
	}
	s.declared = true
	d := s.readSchema(L, function, table)
	values, err := decodeObject(s.Settings.JSON)
	must(L, function, err)
	values = withDefaults(d.tree, values)
	must(L, function, s.checkKnown(d.tree, values, nil))
	list := declaredIn(d.tree, withoutSecrets(d.tree, values), nil)
	must(L, function, s.wait(L, function, func(ctx context.Context) error {
		values, err = s.readSecrets(ctx, d.tree, values)
		return err
	}))
	must(L, function, s.checkValues(d, values))
	fields := map[string]json.RawMessage{}
	for name, v := range values {
		fields[name], err = json.Marshal(v)
		must(L, function, err)
	}
	s.registered.Settings.Store(&list)
	properties, _ := d.tree["properties"].(map[string]any)
	view := s.view(fields, append(slices.Sorted(maps.Keys(properties)), slices.Sorted(maps.Keys(fields))...))
	luavm.Set(s.pi, "settings", view)
	return view
}

// settingsSchema is the schema of a hook's settings: as a tree, and ready to check.
type settingsSchema struct {
	tree    map[string]any
	checker *schema.Checker
}

// readSchema reads the schema of settings. Keys that it does not name are not allowed, unless
// it says so: a mistyped setting would have no effect.
func (s *settings) readSchema(L *lua.LState, function string, table *lua.LTable) settingsSchema {
	if wrong := stdlib.WrongParameters(L, table); wrong != "" {
		luavm.Raise(L, "%s: %s", function, wrong)
	}
	raw, err := s.records.Encode(table, "schema")
	must(L, function, err)
	tree, err := decodeObject(raw)
	must(L, function, err)
	if hasStraySecret(tree, true) {
		luavm.Raise(L, "%s: %v", function, errSecretElsewhere)
	}
	closeObjects(tree)
	raw, err = json.Marshal(tree)
	must(L, function, err)
	checker, err := schema.Compile(raw)
	must(L, function, err)
	if len(checker.Dropped) > 0 {
		luavm.Raise(L, "%s: %s of the schema means nothing", function, checker.Dropped[0])
	}
	return settingsSchema{tree, checker}
}

// decodeObject decodes a JSON object, with its numbers as they are written; nothing is an
// empty one.
func decodeObject(raw json.RawMessage) (map[string]any, error) {
	object := map[string]any{}
	if len(raw) == 0 {
		return object, nil
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	err := d.Decode(&object)
	return object, err
}

// propertiesOf returns the schemas of an object's fields.
func propertiesOf(of map[string]any) map[string]map[string]any {
	fields := map[string]map[string]any{}
	properties, _ := of["properties"].(map[string]any)
	for name, below := range properties {
		if field, ok := below.(map[string]any); ok {
			fields[name] = field
		}
	}
	return fields
}

// fieldOf returns the schema of a field, which may be one of those without a name; nil: none.
func fieldOf(of map[string]any, name string) map[string]any {
	if field, named := propertiesOf(of)[name]; named {
		return field
	}
	return others(of)
}

// others returns the schema of the fields of an object that have no name in it; nil: none.
func others(of map[string]any) map[string]any {
	field, _ := of["additionalProperties"].(map[string]any)
	return field
}

// itemsOf returns the schema of the elements of a list; nil: none.
func itemsOf(of map[string]any) map[string]any {
	items, _ := of["items"].(map[string]any)
	return items
}

// closeObjects makes the objects of a schema that name fields allow no others, unless they say
// which.
func closeObjects(of map[string]any) {
	if fields := propertiesOf(of); len(fields) > 0 || of["type"] == "object" && of["additionalProperties"] == nil && of["properties"] != nil {
		if _, says := of["additionalProperties"]; !says {
			of["additionalProperties"] = false
		}
		for _, field := range fields {
			closeObjects(field)
		}
	}
	for _, below := range []map[string]any{others(of), itemsOf(of)} {
		if below != nil {
			closeObjects(below)
		}
	}
}

// withDefaults returns values with the defaults of a schema where they have nothing. What it
// returns shares nothing with the schema.
func withDefaults(of, values map[string]any) map[string]any {
	filled := maps.Clone(values)
	for name, field := range propertiesOf(of) {
		standard, has := field["default"]
		if _, there := values[name]; !there && has {
			filled[name] = standard
		}
	}
	for name, v := range filled {
		filled[name] = withDefaultsIn(fieldOf(of, name), v)
	}
	return filled
}

// withDefaultsIn is withDefaults for any value.
func withDefaultsIn(of map[string]any, value any) any {
	switch v := value.(type) {
	case map[string]any:
		return withDefaults(of, v)
	case []any:
		filled := slices.Clone(v)
		for i, elem := range v {
			filled[i] = withDefaultsIn(itemsOf(of), elem)
		}
		return filled
	}
	return value
}

// checkKnown returns an error about a key that the schema does not have, with its line and the
// one that was probably meant.
func (s *settings) checkKnown(of, values map[string]any, path []any) error {
	fields := propertiesOf(of)
	for _, name := range slices.Sorted(maps.Keys(values)) {
		at := append(slices.Clone(path), name)
		if _, known := fields[name]; !known && of["additionalProperties"] == false {
			return s.problem(at, fmt.Sprintf("there is no such setting%s", suggest.Hint(name, slices.Sorted(maps.Keys(fields)))))
		}
		if err := s.checkKnownIn(fieldOf(of, name), values[name], at); err != nil {
			return err
		}
	}
	return nil
}

// checkKnownIn is checkKnown for what is in a value.
func (s *settings) checkKnownIn(of map[string]any, value any, path []any) error {
	switch v := value.(type) {
	case map[string]any:
		return s.checkKnown(of, v, path)
	case []any:
		for i, elem := range v {
			if err := s.checkKnownIn(itemsOf(of), elem, append(slices.Clone(path), i)); err != nil {
				return err
			}
		}
	}
	return nil
}

// isSecretSchema reports whether the values of a schema are secrets.
func isSecretSchema(of map[string]any) bool { return of["secret"] == true }

var (
	errSecretAsItself  = errors.New(`a secret does not stand here itself: "env:NAME" names a variable, "file:PATH" a file, "!command" a command that prints it`)
	errSecretElsewhere = errors.New("secret = true is for a field of an object, a value of a map or an element of a list: elsewhere nobody can know whether a value is one")
)

// hasStraySecret reports whether a schema says secret where replaceSecrets does not look, as in
// any_of: what stands there would be handed out, and shown, as it is. looked is whether it
// looks at the values of this schema itself.
func hasStraySecret(schema any, looked bool) bool {
	switch at := schema.(type) {
	case map[string]any:
		if !looked && isSecretSchema(at) {
			return true
		}
		for key, below := range at {
			switch key {
			case "default", "const", "enum", "examples": // values, not schemas
			case "properties":
				for _, field := range propertiesOf(at) {
					if hasStraySecret(field, looked) {
						return true
					}
				}
			default:
				if hasStraySecret(below, looked && (key == "additionalProperties" || key == "items")) {
					return true
				}
			}
		}
	case []any:
		return slices.ContainsFunc(at, func(below any) bool { return hasStraySecret(below, looked) })
	}
	return false
}

// replaceSecrets returns values in which those that the schema says are secrets are what with
// makes of them.
func replaceSecrets(of, values map[string]any, path []any, with func(spec string, path []any) (string, error)) (map[string]any, error) {
	replaced := make(map[string]any, len(values))
	for name, v := range values {
		var err error
		if replaced[name], err = replaceSecretsIn(fieldOf(of, name), v, append(slices.Clone(path), name), with); err != nil {
			return nil, err
		}
	}
	return replaced, nil
}

// replaceSecretsIn is replaceSecrets for any value.
func replaceSecretsIn(of map[string]any, value any, path []any, with func(spec string, path []any) (string, error)) (any, error) {
	switch v := value.(type) {
	case string:
		if isSecretSchema(of) && v != "" {
			return with(v, path)
		}
	case map[string]any:
		return replaceSecrets(of, v, path, with)
	case []any:
		replaced := slices.Clone(v)
		for i, elem := range v {
			var err error
			if replaced[i], err = replaceSecretsIn(itemsOf(of), elem, append(slices.Clone(path), i), with); err != nil {
				return nil, err
			}
		}
		return replaced, nil
	}
	return value, nil
}

// readSecrets puts secrets in the place of what names them.
func (s *settings) readSecrets(ctx context.Context, of, values map[string]any) (map[string]any, error) {
	return replaceSecrets(of, values, nil, func(spec string, path []any) (string, error) { return s.readSecret(ctx, spec, path) })
}

// withoutSecrets returns values as they may be shown, before secrets are read: of a command that
// prints one nothing but that it is a command.
func withoutSecrets(of, values map[string]any) map[string]any {
	shown, _ := replaceSecrets(of, values, nil, func(spec string, _ []any) (string, error) { // which does not fail
		if strings.HasPrefix(spec, "!") {
			return "!…", nil
		}
		return spec, nil
	})
	return shown
}

// readSecret returns the secret that a setting names.
func (s *settings) readSecret(ctx context.Context, spec string, path []any) (string, error) {
	named := slices.ContainsFunc([]string{"env:", "file:", "!"}, func(prefix string) bool { return strings.HasPrefix(spec, prefix) })
	switch {
	case s.Settings.Secret == nil:
		return "", s.problem(path, "a project's settings hold no secrets and name none: env:, file: and !command count in your own config.toml, for hooks of your own")
	case !named:
		return "", s.problem(path, errSecretAsItself.Error())
	}
	secret, err := s.Settings.Secret(ctx, spec)
	if err != nil {
		return "", s.problem(path, err.Error())
	}
	return secret, nil
}

// checkValues returns an error about a value that does not fit the schema, with its line. It
// does not repeat a secret.
func (s *settings) checkValues(d settingsSchema, values map[string]any) error {
	raw, err := json.Marshal(values)
	if err != nil {
		return err
	}
	place, what := d.checker.Find(raw)
	if what == "" {
		return nil
	}
	path, at := []any{}, d.tree
	for _, part := range place {
		path = append(path, part)
		switch part := part.(type) {
		case string:
			at = fieldOf(at, part)
		case int:
			at = itemsOf(at)
		}
	}
	if isSecretSchema(at) {
		what = "the secret is none that the hook can use"
	}
	return s.problem(path, what)
}

// problem is an error about a setting: where it stands, its key, and what is wrong.
func (s *settings) problem(path []any, what string) error {
	key := s.Settings.Table
	for _, part := range path {
		if i, isIndex := part.(int); isIndex {
			key += fmt.Sprintf("[%d]", i)
		} else {
			key += fmt.Sprintf(".%v", part)
		}
	}
	where := "config.toml"
	if s.Settings.Where != nil {
		where = s.Settings.Where(path...)
	}
	return fmt.Errorf("%s: %s: %s", where, key, what)
}

// declaredIn lists the settings of a schema, in the order of their keys: an object with fields
// is its fields.
func declaredIn(of, values map[string]any, path []string) (list []Setting) {
	fields := propertiesOf(of)
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		field, at := fields[name], append(slices.Clone(path), name)
		below, isTable := values[name].(map[string]any)
		if len(propertiesOf(field)) > 0 && (isTable || values[name] == nil) {
			list = append(list, declaredIn(field, below, at)...)
			continue
		}
		list = append(list, describeSetting(field, values[name], at))
	}
	return list
}

// describeSetting describes one setting by its schema.
func describeSetting(of map[string]any, value any, path []string) Setting {
	s := Setting{Path: path, Secret: isSecretSchema(of)}
	s.Description, _ = of["description"].(string)
	s.Type, _ = of["type"].(string)
	if words, ok := of["enum"].([]any); ok {
		for _, word := range words {
			s.Choices = append(s.Choices, fmt.Sprint(word))
		}
	}
	if standard, has := of["default"]; has && !s.Secret {
		s.Default, _ = json.Marshal(standard)
	}
	if value != nil && !s.Secret {
		s.Value, _ = json.Marshal(value)
	}
	return s
}
