package terminal

import (
	"errors"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	frameTime = time.Second / 30      // between two frames
	dragTime  = 50 * time.Millisecond // after the last change of the window's size
	mostAhead = 256 << 10             // bytes that may be printed and not painted
)

// painter writes everything to the terminal, on a goroutine of its own: the rows that were
// printed, and below them the live zone. What came since the last frame is one frame, and
// a frame is one write. It sleeps while nothing has changed.
type painter struct {
	out     *os.File
	zone    func(columns, rows int) Zone
	resized func()
	size    func() (columns, rows int)
	reflows func() bool
	answers func() bool // the terminal answers what it is asked

	wakes chan struct{}     // a buffer of one
	calls chan func()       // run by the goroutine between two frames
	quit  chan struct{}     // closed to end the goroutine
	done  chan struct{}     // closed when it has ended
	guard func(func()) bool // runs a function of the front end and reports whether it did not panic

	mu       sync.Mutex
	room     *sync.Cond // printed rows were taken, or need not wait
	want     wants
	asking   bool // the zone is being asked for, so that nobody may be kept waiting
	away     bool // another program has the terminal
	ended    bool // the goroutine paints no more, what is printed is written at once
	position position

	shown atomic.Int64 // when a zone was first painted, in nanoseconds; 0: not yet

	// Only the goroutine uses these.
	drawn  canvas
	last   time.Time // when the last frame was painted
	frozen time.Time // until then the size of the window may be changing
	sized  bool      // it has changed, though it may be the same again
	gone   bool      // the terminal takes nothing any more
}

// wants is what the next frame is for.
type wants struct {
	rows     []byte // printed, each row with its end
	printed  int    // how often something was printed, ever
	controls []byte
	changed  bool
	urgent   bool            // not to wait for the time of the next frame
	flushed  []chan struct{} // to be closed after the frame
}

func newPainter(out *os.File, h Handler) *painter {
	p := &painter{out: out, zone: h.Zone, resized: h.Resized, size: func() (int, int) { return size(out) },
		reflows: func() bool { return false }, answers: func() bool { return false }, guard: func(f func()) bool { f(); return true },
		wakes: make(chan struct{}, 1), calls: make(chan func()), quit: make(chan struct{}), done: make(chan struct{})}
	if p.zone == nil {
		p.zone = func(int, int) Zone { return Zone{} }
	}
	if p.resized == nil {
		p.resized = func() {}
	}
	p.room = sync.NewCond(&p.mu)
	return p
}

// ask notes something that the next frame is for.
func (p *painter) ask(note func(*wants)) {
	p.mu.Lock()
	note(&p.want)
	p.mu.Unlock()
	wake(p.wakes)
}

// print adds rows, and waits before that while there are too many. It never waits while the zone is asked
// for or another program has the terminal: the front end may hold a lock then that
// others need.
func (p *painter) print(rows []string) {
	p.mu.Lock()
	for len(p.want.rows) > mostAhead && !p.asking && !p.away && !p.ended {
		p.room.Wait()
	}
	if p.ended {
		defer p.mu.Unlock()
		_, _ = p.out.Write(appendRows(nil, rows))
		return
	}
	p.mu.Unlock()
	p.ask(func(w *wants) {
		w.rows = appendRows(w.rows, rows)
		w.printed++
	})
}

// appendRows appends rows with their ends to text.
func appendRows(text []byte, rows []string) []byte {
	for _, row := range rows {
		for part := range strings.SplitSeq(row, "\n") {
			text = append(appendRow(text, part), "\r\n"...)
		}
	}
	return text
}

// flush waits until what was printed is written. While another program has the terminal
// it does not wait.
func (p *painter) flush() {
	written := make(chan struct{})
	p.ask(func(w *wants) {
		w.urgent = true
		w.flushed = append(w.flushed, written)
	})
	select {
	case <-written:
	case <-p.done:
	}
}

// call runs f on the goroutine between two frames, and waits for its end. It reports false
// if the goroutine has ended, or does not take f within patience; 0 is for ever.
func (p *painter) call(patience time.Duration, f func()) bool {
	var late <-chan time.Time
	if patience > 0 {
		timer := time.NewTimer(patience)
		defer timer.Stop()
		late = timer.C
	}
	ran := make(chan struct{})
	select {
	case p.calls <- func() { defer close(ran); f() }:
	case <-p.done:
		return false
	case <-late:
		return false
	}
	select {
	case <-ran:
		return true
	case <-late:
		return false
	}
}

// run paints until quit is closed.
func (p *painter) run() {
	defer close(p.done)
	defer p.end()
	p.last = time.Now().Add(-frameTime)
	timer := time.NewTimer(time.Hour)
	timer.Stop()
	defer timer.Stop()
	for {
		select {
		case <-p.wakes:
		case <-timer.C:
		case f := <-p.calls:
			f()
		case <-p.quit:
			return
		}
		for wait, ok := p.paint(); ok; wait, ok = p.paint() {
			if wait > 0 {
				timer.Reset(wait)
				break
			}
		}
	}
}

// end notes that nothing is painted any more, and has nobody wait for it.
func (p *painter) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = true
	p.write(append(p.want.controls, p.want.rows...))
	p.want.rows, p.want.controls = nil, nil
	p.room.Broadcast()
}

// paint paints a frame if one is wanted and it is time for it. ok is false if none is wanted;
// else wait is how long it is until the frame, 0 if it was painted.
func (p *painter) paint() (wait time.Duration, ok bool) {
	p.mu.Lock()
	want, away := p.want, p.away
	p.mu.Unlock()
	if away {
		p.release()
		return 0, false
	}
	if !want.changed && !want.urgent && len(want.rows)+len(want.controls)+len(want.flushed) == 0 {
		return 0, false
	}
	now := time.Now()
	if p.drawn.columns > 0 && !p.gone {
		if columns, rows := p.size(); (columns != p.drawn.columns || rows != p.drawn.height) && p.frozen.IsZero() {
			p.frozen = now.Add(dragTime)
			p.locate()
		}
	}
	if wait := max(p.frozen.Sub(now), p.positionWait(now)); wait > 0 {
		return wait, true
	}
	if wait := frameTime - now.Sub(p.last); !want.urgent && wait > 0 {
		return wait, true
	}
	if !p.guard(p.frame) {
		p.note(func() { p.away = true })
	}
	return 0, true
}

// release has nobody wait for what cannot be written now.
func (p *painter) release() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, written := range p.want.flushed {
		close(written)
	}
	p.want.flushed = nil
}

// windowChanges notes that the size of the window has changed and may change further.
func (p *painter) windowChanges() {
	p.call(0, func() {
		p.frozen, p.sized = time.Now().Add(dragTime), true
		p.locate()
		p.note(func() { p.want.changed = true })
	})
}

// frame paints what is wanted.
func (p *painter) frame() {
	p.frozen = time.Time{}
	if p.onlyControls() {
		controls, _ := p.takeControls()
		p.write(controls)
		return
	}
	columns, height := p.size()
	if d := &p.drawn; d.columns == 0 {
		d.columns, d.height, d.stale = columns, height, true
	} else if p.sized || columns != d.columns || height != d.height {
		p.whileAsking(p.resized)
		d.resize(columns, height, p.reflows(), p.takePosition())
	}
	p.sized = false
	text, z := p.collect(columns, height)
	frame, flushed := p.takeControls()
	switch z = z.fit(columns, height); {
	case len(text) > 0 || p.drawn.stale:
		frame = p.drawn.redraw(frame, text, z)
	case !p.drawn.shows(z):
		frame = p.drawn.change(frame, z)
	}
	p.write(frame)
	p.last = time.Now()
	if len(z.Rows) > 0 {
		p.shown.CompareAndSwap(0, p.last.UnixNano())
	}
	for _, written := range flushed {
		close(written)
	}
}

// seenAfter is how long something has to be shown before a user can have seen it and
// pressed a key because of it.
const seenAfter = 300 * time.Millisecond

// unseen reports whether nobody can have seen the zone yet.
func (p *painter) unseen() bool {
	shown := p.shown.Load()
	return shown == 0 || time.Since(time.Unix(0, shown)) < seenAfter
}

// onlyControls reports whether nothing is wanted but sequences that move nothing.
func (p *painter) onlyControls() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return !p.want.changed && !p.want.urgent && len(p.want.rows)+len(p.want.flushed) == 0
}

// takeControls takes the sequences that move nothing, and whom to tell of the frame.
func (p *painter) takeControls() (controls []byte, flushed []chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	controls, flushed = p.want.controls, p.want.flushed
	p.want.controls, p.want.flushed = nil, nil
	return controls, flushed
}

// collect takes the rows that were printed, and asks for the zone. What was printed while the
// zone was asked for may be missing in the zone, or be in it still, so the zone is then
// asked for again.
func (p *painter) collect(columns, height int) (text []byte, z Zone) {
	const tries = 5
	for range tries {
		p.mu.Lock()
		text = append(text, p.want.rows...)
		p.want.rows, p.want.changed, p.want.urgent = p.want.rows[:0], false, false
		printed := p.want.printed
		p.mu.Unlock()
		p.whileAsking(func() { z = p.zone(columns, height) })
		p.mu.Lock()
		same := p.want.printed == printed
		p.mu.Unlock()
		if same {
			break
		}
	}
	return text, z
}

// whileAsking calls a function of the front end, and keeps nobody waiting meanwhile.
func (p *painter) whileAsking(f func()) {
	p.note(func() { p.asking = true })
	defer p.note(func() { p.asking = false })
	f()
}

// note changes something that p.mu guards, and wakes who waits for it.
func (p *painter) note(change func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change()
	p.room.Broadcast()
}

// write writes a frame with one write, where the terminal takes it at once. If the terminal
// is gone there is nobody to tell, and nothing more is written.
func (p *painter) write(frame []byte) {
	for len(frame) > 0 && !p.gone {
		n, err := p.out.Write(frame)
		frame = frame[n:]
		switch {
		case err == nil:
		case errors.Is(err, syscall.EAGAIN): // another program made the terminal refuse to wait
			time.Sleep(time.Millisecond)
		default:
			p.gone = true
		}
	}
}

// remove writes what was printed and erases the zone; then trailer is written.
// Only the goroutine calls it.
func (p *painter) remove(trailer string) {
	p.mu.Lock()
	text, controls := p.want.rows, p.want.controls
	p.want.rows, p.want.controls = nil, nil
	p.mu.Unlock()
	frame := controls
	if p.drawn.columns > 0 || len(text) > 0 {
		frame = p.drawn.erase(frame)
		frame = append(frame, text...)
	}
	if p.drawn.hidden {
		frame = append(frame, showCursor...)
		p.drawn.hidden = false
	}
	p.write(append(frame, trailer...))
}

// After the window has changed its size only the terminal knows in which of its rows the cursor
// is: rows may have been broken, and some pushed out at the top. It is asked, where it has
// answered questions before.

const askPosition = "\x1b[6n"

// waitPosition is how long a frame waits for the answer.
const waitPosition = 100 * time.Millisecond

// position is what is known of the row of the cursor.
type position struct {
	asked, answered int
	last            time.Time // when it was asked last
	row             int       // of the last answer, counted from 0
}

// open reports whether an answer is awaited.
func (p *position) open() bool { return p.answered < p.asked }

// isPosition reports whether a sequence ESC [ … may be an answer to askPosition. F3 with
// Shift is sent in the same way.
func isPosition(s string) bool {
	row, column, ok := strings.Cut(strings.TrimSuffix(strings.TrimPrefix(s, "\x1b["), "R"), ";")
	return strings.HasPrefix(s, "\x1b[") && strings.HasSuffix(s, "R") && ok && digits([]byte(row)) && digits([]byte(column))
}

// locate asks for the row of the cursor. Only the goroutine that paints calls it.
func (p *painter) locate() {
	p.mu.Lock()
	away := p.away
	p.mu.Unlock()
	if away || p.gone || !p.answers() {
		return
	}
	p.note(func() {
		p.position.asked++
		p.position.last = time.Now()
	})
	p.write([]byte(askPosition))
}

// locating reports whether an answer is awaited, for as long as one may come.
func (p *painter) locating() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.position.open() && time.Since(p.position.last) < time.Second
}

// located takes an answer.
func (p *painter) located(answer string) {
	row, _, _ := strings.Cut(strings.TrimPrefix(answer, "\x1b["), ";")
	p.ask(func(*wants) {
		p.position.answered++
		p.position.row = number(row, 1) - 1
	})
}

// positionWait is how long a frame has to wait for the answer.
func (p *painter) positionWait(now time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.position.open() {
		return 0
	}
	return p.position.last.Add(waitPosition).Sub(now)
}

// takePosition returns the row of the cursor since the window has another size, -1 if
// that is not known.
func (p *painter) takePosition() (row int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	row = p.position.row
	if p.position.open() || p.position.asked == 0 {
		row = -1
	}
	p.position = position{asked: p.position.asked - p.position.answered, last: p.position.last}
	return row
}
