package hooktest

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
)

// merge changes the settings that are given in a config.toml, and leaves the others.
func merge(into, from map[string]any) {
	for key, value := range from {
		inner, isTable := value.(map[string]any)
		if old, ok := into[key].(map[string]any); ok && isTable {
			merge(old, inner)
			continue
		}
		into[key] = value
	}
}

// writeSettings writes a config.toml.
func writeSettings(path string, settings map[string]any) error {
	var b strings.Builder
	writeTable(&b, "", settings)
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		return fmt.Errorf("write the settings of the case: %w", err)
	}
	return nil
}

// writeTable writes a table of TOML: its values, then the tables in it.
func writeTable(b *strings.Builder, name string, values map[string]any) {
	if name != "" {
		fmt.Fprintf(b, "\n[%s]\n", name)
	}
	keys := slices.Sorted(maps.Keys(values))
	for _, key := range keys {
		if _, isTable := values[key].(map[string]any); !isTable {
			fmt.Fprintf(b, "%s = %s\n", tomlKey(key), tomlValue(values[key]))
		}
	}
	for _, key := range keys {
		if inner, isTable := values[key].(map[string]any); isTable {
			full := tomlKey(key)
			if name != "" {
				full = name + "." + full
			}
			writeTable(b, full, inner)
		}
	}
}

// tomlKey is a key of TOML: bare if it can be.
func tomlKey(key string) string {
	bare := key != "" && strings.Trim(key, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == ""
	if bare {
		return key
	}
	return tomlText(key)
}

// tomlValue is a value of TOML in one line.
func tomlValue(v any) string {
	switch v := v.(type) {
	case string:
		return tomlText(v)
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case []any:
		parts := make([]string, len(v))
		for i, e := range v {
			parts[i] = tomlValue(e)
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case map[string]any:
		var parts []string
		for _, key := range slices.Sorted(maps.Keys(v)) {
			parts = append(parts, tomlKey(key)+" = "+tomlValue(v[key]))
		}
		return "{ " + strings.Join(parts, ", ") + " }"
	}
	return fmt.Sprint(v)
}

// tomlText is a string of TOML.
func tomlText(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < ' ' || r == 0x7f:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
