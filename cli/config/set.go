package config

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"
	"time"

	"pi/internal/safefile"
	"pi/internal/suggest"

	"github.com/BurntSushi/toml"
)

// Set writes a setting into the config.toml at path, which is made, readable by its owner
// alone, if it is not there; through links, the file that they lead to is changed. Key is
// written as in messages: "thinking", "compaction.enabled", "providers.local.api_key"; the
// text of value is read as the type of the setting wants it. All else in the file stays as
// it is, to the byte. warnings are about the value.
//
// Nothing is written if the value is not one that [Load] would use, if the file cannot be
// read or parsed, or if there is no place for the key in it.
func Set(path, key, value string, getenv func(string) string) (warnings []Problem, err error) {
	parts, err := parseKey(key)
	if err != nil {
		return nil, fmt.Errorf("set %q: %w", key, err)
	}
	at := place{file: path, home: Home(getenv)}
	literal, warnings, err := at.literalOf(parts, value)
	if err != nil {
		return nil, fmt.Errorf("set %q: %w", key, err)
	}
	err = rewrite(path, isSecret(parts), func(text string) (string, error) { return withKey(text, parts, literal) })
	if err != nil {
		return nil, fmt.Errorf("set %q: %w", key, err)
	}
	return warnings, nil
}

// Unset removes a setting from the config.toml at path, so that it has its default again.
// was is false if the file did not have it; it is an error if there is no such setting
// either. The comments above the line stay.
func Unset(path, key string) (was bool, err error) {
	parts, err := parseKey(key)
	if err == nil {
		err = rewrite(path, false, func(text string) (string, error) {
			changed, err := withoutKey(text, parts)
			was = changed != text
			return changed, err
		})
	}
	if err == nil && !was {
		_, _, err = settingAt(parts)
	}
	if err != nil {
		return false, fmt.Errorf("unset %q: %w", key, err)
	}
	return was, nil
}

// parseKey returns the parts of a key as it is written in TOML.
func parseKey(key string) (toml.Key, error) {
	var doc map[string]any
	meta, err := toml.Decode(key+" = 0", &doc)
	if keys := meta.Keys(); err == nil && len(keys) > 0 && len(key) <= maxKey {
		if last := keys[len(keys)-1]; len(last) <= maxDepth && len(doc) == 1 {
			return last, nil
		}
	}
	return nil, errors.New(`not a key such as "thinking" or "compaction.enabled"`)
}

// rewrite replaces the text of the file at path by what change makes of it. Who may read
// the file stays as it was, unless a secret was put into it.
func rewrite(path string, secret bool, change func(text string) (string, error)) error {
	was, _ := os.Stat(path)
	written := false
	err := safefile.Change(path, readSettings, func(old []byte) ([]byte, error) {
		text, err := change(string(old))
		written = err == nil && text != string(old)
		return []byte(text), err
	})
	if err != nil || !written || secret || was == nil || was.Mode().Perm() == 0o600 {
		return err
	}
	return os.Chmod(path, was.Mode().Perm())
}

// readSettings returns the text of a file that can be edited.
func readSettings(path string) ([]byte, error) {
	data, _, err := ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", Tilde(path), err)
	}
	var doc map[string]any
	if _, beyond := indexLines(string(data)); beyond != nil {
		return nil, fmt.Errorf("mend %s:%d first: %s", Tilde(path), beyond.line, beyond.text)
	}
	if _, err := toml.Decode(string(data), &doc); err != nil {
		line, text := syntaxProblem(err, string(data))
		return nil, fmt.Errorf("mend %s:%d first: %s", Tilde(path), line, text)
	}
	return data, nil
}

// What a user types as the value of a setting has no type of its own: that of the
// setting decides how it is written in TOML, and the rules of the loader whether it may be.

// literalOf returns the text of value as TOML, after the loader has agreed to it, and what
// the loader warns of.
func (at place) literalOf(key toml.Key, value string) (literal string, warnings []Problem, err error) {
	typ, _, err := settingAt(key)
	if err != nil {
		return "", nil, err
	}
	literal, err = typedLiteral(key, typ, value)
	if err != nil {
		return "", nil, err
	}
	cfg := Config{Origins: Origins{}}
	d := decode(&cfg, at, []byte(key.String()+" = "+literal+"\n"))
	for _, p := range d.problems {
		if !p.Warning || cfg.Origins.Of(pathOf(key)) == "default" {
			return "", nil, errors.New(p.Text)
		}
		p.Line = 0
		warnings = append(warnings, p)
	}
	return literal, warnings, nil
}

// settingAt returns the type of the setting at key, and its tag. It is an error if there is
// no such setting, or if it is a table or in a list of tables.
func settingAt(key toml.Key) (typ reflect.Type, tag reflect.StructTag, err error) {
	if hookSetting(key) {
		return reflect.TypeFor[any](), "", nil
	}
	typ = reflect.TypeFor[Config]()
	for i, part := range key {
		parent := pathOf(key[:i])
		switch {
		case typ.Kind() == reflect.Struct:
			field, ok := fieldOf(typ, part)
			if !ok {
				return nil, "", errors.New(unknownKey(pathOf(key[:i+1]), part, parent, typ))
			}
			typ, tag = field.Type, field.Tag
		case typ.Kind() == reflect.Map:
			typ = typ.Elem()
		case typ == reflect.TypeFor[[]Model](), typ == reflect.TypeFor[[]Above]():
			return nil, "", fmt.Errorf("%q is a list of tables; edit the file by hand", parent)
		default:
			return nil, "", fmt.Errorf("%q is no table", parent)
		}
	}
	switch {
	case typ == reflect.TypeFor[[]Model](), typ == reflect.TypeFor[[]Above]():
		return nil, "", fmt.Errorf("%q is a list of tables; edit the file by hand", pathOf(key))
	case typ.Kind() == reflect.Struct:
		return nil, "", fmt.Errorf("%q is a table; set one of its keys: %s", pathOf(key), strings.Join(keysOf(typ), ", "))
	case typ.Kind() == reflect.Map:
		return nil, "", fmt.Errorf("%q is a table; set one key of it, such as %s", pathOf(key), KeyPath(pathOf(key), "NAME"))
	}
	return typ, tag, nil
}

// isSecret reports whether the value of a setting is never shown.
func isSecret(key toml.Key) bool {
	_, tag, err := settingAt(key)
	return err == nil && tag.Get("secret") != "" || isHiddenHookSetting(key)
}

// typedLiteral writes the text of a value as TOML.
func typedLiteral(key toml.Key, typ reflect.Type, value string) (string, error) {
	switch typ {
	case reflect.TypeFor[Chords]():
		return listLiteral(key, value, ", ")
	case reflect.TypeFor[[]string]():
		return listLiteral(key, value, ",")
	case reflect.TypeFor[time.Duration]():
		return quote(value), nil
	}
	switch typ.Kind() {
	case reflect.String:
		return quote(value), nil
	case reflect.Interface: // a switch, whose type only its API knows
		if parsed, ok := parseValue(value); ok {
			return formatAny(parsed), nil
		}
		return quote(value), nil
	}
	parsed, ok := parseValue(value)
	if !ok {
		parsed = value
	}
	if _, isText := parsed.(string); isText {
		return "", errors.New(wrongText(pathOf(key), typ, value))
	}
	return formatAny(parsed), nil
}

// wrongText returns the message about a text where a number or a boolean is wanted.
func wrongText(path string, typ reflect.Type, value string) string {
	if typ.Kind() != reflect.Bool {
		return wrongType(path, map[bool]string{true: "integer", false: "number"}[typ.Kind() == reflect.Int], value)
	}
	text := fmt.Sprintf("key %q: expected true or false", path)
	if near := suggest.Nearest(value, []string{"true", "false"}); near != "" {
		text += fmt.Sprintf("; did you mean %s?", near)
	}
	return text
}

// parseValue reads a text that is a value in TOML, in one line.
func parseValue(text string) (value any, ok bool) {
	if strings.ContainsAny(text, "\r\n") || len(text) > maxSize {
		return nil, false
	}
	line := "value = " + text
	if _, beyond := indexLines(line); beyond != nil {
		return nil, false
	}
	var doc map[string]any
	_, err := toml.Decode(line, &doc)
	return doc["value"], err == nil && len(doc) == 1
}

// listLiteral writes a list of words: as TOML has it, or with a separator between them.
// An empty text is an empty list.
func listLiteral(key toml.Key, value, separator string) (string, error) {
	if strings.HasPrefix(strings.TrimSpace(value), "[") {
		parsed, ok := parseValue(strings.TrimSpace(value))
		if !ok {
			return "", fmt.Errorf(`key %q: expected a list such as ["a", "b"], or "a, b"`, pathOf(key))
		}
		return formatAny(parsed), nil
	}
	words := []string{}
	for word := range strings.SplitSeq(value, separator) {
		if word = strings.TrimSpace(word); word != "" {
			words = append(words, word)
		}
	}
	return formatValue(reflect.ValueOf(words)), nil
}
