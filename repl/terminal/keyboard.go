package terminal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"pi/internal/printable"
)

// keyWait is how long the rest of an escape sequence may take to come.
const keyWait = 30 * time.Millisecond

// keyboard is the one reader of a terminal of lines. While a prompt is open, keys go to the
// line editor; otherwise whole lines go to the inbox. Keys that one of the two does not use
// are kept for the other. The keyboard never blocks in a read, so that it can stop at any
// time, or pause while another program reads the terminal. Any goroutine may use it.
type keyboard struct {
	in    *os.File
	tty   bool
	inbox *inbox
	waker *waker
	done  chan struct{}
	quit  chan struct{}
	park  chan parking

	reading sync.Mutex // locked while bytes are read and delivered, before mu

	mu      sync.Mutex // guards the rest
	pending []byte     // read and not yet delivered
	decoder keyDecoder
	pastes  pastes
	editor  io.Writer  // of the open prompt, else nil
	lines   bool       // no prompt is open and none is about to be
	typed   *typedLine // of a terminal that sends each key; nil: lines come whole
	cooked  int        // how many bytes not yet read were typed while the terminal was not raw
	stale   bool       // pending was waited for long enough: its last key is complete

	suspend func() // called for Ctrl+Z at a prompt, with the keyboard locked
}

// parking is a request to read nothing until release is closed.
type parking struct{ taken, release chan struct{} }

// newKeyboard begins to read a terminal, or what is none, as lines for the inbox at first.
func newKeyboard(in *os.File, box *inbox, suspend func()) (*keyboard, error) {
	w, err := newWaker()
	if err != nil {
		return nil, fmt.Errorf("read the terminal: %w", err)
	}
	k := &keyboard{in: in, tty: isTerminal(in), inbox: box, waker: w, lines: true, suspend: suspend,
		done: make(chan struct{}), quit: make(chan struct{}), park: make(chan parking, 1)}
	k.decoder.pastes = &k.pastes
	if k.tty && canWait {
		k.typed = &typedLine{}
		k.typed.decoder.handlers = k.typed
		k.typed.ended = func(line typedIn) {
			k.inbox.push(typedIn{printable.Text(k.pastes.expand(line.text)), line.shown})
		}
		k.typed.over = func() { k.inbox.end(false) }
		k.typed.suspend = suspend
		k.cooked = unread(in)
	}
	go k.run()
	return k, nil
}

// stop ends the reading and waits for that. It may be called once.
func (k *keyboard) stop() {
	close(k.quit)
	k.waker.wake()
	if canWait {
		<-k.done
		k.waker.close()
	}
}

// run reads and delivers until the input ends, which it reports to the inbox, or stop
// is called.
func (k *keyboard) run() {
	defer close(k.done)
	buf := make([]byte, 4096)
	for {
		ready, expired := k.waker.wait(k.in, k.timeout())
		if expired { // the rest of an incomplete key has not come in time
			k.expire()
			continue
		}
		if !ready && k.waitLent() {
			continue
		}
		if !ready {
			return
		}
		n, err := k.read(buf)
		if !k.readable(n, err) {
			k.flush()
			k.inbox.end(true)
			return
		}
	}
}

// expire delivers what waited for the rest of a key, which does not come.
func (k *keyboard) expire() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.editor == nil && k.lines && k.typed != nil {
		k.typed.decoder.expire()
		return
	}
	k.stale = true
	k.deliver(true)
}

// read reads and delivers once.
func (k *keyboard) read(buf []byte) (int, error) {
	k.reading.Lock()
	defer k.reading.Unlock()
	n, err := k.in.Read(buf)
	k.receive(buf[:n])
	return n, err
}

// waitLent serves a request of lend, if there is one: it reads nothing until the terminal
// is given back, or stop is called. It reports false if there is no request.
func (k *keyboard) waitLent() bool {
	select {
	case p := <-k.park:
		k.waker.acknowledge()
		close(p.taken)
		select {
		case <-p.release:
		case <-k.quit:
		}
		return true
	default:
		return false
	}
}

// lend gives the terminal to another program until back is called: nothing is
// read meanwhile. It returns when the reading has paused.
func (k *keyboard) lend() (back func()) {
	p := parking{make(chan struct{}), make(chan struct{})}
	select {
	case k.park <- p:
		k.waker.interrupt()
	case <-k.done:
	}
	select {
	case <-p.taken:
	case <-k.done:
	}
	return func() {
		k.mu.Lock()
		if k.typed != nil {
			k.cooked = unread(k.in) // they were typed while the system edited lines
		}
		k.mu.Unlock()
		close(p.release)
	}
}

// timeout is how long to wait for more input: not for long while the pending bytes may be the
// beginning of a key, else for ever (0).
func (k *keyboard) timeout() time.Duration {
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case k.editor == nil && k.lines && k.typed != nil:
		return k.typed.decoder.wait()
	case k.editor != nil && len(k.pending) > 0 && !k.stale:
		return keyWait
	}
	return 0
}

// readable reports whether input goes on after a read. Ctrl+D on an empty line
// reads as nothing, and so does a terminal that hung up.
func (k *keyboard) readable(n int, err error) bool {
	switch {
	case n > 0, errors.Is(err, syscall.EINTR), errors.Is(err, syscall.EAGAIN):
		return true
	case k.tty && (err == nil || errors.Is(err, io.EOF)) && isTerminal(k.in):
		k.inbox.end(false)
		return true
	}
	return false
}

// receive adds bytes that were read to the pending ones, and delivers.
func (k *keyboard) receive(p []byte) {
	k.mu.Lock()
	defer k.mu.Unlock()
	// A terminal that is not raw sends the byte of Ctrl+J for Enter too, and people there
	// press Enter.
	n := min(k.cooked, len(p))
	k.cooked -= n
	head := bytes.ReplaceAll(p[:n], []byte("\n"), []byte("\r"))
	if k.tty { // Ctrl+D was kept as a zero
		head = bytes.ReplaceAll(head, []byte{0}, []byte{4})
	}
	k.pending = slices.Concat(k.pending, head, p[n:])
	k.stale = false
	k.deliver(false)
}

// deliver gives pending keys to the editor or the inbox. Final means that an
// incomplete key at the end will not be completed.
func (k *keyboard) deliver(final bool) {
	switch {
	case k.editor != nil:
		k.deliverKeys(final)
	case k.lines && k.typed != nil:
		keys := k.pending
		k.pending = nil
		k.typed.feed(keys)
	case k.lines:
		k.deliverLines()
	}
}

// deliverLines puts whole lines into the inbox. The beginning of a line stays pending.
func (k *keyboard) deliverLines() {
	for {
		i := bytes.IndexAny(k.pending, "\r\n")
		if i < 0 {
			return
		}
		line := string(k.pending[:i])
		if k.pending[i] == '\r' && i+1 < len(k.pending) && k.pending[i+1] == '\n' {
			i++
		}
		k.pending = k.pending[i+1:]
		k.inbox.push(typedIn{printable.Text(line), true})
	}
}

// flush delivers a last line without a line end, when the input has ended.
func (k *keyboard) flush() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.lines && len(k.pending) > 0 {
		k.inbox.push(typedIn{printable.Text(string(k.pending)), true})
		k.pending = nil
	}
}

// deliverKeys gives the editor keys up to the one that ends its prompt. Later keys are
// kept for the next reader.
func (k *keyboard) deliverKeys(final bool) {
	const ctrlZ = 0x1a
	for len(k.pending) > 0 && k.editor != nil {
		if !k.decoder.inside && k.pending[0] == ctrlZ {
			k.pending = k.pending[1:]
			k.suspend()
			continue
		}
		out, n, ends := k.decoder.next(k.pending, final)
		if n == 0 {
			return
		}
		w := k.editor
		if ends {
			k.editor = nil
		}
		// The editor's end of the pipe is closed only after the last prompt.
		_, _ = w.Write(out)
		k.pending = k.pending[n:]
	}
}

// edit delivers keys to an editor from now on, up to the key that ends its prompt. raw
// puts the terminal into raw mode.
func (k *keyboard) edit(raw func() error, w io.Writer) error {
	k.reading.Lock()
	defer k.reading.Unlock()
	if err := raw(); err != nil {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.lines && k.typed != nil {
		k.pending, k.decoder.pasted, k.decoder.inside = k.typed.take()
	}
	k.editor, k.lines, k.stale = w, false, false
	k.deliverKeys(false)
	return nil
}

// inject writes keys that nobody typed to the open prompt, which gets none after them.
// It reports false if the prompt has ended already.
func (k *keyboard) inject(sequence string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.editor == nil {
		return false
	}
	_, _ = io.WriteString(k.editor, sequence)
	k.editor = nil
	return true
}

// listen ends a prompt, and delivers whole lines to the inbox from now on. Keys that the
// prompt did not use come first.
func (k *keyboard) listen() {
	k.mu.Lock()
	defer k.mu.Unlock()
	d := k.decoder
	k.editor, k.lines = nil, true
	k.decoder = keyDecoder{pastes: &k.pastes}
	if k.typed != nil {
		keys := k.pending
		k.pending = nil
		k.typed.begin(keys, d.pasted, d.inside)
		return
	}
	k.pending = slices.Concat(d.pasted, k.pending)
	k.deliverLines()
}

// showTyped shows a prompt and what is typed while no editor has the keys. The line begins with
// text, in front of what was typed already.
func (k *keyboard) showTyped(prompt, text string, show func(string)) {
	k.mu.Lock()
	defer k.mu.Unlock()
	l := k.typed
	text += l.text
	l.text, l.show = "", show
	show(prompt)
	l.add(text)
}

// hideTyped ends what showTyped began.
func (k *keyboard) hideTyped() {
	if k == nil || k.typed == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.typed.show = nil
}

// takeTyped removes and returns what was typed of a line, where no editor has it.
func (k *keyboard) takeTyped() (text string) {
	if k == nil || k.typed == nil {
		return ""
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	text, k.typed.text = k.typed.text, ""
	return text
}

// expand puts pasted texts in place of the tokens that stand for them in a line.
func (k *keyboard) expand(line string) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.pastes.expand(line)
}

// The line editor knows neither line ends nor tabs inside its line. They are
// there as these signs and are put back when the line is sent.
const (
	signNewline = "⏎"
	signTab     = "␉"
)

const (
	pasteStart = "\x1b[200~"
	pasteEnd   = "\x1b[201~"
	keyCtrlC   = 0x03
	keyEsc     = 0x1b
)

// keyDecoder turns the keys of the terminal into those of the line editor: a
// bracketed paste becomes text of one line or a token, the new-line keys a sign,
// and everything else stays as it is.
type keyDecoder struct {
	pastes *pastes
	inside bool   // a paste has begun
	pasted []byte // its bytes so far
}

// next decodes the first key, or run of text, of p: out is what the editor gets for its
// n bytes. n is 0 if p ends inside a key and more may come; final says
// that nothing more did. ends reports a key that ends the prompt.
func (d *keyDecoder) next(p []byte, final bool) (out []byte, n int, ends bool) {
	if d.inside {
		out, n = d.paste(p, final)
		return out, n, false
	}
	switch c := p[0]; {
	case c == keyEsc:
		out, n = d.escape(p, final)
		return out, n, false
	case c == '\n':
		return []byte(signNewline), 1, false
	case c == '\r', c == keyCtrlC:
		return p[:1], 1, true
	case c < 0x20 || c == 0x7f:
		return p[:1], 1, false
	}
	n = bytes.IndexFunc(p, func(r rune) bool { return r < 0x20 || r == 0x7f })
	if n < 0 {
		n = len(p)
	}
	return p[:n], n, false
}

// paste collects the bytes inside of a bracketed paste and counts those that it used.
// out is empty until the paste ends; then it is the text, or the token, for the line.
func (d *keyDecoder) paste(p []byte, final bool) (out []byte, n int) {
	if bytes.HasPrefix(p, []byte(pasteEnd)) {
		out = []byte(d.pastes.paste(pastedText(d.pasted)))
		d.inside, d.pasted = false, nil
		return out, len(pasteEnd)
	}
	if !final && bytes.HasPrefix([]byte(pasteEnd), p) {
		return nil, 0
	}
	n = len(p)
	if i := bytes.IndexByte(p[1:], keyEsc); i >= 0 {
		n = i + 1
	}
	d.pasted = append(d.pasted, p[:n]...)
	return nil, n
}

// escape decodes a sequence as a whole, for the editor would wait for its rest. A
// bare Esc is dropped, and so is a sequence that another key broke off: the
// editor would take that key for a part of it.
func (d *keyDecoder) escape(p []byte, final bool) ([]byte, int) {
	newLine := []string{"\x1b\r", "\x1b\n", "\x1b[13;2u", "\x1b[27;2;13~", "\x1b[13;3u"} // keys that begin a new line of the input
	n, whole := sequence(p)
	switch key := string(p[:n]); {
	case n == 0 && !final:
		return nil, 0
	case n == 0:
		return nil, len(p)
	case slices.Contains(newLine, key):
		return []byte(signNewline), n
	case key == pasteStart:
		d.inside = true
		return nil, n
	case !whole:
		return nil, n
	}
	return p[:n], n
}

// sequence is the length of the escape sequence that p begins with, 0 if more of it may
// come. It is not whole if another key broke it off.
func sequence(p []byte) (n int, whole bool) {
	if len(p) < 2 {
		return 0, false
	}
	switch c := p[1]; {
	case c == '\r' || c == '\n':
		return 2, true
	case c < 0x20:
		return 1, false
	case c == 'O':
		return oneMore(p)
	case c == '[':
		return controlSequence(p)
	}
	return 2, true
}

// oneMore is sequence for those of ESC O and one more byte.
func oneMore(p []byte) (int, bool) {
	switch {
	case len(p) < 3:
		return 0, false
	case p[2] < 0x20:
		return 2, false
	}
	return 3, true
}

// controlSequence is sequence for those of ESC [, parameters and a final byte.
func controlSequence(p []byte) (int, bool) {
	for i, c := range p[2:] {
		switch {
		case c < 0x20 || c > 0x7e:
			return i + 2, false
		case c >= 0x40:
			return i + 3, true
		}
	}
	return 0, false
}

// A paste of this size or less is put into the line as it is; a larger one as a
// token, for the editor is slow with long lines and nobody reads them there.
const (
	pasteInline      = 400 // bytes
	pasteInlineLines = 4
)

// pastes are the texts that tokens stand for.
type pastes struct{ texts []string }

// paste returns the text for the line of a pasted one: itself, or a token.
func (p *pastes) paste(text string) string {
	lines := strings.Count(strings.TrimSuffix(text, "\n"), "\n") + 1
	if len(text) <= pasteInline && lines <= pasteInlineLines {
		return toSigns(text)
	}
	p.texts = append(p.texts, text)
	return fmt.Sprintf("[paste #%d, %d lines]", len(p.texts), lines)
}

// expand puts the pasted texts back in place of their tokens. A token without a text
// stays.
func (p *pastes) expand(line string) string {
	token := regexp.MustCompile(`\[paste #(\d+), \d+ lines\]`)
	return token.ReplaceAllStringFunc(line, func(found string) string {
		n, err := strconv.Atoi(token.FindStringSubmatch(found)[1])
		if err != nil || n < 1 || n > len(p.texts) {
			return found
		}
		return p.texts[n-1]
	})
}

// pastedText cleans a paste: line ends become one kind, for a terminal
// sends them as if Enter was pressed, and without other control characters.
func pastedText(raw []byte) string {
	raw = bytes.ReplaceAll(raw, []byte("\r\n"), []byte("\n"))
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\r':
			return '\n'
		case r < 0x20 && r != '\n' && r != '\t', r == 0x7f:
			return -1
		}
		return r
	}, strings.ToValidUTF8(string(raw), "\uFFFD"))
}

func toSigns(s string) string {
	return strings.NewReplacer("\r\n", signNewline, "\n", signNewline, "\t", signTab).Replace(s)
}

func fromSigns(s string) string {
	return strings.NewReplacer(signNewline, "\n", signTab, "\t").Replace(s)
}
