package terminal

import (
	"bytes"
	"strings"
	"time"
)

// waitBurst is the longest time between the parts of a paste, where a paste cannot be told
// from keys in any other way.
const waitBurst = 20 * time.Millisecond

// burst makes one paste of keys that come faster than anybody types, for terminals that say
// that they do not know bracketed paste. In others it hands every key on.
type burst struct {
	on   bool
	key  func(Key)
	last time.Time // when something was read before
	fast bool      // what is read now came too fast to be typed
	keys []Key     // of what is read now
	text strings.Builder
}

// open reports whether a paste has begun that may go on.
func (b *burst) open() bool { return b.text.Len() > 0 }

// begin notes that bytes were read at a time.
func (b *burst) begin(now time.Time, p []byte) {
	b.fast = b.on && now.Sub(b.last) < waitBurst || b.open()
	b.last = now
	if bytes.IndexByte(p, keyEsc) >= 0 {
		b.fast = false
	}
}

// add takes a key of what is read now.
func (b *burst) add(k Key) {
	if !b.on {
		b.key(k)
		return
	}
	b.keys = append(b.keys, k)
}

// finish decides what the keys are that were read.
func (b *burst) finish() {
	keys := b.keys
	b.keys = nil
	text, ok := textOf(keys)
	if ok && (b.fast || len(keys) > 1) {
		b.text.WriteString(text)
		return
	}
	b.end()
	for _, k := range keys {
		b.key(k)
	}
}

// end hands on the paste that is open.
func (b *burst) end() {
	if !b.open() {
		return
	}
	text := b.text.String()
	b.text.Reset()
	b.key(Key{Name: "paste", Text: text})
}

// textOf is the text that keys type, line ends and tabs among it; ok is false if there are
// other keys.
func textOf(keys []Key) (text string, ok bool) {
	var out strings.Builder
	for _, k := range keys {
		switch {
		case k.Name == "enter":
			out.WriteByte('\r')
		case k.Name == "ctrl+j":
			out.WriteByte('\n')
		case k.Name == "tab":
			out.WriteByte('\t')
		case k.Text == "" || k.Name == "paste":
			return "", false
		default:
			out.WriteString(k.Text)
		}
	}
	return out.String(), out.Len() > 0
}
