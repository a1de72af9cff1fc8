package terminal

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Keys have names: a character is its own name ("a", "é", "+"), others are
// "space", "enter", "esc", "tab", "backspace", "delete", "insert", "up", "down",
// "left", "right", "home", "end", "pageup", "pagedown", "f1" to "f12". Modifiers
// are written before them in this order: "ctrl+alt+shift+".

// nameKey names the first key of p and counts its bytes. n is 0 if p ends inside
// a key and more may come; final says that nothing more did. A key that has no
// name is "".
func nameKey(p []byte, final bool) (name string, n int) {
	switch c := p[0]; {
	case c == keyEsc:
		return nameEscape(p, final)
	case c < 0x20 || c == 0x7f:
		return nameControl(c), 1
	}
	if !utf8.FullRune(p) && !final {
		return "", 0
	}
	r, n := utf8.DecodeRune(p)
	return nameRune(r, n), n
}

// KeysOf names the keys that type a line; those without a name are left out.
func KeysOf(line string) (names []string) {
	for line := []byte(line); len(line) > 0; {
		name, n := nameKey(line, true)
		line = line[n:]
		if name != "" {
			names = append(names, name)
		}
	}
	return names
}

// nameRune names the key of a character with n bytes; "" for broken UTF-8 and for
// control characters above ASCII.
func nameRune(r rune, n int) string {
	switch {
	case r == utf8.RuneError && n <= 1, r >= 0x80 && r <= 0x9f:
		return ""
	case r == ' ':
		return "space"
	}
	return string(r)
}

// nameControl names the key that sends a control character: most are ctrl and a letter.
func nameControl(c byte) string {
	switch c {
	case '\r':
		return "enter"
	case '\t':
		return "tab"
	case 0x7f:
		return "backspace"
	case keyEsc:
		return "esc"
	case 0:
		return "ctrl+space"
	}
	return "ctrl+" + strings.ToLower(string(rune(c|0x40)))
}

// nameEscape names the key of an escape sequence, and returns its length; 0 if more of it
// may come.
func nameEscape(p []byte, final bool) (string, int) {
	n, whole := sequence(p)
	switch {
	case n == 0 && !final:
		return "", 0
	case len(p) == 1, n == 1: // alone, or another key follows
		return "esc", 1
	case n == 0:
		return "", len(p)
	case !whole:
		return "", n
	case p[1] == '[':
		return nameSequence(string(p[2:n-1]), p[n-1]), n
	case p[1] == 'O':
		return nameFinal(p[2]), n
	}
	return nameAlt(p, final)
}

// nameAlt names Esc and another key as one key with alt, since terminals send Alt so. n
// is 0 if more of it may come.
func nameAlt(p []byte, final bool) (string, int) {
	if p[1] == '\n' {
		return "alt+enter", 2
	}
	name, n := nameKey(p[1:], final)
	if n == 0 {
		return "", 0
	}
	if name == "" {
		return "", n + 1
	}
	return "alt+" + name, n + 1
}

// nameChord names Esc and another key as one key, as terminals without codes for keys
// send it: Esc and a control character is ctrl+alt, Esc and a capital alt+shift. It is
// "" for keys before which Esc has a meaning of its own.
func nameChord(p []byte) (name string, n int) {
	if len(p) < 2 || p[0] != keyEsc {
		return "", 0
	}
	switch c := p[1]; {
	case c == keyCtrlC, c == keyEsc, c == '\r', c == '\n':
	case c < 0x20:
		if key, ok := strings.CutPrefix(nameControl(c), "ctrl+"); ok {
			return "ctrl+alt+" + key, 2
		}
	case c >= 'A' && c <= 'Z' && c != 'O':
		return "alt+shift+" + string(c|0x20), 2
	}
	return "", 0
}

// nameSequence names the key of an escape sequence ESC [ parameters final, with its
// modifiers; "" if it is no key with a name.
func nameSequence(parameters string, final byte) string {
	var numbers []int
	for _, field := range strings.Split(parameters, ";") {
		field, _, _ = strings.Cut(field, ":")
		number, err := strconv.Atoi(field)
		if err != nil {
			number = 1
		}
		numbers = append(numbers, number)
	}
	modifier := 1
	if len(numbers) > 1 {
		modifier = numbers[1]
	}
	switch {
	case final == 'u':
		return modified(modifier, nameCode(numbers[0]))
	case final == '~' && numbers[0] == 27 && len(numbers) == 3:
		return modified(modifier, nameCode(numbers[2]))
	case final == '~' && numbers[0] >= 200: // of a paste
		return ""
	case final == '~':
		return modified(modifier, map[int]string{1: "home", 2: "insert", 3: "delete", 4: "end", 5: "pageup", 6: "pagedown", 7: "home", 8: "end",
			11: "f1", 12: "f2", 13: "f3", 14: "f4", 15: "f5", 17: "f6", 18: "f7", 19: "f8", 20: "f9", 21: "f10", 23: "f11", 24: "f12"}[numbers[0]])
	case final == 'Z':
		return "shift+tab"
	}
	return modified(modifier, nameFinal(final))
}

// modified puts the modifiers of a parameter, which is one more than their bits,
// before a key.
func modified(modifier int, key string) string {
	if key == "" {
		return ""
	}
	bits := modifier - 1
	for _, m := range []struct {
		bit  int
		name string
	}{{1, "shift+"}, {2, "alt+"}, {4, "ctrl+"}} {
		if bits&m.bit != 0 {
			key = m.name + key
		}
	}
	return key
}

// nameCode names a key by the code of its character, which some terminals send for
// every key; "" if there is no such key.
func nameCode(code int) string {
	switch {
	case code == 13:
		return "enter"
	case code > 0 && code < 0x20 && code != '\t' && code != keyEsc, code > utf8.MaxRune, code < 0:
		return ""
	case code < 0x20 || code == 0x7f:
		return nameControl(byte(code))
	}
	return nameRune(rune(code), utf8.RuneLen(rune(code)))
}

// nameFinal names the key of an escape sequence by its last byte; "" if there is none.
func nameFinal(final byte) string {
	return map[byte]string{'A': "up", 'B': "down", 'C': "right", 'D': "left", 'H': "home", 'F': "end",
		'P': "f1", 'Q': "f2", 'R': "f3", 'S': "f4", 'M': "enter"}[final]
}

// KeyName writes a key as [Keyboard.Key] names it, however a hook wrote it:
// "Shift+Ctrl+X" is "ctrl+shift+x".
func KeyName(key string) string {
	parts := strings.Split(strings.ToLower(strings.TrimSpace(key)), "+")
	last := parts[len(parts)-1]
	if last == "" { // the plus itself
		last = "+"
	}
	for from, to := range map[string]string{"escape": "esc", "return": "enter", "del": "delete", "pgup": "pageup", "pgdn": "pagedown"} {
		if last == from {
			last = to
		}
	}
	name := ""
	for _, m := range []struct {
		name  string
		words []string
	}{{"ctrl", []string{"ctrl", "control"}}, {"alt", []string{"alt", "option", "meta"}}, {"shift", []string{"shift"}}} {
		if slices.ContainsFunc(parts[:len(parts)-1], func(p string) bool { return slices.Contains(m.words, p) }) {
			name += m.name + "+"
		}
	}
	return name + last
}
