package tool

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"iter"
	"regexp"
	"regexp/syntax"
	"runtime"
	"strings"
	"sync"
	"unicode/utf8"
)

// maxSearch is the largest file that is searched.
const maxSearch = 64 << 20

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
	skipped []string // files that are too large
}

// candidate is a file to search and what results call it.
type candidate struct {
	place
	shown string
}

// hits is what a file has.
type hits struct {
	candidate
	data    []byte
	at      []span // matching lines, at most limit+1
	tooLong bool
}

// span is a line: its number and where it is in the file, without its ending.
type span struct{ number, start, end int }

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
				jobs <- j // a worker takes it: they outlive this loop
			case <-inner.Done():
				return
			}
		}
	})
	for range workers {
		wg.Go(func() {
			for j := range jobs {
				j.answer <- s.look(inner, j.candidate)
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

// look searches one file. What cannot be read has nothing.
func (s *search) look(ctx context.Context, c candidate) hits {
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
		h.tooLong = true
		return h
	}
	h.data, err = io.ReadAll(&ctxReader{ctx, f})
	if err != nil || isBinary(h.data) {
		return hits{candidate: c}
	}
	h.data = bytes.TrimPrefix(h.data, utf8BOM)
	h.at = s.pattern.lines(ctx, h.data, s.limit+1)
	if len(h.at) == 0 {
		h.data = nil
	}
	return h
}

// isBinary goes by a NUL byte near the start, as git does.
func isBinary(data []byte) bool {
	return bytes.IndexByte(data[:min(len(data), sniffLength)], 0) >= 0
}

// add appends the results of a file.
func (s *search) add(h hits) {
	if h.tooLong {
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

// show appends the line that starts at start and returns where the next does.
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

// pattern matches lines. Every line that matches holds the literal, so that
// most lines never meet the regular expression.
type pattern struct {
	re      *regexp.Regexp
	literal []byte // may be empty
}

func newPattern(re *regexp.Regexp) pattern {
	p := pattern{re: re}
	if tree, err := syntax.Parse(re.String(), syntax.Perl); err == nil {
		p.literal = []byte(required(tree.Simplify()))
	}
	if bytes.ContainsRune(p.literal, utf8.RuneError) {
		p.literal = nil // to a regular expression, bytes that are no text are this too
	}
	return p
}

// required returns the longest text that every match of a regular expression
// holds, as far as its outermost parts tell.
func required(re *syntax.Regexp) string {
	switch re.Op {
	case syntax.OpLiteral:
		if re.Flags&syntax.FoldCase == 0 {
			return string(re.Rune)
		}
	case syntax.OpCapture, syntax.OpPlus:
		return required(re.Sub[0])
	case syntax.OpConcat:
		best := ""
		for _, sub := range re.Sub {
			if s := required(sub); len(s) > len(best) {
				best = s
			}
		}
		return best
	}
	return ""
}

// lines returns the lines of data that match, at most limit.
func (p pattern) lines(ctx context.Context, data []byte, limit int) []span {
	var found []span
	number := 1
	for start := 0; start < len(data) && len(found) < limit; {
		if len(p.literal) > 0 {
			i := bytes.Index(data[start:], p.literal)
			if i < 0 {
				break
			}
			line := 1 + bytes.LastIndexByte(data[start:start+i], '\n')
			number += bytes.Count(data[start:start+line], []byte("\n"))
			start += line
		}
		end, next := len(data), len(data)
		if i := bytes.IndexByte(data[start:], '\n'); i >= 0 {
			end, next = start+i, start+i+1
		}
		if end > start && data[end-1] == '\r' {
			end--
		}
		if p.re.Match(data[start:end]) {
			found = append(found, span{number, start, end})
		}
		if number%4096 == 0 && ctx.Err() != nil {
			break
		}
		start = next
		number++
	}
	return found
}
