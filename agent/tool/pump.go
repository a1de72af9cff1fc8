package tool

import (
	"os"
	"time"
	"unicode/utf8"
)

// pump carries the output of a command to the buffer and to a watcher. It belongs to
// one goroutine; another reads the pipe.
type pump struct {
	out    *output
	watch  watcher
	chunks <-chan []byte // nil once the output is at its end

	unreported []byte    // read, but not reported
	news       bool      // there is something to report
	last       time.Time // of the last report
	timer      *time.Timer
}

// watcher is called with output while it comes; either function may be nil.
type watcher struct {
	text func(text string) // all of it, in order
	end  func(o *output)   // called for more output; o has the end of all of it
}

const (
	drainGrace  = 100 * time.Millisecond // for output that is on its way when the shell ends
	updatePause = 100 * time.Millisecond // between two reports of output, at least
)

// maxUnreported is how much output waits at most for a report.
const maxUnreported = 1 << 20

// readChunks sends what it reads to chunks, until the end of the pipe or an error, such
// as the deadline that interrupt sets; then it closes chunks.
func readChunks(r *os.File, chunks chan<- []byte) {
	defer close(chunks)
	for {
		b := make([]byte, 32<<10)
		n, err := r.Read(b)
		if n > 0 {
			chunks <- b[:n]
		}
		if err != nil {
			return
		}
	}
}

// carryUntil stores and reports output until a or b is ready; nil never is.
func (p *pump) carryUntil(a, b <-chan struct{}) {
	for {
		select {
		case <-a:
			return
		case <-b:
			return
		case chunk, ok := <-p.chunks:
			p.add(chunk, ok)
		case <-p.due():
			p.report()
		}
	}
}

// drain reads the rest of the output once the shell has ended, and reports it. A
// process in the background may have the pipe open for ever, so only what comes at once
// counts; open reports whether one has.
func (p *pump) drain(r *os.File) (open bool) {
	limit := time.NewTimer(drainGrace)
	defer limit.Stop()
	for p.chunks != nil {
		select {
		case chunk, ok := <-p.chunks:
			p.add(chunk, ok)
		case <-limit.C:
			open = p.cutOff(r)
		}
	}
	if p.timer != nil {
		p.timer.Stop()
	}
	p.unreported = []byte(validText(p.unreported))
	p.news = p.news || len(p.unreported) > 0 // the beginning of a character whose rest does not come
	p.report()
	return open
}

// cutOff ends the reading of a pipe that others may still write to, and reports whether one
// has it open. What was written before counts, however late this program gets to it: on a
// machine that is busy the time may have passed without a read. Where a read can be ended,
// another process then reads on, so that the others do not die of a closed pipe.
func (p *pump) cutOff(r *os.File) (open bool) {
	rest := p.chunks
	p.chunks = nil
	if !interrupt(r) {
		go func() { // so that readChunks is not blocked
			for range rest {
				continue
			}
		}()
		return true
	}
	for chunk := range rest {
		p.add(chunk, true)
	}
	waiting, ended := readWaiting(r)
	if len(waiting) > 0 {
		p.add(waiting, true)
	}
	if ended {
		return false
	}
	adopt(r)
	return true
}

// add adds a chunk to the output; ok is false at the end of it. The watcher is called
// at once, or, if it was called just before, when the timer ends.
func (p *pump) add(chunk []byte, ok bool) {
	if !ok {
		p.chunks = nil
		return
	}
	p.out.write(chunk)
	if p.watch.text == nil && p.watch.end == nil {
		return
	}
	p.news = true
	if p.watch.text != nil {
		p.unreported = append(p.unreported, chunk...)
	}
	if wait := updatePause - time.Since(p.last); wait > 0 && len(p.unreported) < maxUnreported {
		if p.timer == nil {
			p.timer = time.NewTimer(wait)
		}
		return
	}
	p.report()
}

// due returns the channel of the timer that ends when waiting output is to be reported;
// nil, which is never ready, if none waits.
func (p *pump) due() <-chan time.Time {
	if p.timer == nil {
		return nil
	}
	return p.timer.C
}

// report hands to the watcher what is not reported yet, except for the beginning of a
// character whose rest has not come.
func (p *pump) report() {
	p.timer = nil
	if !p.news {
		return
	}
	if p.watch.end != nil {
		p.watch.end(p.out)
	}
	whole := len(p.unreported) - unfinished(p.unreported)
	if p.watch.text != nil && whole > 0 {
		p.watch.text(validText(p.unreported[:whole]))
	}
	p.unreported = append(p.unreported[:0], p.unreported[whole:]...)
	p.news, p.last = false, time.Now()
}

// unfinished is the length of an incomplete character at the end of b.
func unfinished(b []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(b); n++ {
		if c := b[len(b)-n:]; utf8.RuneStart(c[0]) {
			if utf8.FullRune(c) {
				return 0
			}
			return n
		}
	}
	return 0
}
