package config

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// Declared is a setting that a hook has declared, as it says.
type Declared struct {
	Hook           string
	OfProject      bool     // of a hook of the project, whose settings stand in the project's file
	Path           []string // its keys below the table of the hook
	Meaning        string
	Type           string // of JSON Schema
	Choices        []string
	Default, Value json.RawMessage // nil: none, or a secret
	Secret         bool
}

// IsOfHook reports whether a setting is one of [hook.NAME].
func IsOfHook(key string) bool { return strings.HasPrefix(key, hookKey+".") }

// Key is the name of the setting among all others. [Set] takes that of a user's hook.
func (d Declared) Key() string {
	key := KeyPath(hookKey, d.Hook)
	for _, part := range d.Path {
		key = KeyPath(key, part)
	}
	if d.OfProject {
		key = "project " + key
	}
	return key
}

// SettingsWith is [Config.Settings] with what hooks have declared: those that are set say what
// the hook says of them, and the others are there with their defaults.
func (c Config) SettingsWith(declared []Declared) []Setting {
	all := c.Settings()
	for _, d := range declared {
		s := d.setting(c)
		i := slices.IndexFunc(all, func(s Setting) bool { return s.Key == d.Key() })
		if i < 0 {
			all = append(all, s)
			continue
		}
		if d.Secret {
			s.Value = quote(withoutSecret(all[i].Text))
		}
		all[i] = s
	}
	return all
}

// setting describes a declared setting as it is in force.
func (d Declared) setting(c Config) Setting {
	origin := c.Origins.Of(pathOf(append([]string{hookKey, d.Hook}, d.Path[:1]...)))
	if h, ok := c.ProjectHook[d.Hook]; d.OfProject && ok && h.has(d.Path) {
		origin = h.Where(anyOf(d.Path)...)
	} else if d.OfProject {
		origin = "default"
	}
	s := Setting{Key: d.Key(), Default: tomlOf(d.Default), Origin: origin, Meaning: d.Meaning, Kind: kindOfType(d.Type), Choices: d.Choices, Secret: d.Secret}
	if s.Kind == Flag {
		s.Choices = []string{"true", "false"}
	}
	if !d.Secret {
		s.Value, s.Text = tomlOf(d.Value), textOf(d.Value)
	}
	return s
}

// has reports whether the table of a hook has a value at a path.
func (h Hook) has(path []string) bool {
	var at any = h.Values
	for _, part := range path {
		table, _ := at.(map[string]any)
		below, ok := table[part]
		if !ok {
			return false
		}
		at = below
	}
	return true
}

func anyOf(path []string) (parts []any) {
	for _, part := range path {
		parts = append(parts, part)
	}
	return parts
}

// kindOfType is the kind of a setting by its type in JSON Schema.
func kindOfType(typ string) Kind {
	switch typ {
	case "boolean":
		return Flag
	case "integer", "number":
		return Number
	case "array":
		return List
	}
	return Text
}

// decodeJSON decodes a value of a hook; nil for none.
func decodeJSON(raw json.RawMessage) any {
	if len(raw) == 0 {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return nil
	}
	return v
}

// tomlOf writes a value as TOML does; nothing is "".
func tomlOf(raw json.RawMessage) string {
	v := decodeJSON(raw)
	if v == nil {
		return ""
	}
	return formatJSON(v)
}

// formatJSON writes a decoded JSON value as TOML does, with its numbers as they were.
func formatJSON(v any) string {
	var parts []string
	switch v := v.(type) {
	case json.Number:
		return v.String()
	case []any:
		for _, elem := range v {
			parts = append(parts, formatJSON(elem))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			parts = append(parts, KeyPath("", key)+" = "+formatJSON(v[key]))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	return formatAny(v)
}

// textOf is a value as a user types it.
func textOf(raw json.RawMessage) string {
	if s, ok := decodeJSON(raw).(string); ok {
		return s
	}
	return tomlOf(raw)
}
