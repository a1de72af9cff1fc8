package terminal

import "bytes"

// While a panel is open the terminal sends keys as they are pressed, and the
// panel takes them one by one, so that keys it does not take are kept for whoever
// reads next. Keys typed before it opened are not for it: nobody answers
// a question that they have not seen.

// grab sends keys to a panel from now on. raw puts the terminal into the mode
// for that; out is called for Ctrl+C, and when there is nobody any more. It
// reports false if keys cannot be had. It ends with listen.
func (k *Keyboard) grab(raw func() error, out func()) (pressed <-chan struct{}, ok bool) {
	k.reading.Lock()
	defer k.reading.Unlock()
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.ended || !k.tty || raw() != nil {
		return nil, false
	}
	k.beforePanel, k.pending = k.pending, nil
	k.unreadBefore = unread(k.in)
	k.editor, k.lines, k.stale = nil, false, false
	k.panel, k.out = make(chan struct{}, 1), out
	return k.panel, true
}

// notifyPanel tells the panel of keys. Ctrl+C does not wait for it to take them.
func (k *Keyboard) notifyPanel() {
	if i := bytes.LastIndexByte(k.pending, keyCtrlC); i >= 0 {
		if k.onlyEsc {
			k.beforePanel = append(k.beforePanel, bytes.ReplaceAll(k.pending[:i], []byte{keyCtrlC}, nil)...)
		}
		k.pending = k.pending[i+1:]
		k.out()
	}
	select {
	case k.panel <- struct{}{}:
	default:
	}
}

// Key takes the next key for the panel; "" is one without a name. It reports false
// when there is none (yet), or no panel. A line end that was pasted is no Enter,
// for nobody pressed it.
func (k *Keyboard) Key() (name string, ok bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.panel == nil || len(k.pending) == 0 {
		return "", false
	}
	pasting := k.pasting
	name, n := nameKey(k.pending, k.stale)
	switch key := string(k.pending[:n]); {
	case key == pasteStart, key == pasteEnd:
		k.pasting = key == pasteStart
	case pasting && key == "\r":
		name = "ctrl+j"
	}
	k.pending = k.pending[n:]
	return name, n > 0
}

// KeepOthers says that the panel wants Esc alone: Ctrl+C then drops none of the
// keys that came before it. They are kept for whoever reads next.
func (k *Keyboard) KeepOthers() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.onlyEsc = true
}

// Escaped takes the keys for the panel and reports whether Esc is among them. All
// others are kept for whoever reads next.
func (k *Keyboard) Escaped() (esc bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for k.panel != nil && len(k.pending) > 0 {
		name, n := nameKey(k.pending, k.stale)
		if n == 0 {
			break
		}
		switch key := string(k.pending[:n]); {
		case key == pasteStart, key == pasteEnd:
			k.pasting = key == pasteStart
		case name == "esc" && !k.pasting:
			esc, k.pending = true, k.pending[n:]
			continue
		}
		k.beforePanel, k.pending = append(k.beforePanel, k.pending[:n]...), k.pending[n:]
	}
	return esc
}
