package terminal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"

	"golang.org/x/term"

	"pi/internal/printable"
)

// keyWait is how long the rest of an escape sequence may take to come.
const keyWait = 30 * time.Millisecond

// Keyboard is the one reader of the terminal's input. While a prompt is open, keys
// go to the line editor; while a panel is open, the panel takes them one by one;
// otherwise whole lines go to the inbox. Keys that one of these three does not use are
// kept for the next reader, whichever of them that is. The keyboard never blocks in a
// read, so that it can stop at any time, or pause while another program reads the
// terminal. Any goroutine may use it.
type Keyboard struct {
	in    *os.File
	tty   bool
	inbox *Inbox
	waker *waker
	done  chan struct{}
	quit  chan struct{}
	park  chan parking

	reading sync.Mutex // locked while bytes are read and delivered, before mu

	mu      sync.Mutex // guards the rest
	pending []byte     // read and not yet delivered
	decoder keyDecoder
	pastes  pastes
	editor  io.Writer // of the open prompt, else nil
	lines   bool      // no prompt is open and none is about to be
	cooked  int       // how many bytes not yet read were typed while the terminal was not raw
	typed   int       // how many bytes the prompt was given
	stale   bool      // pending was waited for long enough: its last key is complete

	shortcut func(name string) bool
	late     func(name string)

	panel panelKeys
	ended bool // the input has ended
}

// parking is a request to read nothing until release is closed.
type parking struct{ taken, release chan struct{} }

// newKeyboard begins to read the input of a terminal, as lines for the inbox at first.
func newKeyboard(s Setup) (*Keyboard, error) {
	w, err := newWaker()
	if err != nil {
		return nil, fmt.Errorf("read the terminal: %w", err)
	}
	k := &Keyboard{in: s.In, tty: term.IsTerminal(int(s.In.Fd())), inbox: s.Inbox, waker: w, lines: true,
		shortcut: s.Shortcut, late: s.Late,
		done: make(chan struct{}), quit: make(chan struct{}), park: make(chan parking, 1)}
	k.decoder.pastes = &k.pastes
	go k.run()
	return k, nil
}

// Stop ends the reading and waits for that. It may be called once.
func (k *Keyboard) Stop() {
	close(k.quit)
	k.waker.wake()
	if canWait {
		<-k.done
		k.waker.close()
	}
}

// run reads and delivers until the input ends, which it reports to the inbox, or Stop
// is called.
func (k *Keyboard) run() {
	defer close(k.done)
	buf := make([]byte, 4096)
	for {
		ready, expired := k.waker.wait(k.in, k.timeout())
		if expired { // the rest of an incomplete key has not come in time
			k.mu.Lock()
			k.stale = true
			k.deliver(true)
			k.mu.Unlock()
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

// read reads and delivers once. No panel can open meanwhile, so that keys typed
// before it opened can be told from later ones.
func (k *Keyboard) read(buf []byte) (int, error) {
	k.reading.Lock()
	defer k.reading.Unlock()
	n, err := k.in.Read(buf)
	k.receive(buf[:n])
	return n, err
}

// waitLent serves a request of Lend, if there is one: it reads nothing until the terminal
// is given back, or Stop is called. It reports false if there is no request.
func (k *Keyboard) waitLent() bool {
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

// Lend gives the terminal to another program until back is called: nothing is
// read meanwhile. It returns when the reading has paused.
func (k *Keyboard) Lend() (back func()) {
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
	return func() { close(p.release) }
}

// timeout is how long to wait for more input: keyWait while a prompt or a panel is open
// and the pending bytes may be the beginning of a key, else for ever (0).
func (k *Keyboard) timeout() time.Duration {
	k.mu.Lock()
	defer k.mu.Unlock()
	if (k.editor != nil || k.panel.isOpen()) && len(k.pending) > 0 && !k.stale {
		return keyWait
	}
	return 0
}

// readable reports whether input goes on after a read. Ctrl+D on an empty line
// reads as nothing, and so does a terminal that hung up.
func (k *Keyboard) readable(n int, err error) bool {
	switch {
	case n > 0, errors.Is(err, syscall.EINTR), errors.Is(err, syscall.EAGAIN):
		return true
	case k.tty && (err == nil || errors.Is(err, io.EOF)) && term.IsTerminal(int(k.in.Fd())):
		k.inbox.end(false)
		return true
	}
	return false
}

// receive adds bytes that were read to the pending ones, and delivers. Those that were
// typed before the open panel are not for it: they are kept for the next reader.
func (k *Keyboard) receive(p []byte) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if n := min(k.panel.unreadBefore, len(p)); n > 0 {
		k.panel.before, p, k.panel.unreadBefore = append(k.panel.before, p[:n]...), p[n:], k.panel.unreadBefore-n
	}
	// A terminal that is not raw sends the byte of Ctrl+J for Enter too, and people there
	// press Enter.
	n := min(k.cooked, len(p))
	k.cooked -= n
	k.pending = slices.Concat(k.pending, bytes.ReplaceAll(p[:n], []byte("\n"), []byte("\r")), p[n:])
	k.stale = false
	k.deliver(false)
}

// deliver gives pending keys to the panel, the editor or the inbox. Final means that an
// incomplete key at the end will not be completed.
func (k *Keyboard) deliver(final bool) {
	switch {
	case k.panel.isOpen():
		k.notifyPanel()
	case k.editor != nil:
		k.deliverKeys(final)
	case k.lines:
		k.deliverLines()
	}
}

// deliverLines puts whole lines into the inbox. The beginning of a line stays pending.
func (k *Keyboard) deliverLines() {
	for {
		i := bytes.IndexAny(k.pending, "\r\n")
		if i < 0 {
			return
		}
		line := string(k.pending[:i])
		k.reportLate(k.pending[:i])
		if k.pending[i] == '\r' && i+1 < len(k.pending) && k.pending[i+1] == '\n' {
			i++
		}
		k.pending = k.pending[i+1:]
		k.inbox.push(printable.Text(line))
	}
}

// flush delivers a last line without a line end, when the input has ended.
func (k *Keyboard) flush() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.ended = true
	if k.panel.isOpen() {
		k.panel.out()
	}
	if k.lines && len(k.pending) > 0 {
		k.inbox.push(printable.Text(string(k.pending)))
		k.pending = nil
	}
}

// deliverKeys gives the editor keys up to the one that ends its prompt. Later keys are
// kept for the next reader.
func (k *Keyboard) deliverKeys(final bool) {
	for len(k.pending) > 0 && k.editor != nil {
		if k.takeShortcut(final) {
			continue
		}
		out, n, ends := k.decoder.next(k.pending, final)
		if n == 0 {
			return
		}
		k.typed += n
		w := k.editor
		if ends {
			k.editor = nil
		}
		// The editor's end of the pipe is closed only after the last prompt.
		_, _ = w.Write(out)
		k.pending = k.pending[n:]
	}
}

// reportLate calls the callback late with the name of each control key in a line that
// was typed while no prompt was open. Input that does not come from a terminal has no
// keys.
func (k *Keyboard) reportLate(line []byte) {
	if k.late == nil || !k.tty {
		return
	}
	for len(line) > 0 {
		n := 1
		if c := line[0]; c < 0x20 || c == 0x7f {
			var name string
			name, n = nameKey(line, true)
			k.late(name)
		}
		line = line[n:]
	}
}

// takeShortcut removes the first key if it is a shortcut, and reports that. Typed or
// pasted text is never one.
func (k *Keyboard) takeShortcut(final bool) bool {
	if c := k.pending[0]; k.shortcut == nil || k.decoder.inside || c >= 0x20 && c != 0x7f {
		return false
	}
	name, n := nameKey(k.pending, final)
	if n == 0 || name == "" {
		return false
	}
	if chord, long := nameChord(k.pending); chord != "" && k.shortcut(chord) {
		n = long
	} else if !k.shortcut(name) {
		return false
	}
	k.pending = k.pending[n:]
	k.typed += n
	return true
}

// edit delivers keys to an editor from now on, up to the key that ends its prompt. raw
// puts the terminal into raw mode. Bytes typed before that and not read yet are
// counted, since Enter was sent as another byte then.
func (k *Keyboard) edit(raw func() error, w io.Writer) error {
	k.reading.Lock()
	defer k.reading.Unlock()
	if err := raw(); err != nil {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.lines && k.tty {
		k.cooked = unread(k.in)
	}
	k.editor, k.lines, k.typed, k.stale = w, false, 0, false
	k.deliverKeys(false)
	return nil
}

// inject writes keys that nobody typed to the open prompt, which gets none after them.
// It reports false if the prompt has ended already.
func (k *Keyboard) inject(sequence string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.editor == nil {
		return false
	}
	_, _ = io.WriteString(k.editor, sequence)
	k.editor = nil
	return true
}

// listen ends a prompt or a panel, and delivers whole lines to the inbox from now on.
// Keys that the prompt or the panel did not use come first.
func (k *Keyboard) listen() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.editor, k.lines, k.cooked = nil, true, 0
	k.pending = slices.Concat(k.decoder.pasted, k.panel.before, k.pending)
	k.panel = panelKeys{}
	k.decoder = keyDecoder{pastes: &k.pastes}
	k.deliverLines()
}

// Typed is how many bytes were typed into the last prompt, or into the one that is
// open.
func (k *Keyboard) Typed() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.typed
}

// Expand puts pasted texts in place of the tokens that stand for them in a line.
func (k *Keyboard) Expand(line string) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.pastes.expand(line)
}
