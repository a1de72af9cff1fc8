package screentest

import (
	"fmt"
	"strings"
)

// keyCodes are what a terminal sends for keys with names. Those that a modifier
// changes have the number and the letter of their sequence.
func keyCodes() map[string]string {
	return map[string]string{
		"enter": "\r", "tab": "\t", "esc": "\x1b", "backspace": "\x7f", "space": " ", "shift+tab": "\x1b[Z",
		"alt+enter": "\x1b\r", "alt+backspace": "\x1b\x7f", "ctrl+space": "\x00", "ctrl+_": "\x1f", "ctrl+backspace": "\b",
		"ctrl+\\": "\x1c", "ctrl+]": "\x1d", "f1": "\x1bOP", "f2": "\x1bOQ", "f3": "\x1bOR", "f4": "\x1bOS",
	}
}

// cursorKeys have the sequences CSI 1 ; modifier letter, and CSI letter alone.
func cursorKeys() map[string]string {
	return map[string]string{"up": "A", "down": "B", "right": "C", "left": "D", "home": "H", "end": "F"}
}

// numberedKeys have the sequences CSI number ; modifier ~.
func numberedKeys() map[string]string {
	return map[string]string{"insert": "2", "delete": "3", "pgup": "5", "pgdn": "6", "f5": "15", "f6": "17", "f7": "18", "f8": "19", "f9": "20", "f10": "21", "f11": "23", "f12": "24"}
}

// KeyBytes is what a terminal in these modes sends for a key: "a", "enter",
// "ctrl+x", "alt+left", "shift+tab", "pgup", "f5". It panics for a key that it does
// not know.
func KeyBytes(name string, modes Modes) string {
	modifiers, key := modifiersOf(name)
	if modes.Keyboard > 0 {
		if code := keyboardCode(key, modifiers); code != "" {
			return code
		}
	}
	if code, ok := keyCodes()[name]; ok {
		return code
	}
	parameter := ""
	if modifiers > 0 {
		parameter = fmt.Sprintf(";%d", modifiers+1)
	}
	if letter, ok := cursorKeys()[key]; ok {
		return cursorKey(letter, parameter, modes.CursorKeys)
	}
	if number, ok := numberedKeys()[key]; ok {
		return "\x1b[" + number + parameter + "~"
	}
	return typedKey(name, key, modifiers)
}

func cursorKey(letter, parameter string, application bool) string {
	switch {
	case parameter != "":
		return "\x1b[1" + parameter + letter
	case application:
		return "\x1bO" + letter
	}
	return "\x1b[" + letter
}

// typedKey is a character with Ctrl or Alt, as terminals without codes for keys send
// it.
func typedKey(name, key string, modifiers int) string {
	if modifiers&^(alt|control) != 0 || len([]rune(key)) != 1 {
		panic("screentest: no terminal has a code for " + name)
	}
	code := key
	if modifiers&control != 0 {
		code = string(rune(key[0] & 0x1f))
	}
	if modifiers&alt != 0 {
		code = "\x1b" + code
	}
	return code
}

const (
	shift = 1 << iota
	alt
	control
)

func modifiersOf(name string) (modifiers int, key string) {
	for {
		modifier, rest, ok := strings.Cut(name, "+")
		bit, known := map[string]int{"shift": shift, "alt": alt, "ctrl": control}[modifier]
		if !ok || !known || rest == "" {
			return modifiers, name
		}
		modifiers, name = modifiers|bit, rest
	}
}

// keyboardCode is what the keyboard protocol sends for keys that are ambiguous
// without it; "" for the others.
func keyboardCode(key string, modifiers int) string {
	code, named := map[string]int{"esc": 27, "enter": 13, "tab": 9, "backspace": 127, "space": 32}[key]
	switch {
	case key == "esc":
	case named && modifiers == 0, !named && (len(key) != 1 || modifiers&(alt|control) == 0):
		return ""
	case !named:
		code = int(key[0])
	}
	if modifiers == 0 {
		return fmt.Sprintf("\x1b[%du", code)
	}
	return fmt.Sprintf("\x1b[%d;%du", code, modifiers+1)
}
