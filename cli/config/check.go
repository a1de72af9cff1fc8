package config

import (
	"fmt"
	"net/url"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"time"

	"pi/internal/printable"
	"pi/internal/suggest"
)

// The rules that a value of the right type must still obey, and the messages about
// one that does not.

// checkText checks a string against the rules in the tag of its setting and returns it in
// the form in which it is stored, such as an absolute path. A false means that it broke a
// rule, which was reported.
func (d *decoder) checkText(t target, s string) (string, bool) {
	var text string
	if words := t.tag.Get("oneof"); words != "" {
		text = notOneOf(t.path, s, strings.Fields(words))
	} else {
		s, text = d.normalize(t, s)
	}
	if text != "" {
		if t.dst.Kind() != reflect.String { // an element of a list
			d.report(d.line(t.path), text)
		} else {
			d.reject(t, text)
		}
	}
	return s, text == ""
}

// normalize converts a string to the form that the tag of its setting names, such as an
// absolute path; problem says why that cannot be done.
func (d *decoder) normalize(t target, s string) (kept, problem string) {
	switch t.tag.Get("form") {
	case "url":
		if printable.URL(s) != s {
			d.notePlainKey(t.path)
		}
		return CleanURL(t.path, s)
	case "key":
		d.checkKey(t.path, s)
	case "path":
		return d.absolute(s), ""
	case "program":
		if strings.ContainsAny(s, `/\`) {
			return d.absolute(s), ""
		}
	case "disable":
		if strings.HasPrefix(s, "~") || strings.ContainsAny(s, "/"+string(filepath.Separator)) { // a path, not a name
			s = d.absolute(s)
		}
		return s, emptyElement(t.path, s)
	case "hooks": // a project may name only files inside of it, also with symbolic links followed
		if text := emptyElement(t.path, s); text != "" {
			return "", text
		}
		path := d.absolute(s)
		if d.project != "" && !insideProject(d.project, path) {
			return "", fmt.Sprintf("key %q: %q lies outside the project and is ignored", t.path, printable.Short(s))
		}
		return path, ""
	}
	if t.dst.Kind() == reflect.Slice {
		return s, emptyElement(t.path, s)
	}
	return s, ""
}

// emptyElement returns the message about an empty string in a list; "" if s is not empty.
func emptyElement(path, s string) string {
	if strings.TrimSpace(s) == "" {
		return fmt.Sprintf("key %q: an empty string names nothing", path)
	}
	return ""
}

// absolute makes a path absolute: ~ is the home directory, anything else is
// relative to the file that names it. Empty stays empty.
func (d *decoder) absolute(path string) string {
	if path == "" {
		return ""
	}
	path = Expand(path, d.home)
	if !filepath.IsAbs(path) {
		path = filepath.Join(filepath.Dir(d.file), path)
	}
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	return filepath.Clean(path)
}

// insideProject reports whether path is inside of the project, also with symbolic links
// followed. A file that does not exist counts as inside: loading it fails later.
func insideProject(project, path string) bool {
	root, err := filepath.Abs(project)
	if err != nil || !isBelow(root, path) {
		return false
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return true // missing: whoever loads it says so
	}
	realRoot, err := filepath.EvalSymlinks(root)
	return err == nil && isBelow(realRoot, real)
}

func isBelow(root, path string) bool {
	rel, err := filepath.Rel(root, path)
	return err == nil && rel != "." && filepath.IsLocal(rel)
}

// CleanURL returns an address without slashes at its end. problem is set if it is not http
// or https with a host; it does not repeat the value, which may have a password in it. An
// empty one is no problem.
func CleanURL(path, s string) (kept, problem string) {
	u, err := url.Parse(s)
	switch {
	case s == "":
		return "", ""
	case IsMasked(s):
		return "", fmt.Sprintf("key %q: this copy of the settings is in force until a change is approved, and does not have the password of the address; `pi trust` shows the change and asks", path)
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return "", fmt.Sprintf("key %q: expected an address such as \"http://localhost:8080/v1\"", path)
	}
	return strings.TrimRight(s, "/"), ""
}

// checkKey notes where an API key is written in plain text. It warns of one that looks
// like the name of a variable, for it would be sent as the key.
func (d *decoder) checkKey(path, s string) {
	if s == "" || NamesSecret(s) {
		return
	}
	if NamesVariable(s) {
		d.warn(d.line(path), fmt.Sprintf("key %q looks like the name of a variable, but is sent as it stands; "+
			"\"env:NAME\" reads a variable", path))
		return
	}
	d.notePlainKey(path)
}

// notePlainKey remembers the first line with a secret in plain text, about which loadFile
// warns if others may read the file.
func (d *decoder) notePlainKey(path string) {
	if d.literalKey == 0 {
		d.literalKey = d.line(path)
	}
}

// notOneOf returns the message about a word that is not among words, with a suggestion; ""
// if it is among them.
func notOneOf(path, s string, words []string) string {
	for _, w := range words {
		if s == w {
			return ""
		}
	}
	text := fmt.Sprintf("key %q: %q is none of %s", path, printable.Short(s), strings.Join(words, ", "))
	if near := suggest.Nearest(s, words); near != "" {
		text += fmt.Sprintf("; did you mean %q?", near)
	}
	return text
}

// outOfRange is the message about a number or a duration below its least value or above its
// largest; "" if it is neither.
func outOfRange(t target, v reflect.Value) string {
	if t.tag.Get("min") == "" {
		return ""
	}
	n := 0.0
	if v.CanFloat() {
		n = v.Float()
	} else {
		n = float64(v.Int())
	}
	if least, err := strconv.ParseFloat(t.tag.Get("min"), 64); err == nil && n < least {
		return fmt.Sprintf("key %q: must be at least %s, found %s", t.path, t.tag.Get("min"), formatValue(v))
	}
	if most, err := strconv.ParseFloat(t.tag.Get("max"), 64); err == nil && n > most {
		return fmt.Sprintf("key %q: must be at most %s, found %s", t.path, t.tag.Get("max"), formatValue(v))
	}
	return ""
}

// wrongType returns the message about a value v of the wrong type. If the type is right,
// the number is too large for its setting.
func wrongType(path, expected string, v any) string {
	found := tomlType(v)
	if found == "string" && strings.HasPrefix(expected, "duration ") {
		found = "string that is none"
	}
	if found == expected {
		return fmt.Sprintf("key %q: number is too large", path)
	}
	return fmt.Sprintf("key %q: expected %s, found %s", path, expected, found)
}

// tomlType returns what the type of a decoded value is called in messages.
func tomlType(v any) string {
	switch v := v.(type) {
	case string:
		return "string"
	case int64:
		return "integer"
	case float64:
		if v-v != 0 {
			return "infinity or NaN"
		}
		return "float"
	case bool:
		return "boolean"
	case time.Time:
		return "date or time"
	case map[string]any:
		return "table"
	case []map[string]any:
		return "list of tables"
	}
	return "list"
}

// unknownKey returns the message about a key that does not exist in table. It suggests the
// nearest key of the table or, because a key below the wrong [table] is the usual mistake,
// the place where a key of that name exists.
func unknownKey(full, key, table string, typ reflect.Type) string {
	text := fmt.Sprintf("unknown key %q", full)
	if near := suggest.Nearest(key, keysOf(typ)); near != "" {
		return text + fmt.Sprintf(", did you mean %q?", KeyPath(table, near))
	}
	for _, known := range settingPaths(reflect.TypeFor[Config](), "") {
		if known == key || strings.HasSuffix(known, "."+key) {
			if table != "" && known == key {
				return text + fmt.Sprintf(", did you mean %q? (it stands above the first [table])", known)
			}
			return text + fmt.Sprintf(", did you mean %q?", known)
		}
	}
	return text
}

// keysOf returns the keys that a table of this type may have.
func keysOf(typ reflect.Type) []string {
	var keys []string
	for _, f := range reflect.VisibleFields(typ) {
		if name := f.Tag.Get("toml"); name != "" && name != "-" {
			keys = append(keys, name)
		}
	}
	return keys
}

// settingPaths returns the paths of all settings and tables below a type; NAME stands for
// a name that the user chooses.
func settingPaths(typ reflect.Type, parent string) []string {
	var paths []string
	for _, f := range reflect.VisibleFields(typ) {
		name := f.Tag.Get("toml")
		if name == "" || name == "-" {
			continue
		}
		path, typ := KeyPath(parent, name), f.Type
		paths = append(paths, path)
		switch typ.Kind() {
		case reflect.Map:
			path, typ = path+".NAME", typ.Elem()
		case reflect.Slice, reflect.Pointer:
			typ = typ.Elem()
		}
		if typ.Kind() == reflect.Struct {
			paths = append(paths, settingPaths(typ, path)...)
		}
	}
	return paths
}
