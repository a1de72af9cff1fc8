package terminal

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// input is the one reader of the terminal's keys, on a goroutine of its own. It does not
// read before there is something to read, so that it can be paused at any time while
// another program reads.
type input struct {
	in      *os.File
	waker   *waker
	decoder decoder
	decoded []func()    // what was found and not handed on yet
	handing atomic.Bool // a function of the front end runs
	holding atomic.Bool // something was read and not handed on yet, or is just handed on
	done    chan struct{}
	end     func()            // the input has ended
	guard   func(func()) bool // runs a function of the front end and reports whether it did not panic

	raw     func(p []byte) // takes what is read, in place of the decoder; nil: keys are decoded
	onKey   func(Key)
	onFocus func(in bool)
	onReply func(string)
	early   func() bool // the user cannot have seen yet what the keys do
	burst   burst

	reading sync.Mutex // locked while bytes are read, and while another program has the terminal
	cooked  int        // how many bytes not yet read were typed while the terminal was not raw
	unread  []byte     // another program has read them, and had no use for them
}

func newInput(in *os.File, slow bool) (*input, error) {
	w, err := newWaker()
	if err != nil {
		return nil, fmt.Errorf("read the terminal: %w", err)
	}
	k := &input{in: in, waker: w, done: make(chan struct{})}
	k.early = func() bool { return false }
	k.decoder = decoder{slow: slow, handlers: k}
	k.burst.key = func(key Key) { k.found(func() { k.onKey(key) }) }
	return k, nil
}

// wake signals that there is something to do. It never waits: one signal is enough, so the
// channel has a buffer of one.
func wake(signal chan<- struct{}) {
	select {
	case signal <- struct{}{}:
	default:
	}
}

func (k *input) focus(in bool)       { k.found(func() { k.onFocus(in) }) }
func (k *input) reply(answer string) { k.found(func() { k.onReply(answer) }) }
func (k *input) found(f func())      { k.decoded = append(k.decoded, f) }

// key takes a key that was decoded. Who ends a line before there is anything to be seen,
// a script for instance, does so with the byte of Ctrl+J.
func (k *input) key(key Key) {
	if key.Name == "ctrl+j" && k.early() {
		key.Name = "enter"
	}
	k.burst.add(key)
}

// run reads and hands on until the input ends, stop is called, or the front end panics.
func (k *input) run() {
	defer close(k.done)
	var given time.Time // when the beginning of a sequence was given up
	for {
		ready, expired := k.waker.wait(k.in, k.timeout())
		switch {
		case expired && k.burst.open():
			k.burst.end()
		case expired:
			if k.decoder.expire(); k.decoder.late != nil {
				given = time.Now()
			}
		case !ready && !k.readAgain():
			return
		case !ready:
		default:
			if k.decoder.late != nil && time.Since(given) > waitTail {
				k.decoder.late = nil
			}
			if !k.read() {
				k.guard(k.end)
				return
			}
		}
		if !k.guard(k.handOn) {
			return
		}
	}
}

// timeout is how long to wait for more bytes; 0 is for ever.
func (k *input) timeout() time.Duration {
	if k.burst.open() {
		return waitBurst
	}
	return k.decoder.wait()
}

// handOn calls the front end for what was found.
func (k *input) handOn() {
	k.handing.Store(true)
	defer k.handing.Store(false)
	defer func() { k.holding.Store(k.timeout() > 0) }()
	found := k.decoded
	k.decoded = nil
	for _, f := range found {
		f()
	}
}

// read reads and decodes once. It reports false at the end of the input.
func (k *input) read() bool {
	k.reading.Lock()
	defer k.reading.Unlock()
	if !readable(k.in) { // another program has read it meanwhile
		return true
	}
	k.holding.Store(true)
	buf := make([]byte, 4096)
	n, err := k.in.Read(buf)
	if n <= 0 {
		return errors.Is(err, syscall.EINTR) || errors.Is(err, syscall.EAGAIN)
	}
	if k.raw != nil {
		k.raw(buf[:n])
		return true
	}
	k.burst.begin(time.Now(), buf[:n])
	k.decoder.feed(k.asRaw(buf[:n]))
	k.burst.finish()
	return true
}

// readAgain decodes what another program has read in vain. It reports false if there is
// nothing, so that somebody wants the reading to end.
func (k *input) readAgain() bool {
	k.reading.Lock()
	defer k.reading.Unlock()
	if len(k.unread) == 0 {
		return false
	}
	k.holding.Store(true)
	k.waker.acknowledge()
	typed, cooked := k.unread, k.cooked
	k.cooked = len(typed)
	k.decoder.feed(k.asRaw(typed))
	k.unread, k.cooked = nil, cooked
	return true
}

// asRaw turns the bytes that were typed while the terminal was not raw into those that it
// would have sent: the byte of Ctrl+J was sent for Enter too, and people there press Enter;
// Ctrl+D was kept as a zero.
func (k *input) asRaw(p []byte) []byte {
	n := min(k.cooked, len(p))
	k.cooked -= n
	head := bytes.ReplaceAll(p[:n], []byte{'\n'}, []byte{'\r'})
	return append(bytes.ReplaceAll(head, []byte{0}, []byte{4}), p[n:]...)
}

// waiting reports whether something was typed that was not handed on yet. While it is read, and
// while another program has the terminal, which may give back what it has read, that is so.
func (k *input) waiting() bool {
	if !k.reading.TryLock() {
		return true
	}
	defer k.reading.Unlock()
	return k.holding.Load() || len(k.unread) > 0 || unread(k.in) > 0
}

// pause has nothing read until resume is called. It may be called by a function that run
// calls.
func (k *input) pause() { k.reading.Lock() }

// resume ends a pause. What is there to be read was typed into a terminal that was not raw.
func (k *input) resume() {
	k.cooked = unread(k.in)
	if len(k.unread) > 0 {
		k.waker.interrupt()
	}
	k.reading.Unlock()
}

// stop ends the reading and waits for the end: not for long while a function of the front
// end runs, since that may have called it.
func (k *input) stop(patience time.Duration) {
	k.waker.wake()
	if k.handing.Load() {
		patience /= 10
	}
	select {
	case <-k.done:
		k.waker.close()
	case <-time.After(patience):
	}
}

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
