package keymap

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"pi/internal/suggest"
)

// escEsc is the one chord that may begin with esc: terminals send esc and another key for
// alt and that key.
const escEsc = "esc esc"

func namedKeys() []string {
	return []string{"enter", "esc", "tab", "space", "backspace", "delete", "insert", "up", "down", "left", "right", "home", "end",
		"pageup", "pagedown", "f1", "f2", "f3", "f4", "f5", "f6", "f7", "f8", "f9", "f10", "f11", "f12",
		"f13", "f14", "f15", "f16", "f17", "f18", "f19", "f20", "f21", "f22", "f23", "f24"}
}

// modifierNames are in the order in which they are written before a key.
func modifierNames() []string { return []string{"super", "ctrl", "alt", "shift"} }

// ParseChord writes a key, or two keys with a blank between them, in the one way in
// which keys are compared: "Control+X Up" is "ctrl+x up". The error says what is wrong with
// it and, if it can, what was meant. A key that types a character is an error, unless it
// comes second.
func ParseChord(s string) (string, error) {
	fields := strings.Fields(s)
	if len(fields) == 0 || len(fields) > 2 {
		return "", fmt.Errorf("%q is no key; keys are like ctrl+x, alt+enter, f5, or two with a blank between", s)
	}
	for i, field := range fields {
		key, err := parseKey(field)
		if err != nil {
			return "", err
		}
		fields[i] = key
	}
	chord := strings.Join(fields, " ")
	switch {
	case types(fields[0]):
		return "", fmt.Errorf("%q types a character; a key to bind has ctrl or alt, or is one like f5", s)
	case len(fields) == 2 && fields[0] == "esc" && chord != escEsc:
		return "", fmt.Errorf("%q cannot be told from alt+%s; only %s may begin with esc", s, fields[1], escEsc)
	}
	return chord, nil
}

// KeyName writes a key as a terminal names it, however it was written: "Shift+Control+X" is
// "ctrl+shift+x". A character stays as it is, and so does what is no key.
func KeyName(s string) string {
	if key, err := parseKey(strings.TrimSpace(s)); err == nil && utf8.RuneCountInString(s) > 1 {
		return key
	}
	return s
}

// parseKey writes one key in the usual way.
func parseKey(s string) (string, error) {
	base, modifiers := splitKey(strings.ToLower(s))
	if long, ok := map[string]string{"escape": "esc", "return": "enter", "del": "delete", "ins": "insert", "pgup": "pageup",
		"pgdn": "pagedown", "page_up": "pageup", "page_down": "pagedown"}[base]; ok {
		base = long
	}
	if !slices.Contains(namedKeys(), base) && !isCharacter(base) {
		return "", fmt.Errorf("there is no key %q%s", s, suggest.Hint(base, namedKeys()))
	}
	for i, m := range modifiers {
		if modifiers[i] = modifier(m); modifiers[i] == "" {
			return "", fmt.Errorf("there is no key %q: before + is ctrl, alt, shift or super%s", s, suggest.Hint(m, modifierNames()))
		}
	}
	return canonical(joinKey(base, modifiers)), nil
}

// splitKey parts a key from its modifiers.
func splitKey(s string) (base string, modifiers []string) {
	if s == "+" || strings.HasSuffix(s, "++") {
		base, s = "+", strings.TrimSuffix(strings.TrimSuffix(s, "+"), "+")
	} else {
		i := strings.LastIndexByte(s, '+')
		base, s = s[i+1:], s[:max(i, 0)]
	}
	if s == "" {
		return base, nil
	}
	return base, strings.Split(s, "+")
}

// modifier is the usual name of a modifier; "": there is none.
func modifier(name string) string {
	switch name {
	case "control":
		return "ctrl"
	case "option", "meta":
		return "alt"
	case "cmd", "command", "win":
		return "super"
	}
	if slices.Contains(modifierNames(), name) {
		return name
	}
	return ""
}

// joinKey puts modifiers before a key, each once and in their order.
func joinKey(base string, modifiers []string) string {
	for _, m := range slices.Backward(modifierNames()) {
		if slices.Contains(modifiers, m) {
			base = m + "+" + base
		}
	}
	return base
}

// isCharacter reports whether a base is one that can be seen, and so the name of its key.
func isCharacter(base string) bool {
	r, n := utf8.DecodeRuneInString(base)
	return n == len(base) && r > ' ' && r != utf8.RuneError && unicode.IsPrint(r)
}

// types reports whether a key types something.
func types(key string) bool {
	base := strings.TrimPrefix(key, "shift+")
	return base == "space" || isCharacter(base)
}

// canonical gives the keys one name that terminals send in one way, or that some tell
// apart and others do not: who bound ctrl+m would be without Enter in half of the
// terminals.
func canonical(key string) string {
	switch key {
	case "ctrl+i":
		return "tab"
	case "ctrl+m":
		return "enter"
	case "ctrl+[":
		return "esc"
	case "ctrl+@":
		return "ctrl+space"
	case "ctrl+/", "ctrl+7", "ctrl+shift+-", "ctrl+shift+_":
		return "ctrl+_"
	}
	base, modifiers := splitKey(key)
	if r, n := utf8.DecodeRuneInString(base); n == len(base) && unicode.IsUpper(r) {
		return joinKey(strings.ToLower(base), append(modifiers, "shift"))
	}
	return key
}

// Label writes a chord for people: "ctrl+x up" is "Ctrl+X Up".
func Label(chord string) string {
	var words []string
	for _, key := range strings.Fields(chord) {
		base, modifiers := splitKey(key)
		var parts []string
		for _, part := range append(modifiers, base) {
			switch part {
			case "pageup":
				part = "PgUp"
			case "pagedown":
				part = "PgDn"
			default:
				r, n := utf8.DecodeRuneInString(part)
				part = string(unicode.ToUpper(r)) + part[n:]
			}
			parts = append(parts, part)
		}
		words = append(words, strings.Join(parts, "+"))
	}
	return strings.Join(words, " ")
}
