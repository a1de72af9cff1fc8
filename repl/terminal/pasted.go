package terminal

import "bytes"

// paste collects the bytes of a paste. It reports false if more has to come first.
func (d *decoder) paste() bool {
	if i := bytes.Index(d.pending, []byte(pasteEnd)); i >= 0 {
		d.pasted = append(d.pasted, d.pending[:i]...)
		d.pending = d.pending[i+len(pasteEnd):]
		d.endPaste()
		return true
	}
	kept := endsLike(d.pending, pasteEnd)
	d.pasted = append(d.pasted, d.pending[:len(d.pending)-kept]...)
	d.pending = append([]byte(nil), d.pending[len(d.pending)-kept:]...)
	return false
}

// endsLike counts the bytes at the end of p that are a beginning of mark, but not all of it.
func endsLike(p []byte, mark string) int {
	for n := min(len(mark)-1, len(p)); n > 0; n-- {
		if bytes.HasSuffix(p, []byte(mark[:n])) {
			return n
		}
	}
	return 0
}

// endPaste hands the collected text on as one key.
func (d *decoder) endPaste() {
	text := string(d.pasted)
	d.pasting, d.pasted = false, nil
	d.handlers.key(Key{Name: "paste", Text: text})
}

// finishPaste hands on what belongs to a paste that was given up before its end came, and
// returns the rest: all up to the end, or what is too much to be typed by hand.
func (d *decoder) finishPaste(p []byte) []byte {
	const byHand = 16
	if !d.halfway || len(p) == 0 {
		return p
	}
	d.halfway = false
	i := bytes.Index(p, []byte(pasteEnd))
	if i < 0 && (len(p) <= byHand || bytes.IndexByte(p, keyEsc) >= 0) {
		return p
	}
	d.pasting = true
	return p
}
