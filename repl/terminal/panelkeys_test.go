package terminal

import (
	"testing"
)

func TestEscIsFoundAmongKeysAndTheOthersAreKept(t *testing.T) {
	for name, c := range map[string]struct {
		typed, kept, left string
		final, esc        bool
	}{
		"text":                       {typed: "abc\r", kept: "abc\r"},
		"Esc alone":                  {typed: "\x1b", final: true, esc: true},
		"what may be Esc":            {typed: "\x1b", left: "\x1b"},
		"Esc twice":                  {typed: "\x1b\x1b", final: true, esc: true},
		"Esc after text":             {typed: "a\x1b", final: true, kept: "a", esc: true},
		"an arrow":                   {typed: "\x1b[A", kept: "\x1b[A"},
		"half an arrow":              {typed: "a\x1b[", kept: "a", left: "\x1b["},
		"a key with Alt":             {typed: "\x1bx", kept: "\x1bx"},
		"half a character":           {typed: "é\xc3", kept: "é", left: "\xc3"},
		"Esc in what is pasted":      {typed: pasteStart + "a\x1b" + pasteEnd, kept: pasteStart + "a\x1b" + pasteEnd},
		"Esc behind what was":        {typed: pasteStart + "a" + pasteEnd + "\x1b", final: true, kept: pasteStart + "a" + pasteEnd, esc: true},
		"keys nobody has a name for": {typed: "\x9b\xff", final: true, kept: "\x9b\xff"},
	} {
		k := &Keyboard{panel: panelKeys{pressed: make(chan struct{}, 1), before: []byte("before ")}, pending: []byte(c.typed), stale: c.final}
		if esc := k.Escaped(); esc != c.esc || string(k.panel.before) != "before "+c.kept || string(k.pending) != c.left {
			t.Errorf("%s: Esc %v, kept %q, left %q", name, esc, k.panel.before, k.pending)
		}
	}
}
