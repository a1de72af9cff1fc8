package tool

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// Bounds of a search. Only regular files are searched, and none without an end: files of
// the system whose size is 0, and those that somebody writes to faster than they are
// read.
const (
	maxSearch  = 64 << 20        // bytes of the largest file
	maxGrowth  = 1 << 20         // bytes that a file may have more than it had when it was opened
	maxSilence = 2 * time.Second // for which a read may wait, as that of a file of the system can
	largeFile  = 4 << 20         // files from here on are read one at a time
	grepWidth  = 500             // bytes of a line that are shown
)

// search finds matching lines in many files at once and keeps them in the order
// of the files.
type search struct {
	pattern pattern
	context int // lines around a match
	limit   int // matching lines

	lines   []string
	matches int
	more    bool     // the limit ended the search
	cut     bool     // a line was shortened
	skipped []string // files that are too large, or grow

	large sync.Mutex // locked while a large file is looked into
}

// candidate is a file to search, and its name in the results.
type candidate struct {
	location
	shown string
}

// hits are the matches of one file.
type hits struct {
	candidate
	data    []byte // the lines that match and those around them
	at      []span // matching lines, at most limit+1
	skipped bool
}

// run searches the files. Workers look into several at a time; each file has a
// place in a queue, from which the results are taken in order.
func (s *search) run(ctx context.Context, files iter.Seq[candidate]) error {
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	workers := runtime.GOMAXPROCS(0)
	type job struct {
		candidate
		answer chan hits
	}
	jobs, queue := make(chan job), make(chan chan hits, 8*workers)
	var wg sync.WaitGroup
	wg.Go(func() {
		defer close(queue)
		defer close(jobs)
		for f := range files {
			j := job{f, make(chan hits, 1)}
			select {
			case queue <- j.answer:
				jobs <- j // a worker receives it, since workers end only after this loop
			case <-inner.Done():
				return
			}
		}
	})
	for range workers {
		wg.Go(func() {
			var b buffers
			for j := range jobs {
				j.answer <- s.searchFile(inner, j.candidate, &b)
			}
		})
	}
	for answer := range queue {
		if !s.more {
			s.add(<-answer)
		}
		if s.more {
			cancel()
		}
	}
	wg.Wait()
	return ctx.Err()
}

// searchFile searches one file. A file that cannot be read has no matches.
func (s *search) searchFile(ctx context.Context, c candidate, b *buffers) hits {
	h := hits{candidate: c}
	f, err := c.open()
	if err != nil || ctx.Err() != nil {
		if err == nil {
			f.Close()
		}
		return h
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return h
	}
	if info.Size() > maxSearch {
		h.skipped = true
		return h
	}
	if info.Size() >= largeFile {
		s.large.Lock()
		defer s.large.Unlock()
		defer func() { *b = buffers{} }() // gives the memory back
	}
	_ = f.SetReadDeadline(time.Now().Add(maxSilence)) // regular files have none, and never wait
	data, err := b.read(&ctxReader{ctx, f}, int(info.Size()))
	if h.skipped = errors.Is(err, errGrows); err != nil || bytes.IndexByte(data[:min(len(data), sniffLength)], 0) >= 0 {
		return h // a NUL byte near the start means that it is binary, as to git
	}
	data = bytes.TrimPrefix(data, utf8BOM)
	if at := s.pattern.lines(ctx, data, s.limit+1, b); at != nil {
		h.data, h.at = s.excerpt(data, at)
	}
	return h
}

// excerpt copies the matching lines and those around them, so that the file itself
// is not kept until its turn comes.
func (s *search) excerpt(data []byte, at []span) (lines []byte, in []span) {
	next := 0 // the first line of data that is not copied
	for i, m := range at {
		for start := linesBefore(data, m.start, s.context, next); start < m.start; {
			lines, start = copyLine(lines, data, start)
		}
		in = append(in, span{number: m.number, start: len(lines)})
		lines, next = copyLine(lines, data, m.start)
		for n := 0; n < s.context && next < len(data); n++ {
			if i+1 < len(at) && next == at[i+1].start {
				break
			}
			lines, next = copyLine(lines, data, next)
		}
	}
	return lines, in
}

// linesBefore is where the nth line before the one at start begins, but not before
// first.
func linesBefore(data []byte, start, n, first int) int {
	for ; n > 0 && start > first; n-- {
		start = 1 + bytes.LastIndexByte(data[:start-1], '\n')
	}
	return start
}

// copyLine appends the line of data at start, of a long one as much as can be shown,
// and returns where the next begins.
func copyLine(lines, data []byte, start int) (longer []byte, next int) {
	const longest = grepWidth + 2*utf8.UTFMax
	end, next := len(data), len(data)
	if i := bytes.IndexByte(data[start:], '\n'); i >= 0 {
		end, next = start+i, start+i+1
	}
	return append(append(lines, data[start:min(end, start+longest)]...), '\n'), next
}

var errGrows = errors.New("the file grows while it is read")

// read reads a file of this size to its end, into the buffer that is used again for the
// next file. It fails with errGrows if the file is much larger by then.
func (b *buffers) read(r io.Reader, size int) ([]byte, error) {
	b.file = slices.Grow(b.file[:0], size+bytes.MinRead)
	for {
		n, err := r.Read(b.file[len(b.file):cap(b.file)])
		b.file = b.file[:len(b.file)+n]
		switch {
		case errors.Is(err, io.EOF):
			return b.file, nil
		case err != nil:
			return nil, err
		case len(b.file) > size+maxGrowth:
			return nil, errGrows
		}
		b.file = slices.Grow(b.file, bytes.MinRead)
	}
}

// add appends the lines to show of a file: each match with the lines around it, once,
// and -- where lines are left out. At the limit of matches it stops and sets more.
func (s *search) add(h hits) {
	if h.skipped {
		s.skipped = append(s.skipped, h.shown)
	}
	if room := s.limit - s.matches; len(h.at) > room {
		h.at, s.more = h.at[:room], true
	}
	s.matches += len(h.at)
	last := 0 // the last line shown of this file
	for i, m := range h.at {
		first, before := m.number, m.start
		for n := 0; n < s.context && first > last+1 && before > 0; n++ {
			first--
			before = 1 + bytes.LastIndexByte(h.data[:before-1], '\n')
		}
		if s.context > 0 && len(s.lines) > 0 && (last == 0 || first > last+1) {
			s.lines = append(s.lines, "--")
		}
		for before < m.start {
			before = s.show(h, '-', first, before)
			first++
		}
		next := s.show(h, ':', m.number, m.start)
		last = m.number
		for n := 0; n < s.context && next < len(h.data); n++ {
			if i+1 < len(h.at) && h.at[i+1].number == last+1 {
				break
			}
			last++
			next = s.show(h, '-', last, next)
		}
	}
}

// show appends to the result the line of h.data that starts at start, with its number,
// and returns where the next starts. mark is : for a match and - for a line beside one.
func (s *search) show(h hits, mark byte, number, start int) (next int) {
	next = len(h.data)
	if i := bytes.IndexByte(h.data[start:], '\n'); i >= 0 {
		next = start + i + 1
	}
	text := strings.TrimRight(validText(h.data[start:next]), "\r\n")
	if len(text) > grepWidth {
		text = text[:cutBefore(text, grepWidth)] + "…"
		s.cut = true
	}
	s.lines = append(s.lines, fmt.Sprintf("%s%c%d%c %s", h.shown, mark, number, mark, text))
	return next
}
