package tool

import (
	"os"
	"time"
	"unicode/utf8"
)

// pump carries the output of a command to where it is kept and to who watches.
// It belongs to one goroutine; another reads the pipe.
type pump struct {
	out    *output
	watch  watcher
	chunks <-chan []byte // nil once the output is at its end

	unsaid []byte    // read, but not reported
	news   bool      // there is something to report
	last   time.Time // of the last report
	timer  *time.Timer
}

// watcher is told of output while it comes; either may be nil.
type watcher struct {
	text func(text string) // all of it, in order
	end  func(o *output)   // that there is more, and what the end is now
}

func (w watcher) idle() bool { return w.text == nil && w.end == nil }

// maxUnsaid is how much output is held back for a watcher of the text.
const maxUnsaid = 1 << 20

// readChunks reads until the end, or until the deadline that drain sets.
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

// until carries output until one of two channels is ready.
func (p *pump) until(a, b <-chan struct{}) {
	for {
		select {
		case <-a:
			return
		case <-b:
			return
		case chunk, ok := <-p.chunks:
			p.take(chunk, ok)
		case <-p.due():
			p.tell()
		}
	}
}

// drain takes what is left once the shell has ended. A process in the
// background may hold the pipe open for ever, so only what comes at once
// counts; it reports whether one does.
func (p *pump) drain(r *os.File) (open bool) {
	limit := time.NewTimer(drainGrace)
	defer limit.Stop()
	for p.chunks != nil {
		select {
		case chunk, ok := <-p.chunks:
			p.take(chunk, ok)
		case <-limit.C:
			open = true
			p.cutOff(r)
		}
	}
	if p.timer != nil {
		p.timer.Stop()
	}
	p.unsaid = []byte(validText(p.unsaid))
	p.news = p.news || len(p.unsaid) > 0 // the beginning of a character whose rest does not come
	p.tell()
	return open
}

// cutOff ends the reading of a pipe that others still write to.
func (p *pump) cutOff(r *os.File) {
	rest := p.chunks
	p.chunks = nil
	if !interrupt(r) {
		go discard(rest)
		return
	}
	discard(rest)
	adopt(r)
}

// discard lets readChunks come to its end.
func discard(chunks <-chan []byte) {
	for range chunks {
		continue
	}
}

func (p *pump) take(chunk []byte, ok bool) {
	if !ok {
		p.chunks = nil
		return
	}
	p.out.write(chunk)
	if p.watch.idle() {
		return
	}
	p.news = true
	if p.watch.text != nil {
		p.unsaid = append(p.unsaid, chunk...)
	}
	if wait := updatePause - time.Since(p.last); wait > 0 && len(p.unsaid) < maxUnsaid {
		if p.timer == nil {
			p.timer = time.NewTimer(wait)
		}
		return
	}
	p.tell()
}

// due is ready when output that was held back may be reported; it never is
// while nothing is held back.
func (p *pump) due() <-chan time.Time {
	if p.timer == nil {
		return nil
	}
	return p.timer.C
}

// tell reports what is held back, but for the beginning of a character whose
// rest has not come.
func (p *pump) tell() {
	p.timer = nil
	if !p.news {
		return
	}
	if p.watch.end != nil {
		p.watch.end(p.out)
	}
	whole := len(p.unsaid) - unfinished(p.unsaid)
	if p.watch.text != nil && whole > 0 {
		p.watch.text(validText(p.unsaid[:whole]))
	}
	p.unsaid = append(p.unsaid[:0], p.unsaid[whole:]...)
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
