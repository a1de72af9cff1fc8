package terminal

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// sequenceKey is the key that sends a whole sequence ESC [ … or ESC O …; ok is false for
// one that is no key, or has no name.
func sequenceKey(s string) (key Key, ok bool) {
	body, final := s[2:len(s)-1], s[len(s)-1]
	if s[1] == 'O' {
		key, ok = named(number(body, 1), functionName(final, true))
		if len(key.Name) == 1 {
			key.Text = key.Name
		}
		return key, ok
	}
	if strings.HasPrefix(body, "[") { // the console of Linux
		return named(1, map[byte]string{'A': "f1", 'B': "f2", 'C': "f3", 'D': "f4", 'E': "f5"}[final])
	}
	if strings.IndexFunc(body, func(r rune) bool { return (r < '0' || r > '9') && r != ';' && r != ':' }) >= 0 {
		return Key{}, false
	}
	fields := strings.Split(body, ";")
	first := number(fields[0], 1)
	modifiers, event := 1, 1
	if len(fields) > 1 {
		parts := strings.Split(fields[1], ":")
		modifiers = number(parts[0], 1)
		if len(parts) > 1 {
			event = number(parts[1], 1)
		}
	}
	switch {
	case final == 'u':
		key, ok = codeKey(fields, modifiers)
	case final == '~' && first == 27 && len(fields) == 3:
		key, ok = codeKey([]string{fields[2]}, modifiers)
	case final == '~':
		key, ok = named(modifiers, numberedName(first))
	case final == '$', final == '^', final == '@': // rxvt
		key, ok = named(map[byte]int{'$': 2, '^': 5, '@': 6}[final], numberedName(first))
	case final == 'Z':
		key, ok = named(modifiers-1|1+1, "tab")
	case final >= 'a' && final <= 'd': // rxvt
		key, ok = named(2, functionName(final-'a'+'A', false))
	case final == 'R' && first > 1: // where the cursor is, which nobody asked
	default:
		key, ok = named(modifiers, functionName(final, false))
	}
	key.Release = event == 3
	return key, ok
}

// number is the number that s is, or usual.
func number(s string, usual int) int {
	if n, err := strconv.Atoi(s); err == nil {
		return n
	}
	return usual
}

// named is a key with a name, unless that is empty. modifiers is one more than their bits.
func named(modifiers int, name string) (Key, bool) {
	return Key{Name: addModifiers(modifiers-1, name)}, name != ""
}

// addModifiers puts modifiers before the name of a key, each once and in their order.
// The bits are 1 Shift, 2 Alt, 4 Ctrl, 8 Super; those of locked keys are ignored.
func addModifiers(bits int, name string) string {
	for _, m := range []struct {
		bit  int
		name string
	}{{4, "ctrl+"}, {2, "alt+"}, {1, "shift+"}} {
		if rest, found := strings.CutPrefix(name, m.name); found && rest != "" {
			bits |= m.bit
			name = rest
		}
	}
	if bits&32 != 0 { // Meta
		bits |= 2
	}
	for _, m := range []struct {
		bit  int
		name string
	}{{1, "shift+"}, {2, "alt+"}, {4, "ctrl+"}, {8, "super+"}} {
		if bits&m.bit != 0 {
			name = m.name + name
		}
	}
	return name
}

// functionName names a key by the last byte of its sequence; "" if there is none. keypad says
// that the keys of the keypad are among them.
func functionName(final byte, keypad bool) string {
	switch final {
	case 'A':
		return "up"
	case 'B':
		return "down"
	case 'C':
		return "right"
	case 'D':
		return "left"
	case 'H':
		return "home"
	case 'F':
		return "end"
	case 'P', 'Q', 'R', 'S':
		return "f" + string('1'+final-'P')
	}
	switch {
	case !keypad:
		return ""
	case final == 'M':
		return "enter"
	case final >= 'a' && final <= 'd': // rxvt
		return "ctrl+" + functionName(final-'a'+'A', false)
	case final >= 'j' && final <= 'y':
		return string(final - 'j' + '*')
	}
	return ""
}

// numberedName names a key by the number of its sequence ESC [ n ~; "" if there is none.
func numberedName(n int) string {
	switch n {
	case 1, 7:
		return "home"
	case 2:
		return "insert"
	case 3:
		return "delete"
	case 4, 8:
		return "end"
	case 5:
		return "pageup"
	case 6:
		return "pagedown"
	}
	for _, f := range []struct{ from, to, first int }{{11, 15, 1}, {17, 21, 6}, {23, 26, 11}, {28, 29, 15}, {31, 34, 17}} {
		if n >= f.from && n <= f.to {
			return "f" + strconv.Itoa(f.first+n-f.from)
		}
	}
	return ""
}

// codeKey is the key that a terminal reports by the code of its character: fields are
// code:shifted:base, modifiers and event, and text.
func codeKey(fields []string, modifiers int) (Key, bool) {
	codes := strings.Split(fields[0], ":")
	code, bits := number(codes[0], 0), modifiers-1
	if name := codeName(code); name != "" {
		return named(modifiers, name)
	}
	if code < ' ' || code > utf8.MaxRune || code >= 0xe000 && code < 0xf8ff && code < 57399 || code >= 57427 && code < 0xf8ff {
		return Key{}, false
	}
	r := keypadRune(code)
	typed := r
	if bits&1 != 0 && len(codes) > 1 {
		if shifted := rune(number(codes[1], 0)); shifted > ' ' && shifted != unicode.ToUpper(r) {
			r, typed, bits = shifted, shifted, bits&^1
		}
	}
	if bits&^(1|64|128) == 0 { // no modifier but Shift: it types
		if bits&1 != 0 {
			typed = unicode.ToUpper(typed)
		}
		return Key{Name: addModifiers(bits&1, runeName(r)), Text: typedText(fields, typed)}, true
	}
	if r > 0x7f && len(codes) > 2 { // the letter at the same place of a Latin keyboard
		if base := number(codes[2], 0); base > ' ' && base < 0x7f {
			r = rune(base)
		}
	}
	if bits&4 != 0 && (r == '/' || r == '-' && bits&1 != 0) { // what these send elsewhere
		r, bits = '_', bits&^1
	}
	return Key{Name: addModifiers(bits, runeName(r))}, true
}

// typedText is what a key types: the text that the terminal reports, else its character.
func typedText(fields []string, typed rune) string {
	if len(fields) < 3 {
		return string(typed)
	}
	var text strings.Builder
	for _, code := range strings.Split(fields[2], ":") {
		if r := rune(number(code, 0)); r >= ' ' {
			text.WriteRune(r)
		}
	}
	if text.Len() == 0 {
		return string(typed)
	}
	return text.String()
}

// codeName names the keys that have a code and type nothing.
func codeName(code int) string {
	switch code {
	case 13, 57414:
		return "enter"
	case 9:
		return "tab"
	case keyEsc:
		return "esc"
	case 8, 127:
		return "backspace"
	}
	if code >= 57376 && code <= 57398 {
		return "f" + strconv.Itoa(13+code-57376)
	}
	if i := code - 57417; i >= 0 && i < 10 {
		return []string{"left", "right", "up", "down", "pageup", "pagedown", "home", "end", "insert", "delete"}[i]
	}
	return ""
}

// keypadRune is the character of a code; those of the keypad have codes of their own.
func keypadRune(code int) rune {
	if i := code - 57399; i >= 0 && i < 18 {
		if s := "0123456789./*-+\x00=,"; s[i] != 0 {
			return rune(s[i])
		}
	}
	return rune(code)
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
