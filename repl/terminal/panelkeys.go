package terminal

import "bytes"

// While a panel is open the terminal sends keys as they are pressed, and the panel takes
// them one by one, so that the keys that it does not take are kept for the next reader.
// Keys typed before it opened are not for it: nobody answers a question that they have
// not seen.

// panelKeys is the open panel, and the keys that are not for it. Without a panel it is
// zero.
type panelKeys struct {
	pressed      chan struct{} // signalled when there are keys, a buffer of one
	out          func()        // called for Ctrl+C
	before       []byte        // typed before the panel was open, or not for it
	unreadBefore int           // how many bytes not yet read were typed before it was open
	pasting      bool          // inside a paste
	onlyEsc      bool          // it wants Esc alone
}

func (p *panelKeys) isOpen() bool { return p.pressed != nil }

// grab sends keys to a panel until listen is called; those typed before are kept for
// the next reader. raw puts the terminal into raw mode; out is called for Ctrl+C and at
// the end of the input. ok is false where there are no single keys.
func (k *Keyboard) grab(raw func() error, out func()) (pressed <-chan struct{}, ok bool) {
	k.reading.Lock()
	defer k.reading.Unlock()
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.ended || !k.tty || raw() != nil {
		return nil, false
	}
	k.panel = panelKeys{pressed: make(chan struct{}, 1), out: out, before: k.pending, unreadBefore: unread(k.in)}
	k.editor, k.lines, k.pending, k.stale = nil, false, nil, false
	return k.panel.pressed, true
}

// notifyPanel signals the panel that there are keys. For Ctrl+C it calls out at once
// and drops the keys before it, unless the panel wants Esc alone: then they are kept
// for the next reader.
func (k *Keyboard) notifyPanel() {
	if i := bytes.LastIndexByte(k.pending, keyCtrlC); i >= 0 {
		if k.panel.onlyEsc {
			k.panel.before = append(k.panel.before, bytes.ReplaceAll(k.pending[:i], []byte{keyCtrlC}, nil)...)
		}
		k.pending = k.pending[i+1:]
		k.panel.out()
	}
	select {
	case k.panel.pressed <- struct{}{}:
	default:
	}
}

// Key removes the next key for the panel and returns its name, "" for one without a name.
// It reports false when there is none (yet), or no panel. A line end that was pasted is no Enter,
// for nobody pressed it.
func (k *Keyboard) Key() (name string, ok bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.panel.isOpen() || len(k.pending) == 0 {
		return "", false
	}
	pasting := k.panel.pasting
	name, n := nameKey(k.pending, k.stale)
	switch key := string(k.pending[:n]); {
	case key == pasteStart, key == pasteEnd:
		k.panel.pasting = key == pasteStart
	case pasting && key == "\r":
		name = "ctrl+j"
	}
	k.pending = k.pending[n:]
	return name, n > 0
}

// WantEscOnly notes that the panel wants Esc alone, see [Keyboard.Escaped]: Ctrl+C then
// drops none of the keys before it, which are kept for the next reader.
func (k *Keyboard) WantEscOnly() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.panel.onlyEsc = true
}

// Escaped reports whether Esc is among the keys for the panel, and removes it. All others
// are kept for the next reader.
func (k *Keyboard) Escaped() (esc bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for k.panel.isOpen() && len(k.pending) > 0 {
		name, n := nameKey(k.pending, k.stale)
		if n == 0 {
			break
		}
		switch key := string(k.pending[:n]); {
		case key == pasteStart, key == pasteEnd:
			k.panel.pasting = key == pasteStart
		case name == "esc" && !k.panel.pasting:
			esc, k.pending = true, k.pending[n:]
			continue
		}
		k.panel.before, k.pending = append(k.panel.before, k.pending[:n]...), k.pending[n:]
	}
	return esc
}
