// Package history is what was typed into the input before: kept in a file, called up again
// with Up and Down, searched with Ctrl+R.
//
//	Open       the history in a file, which several programs share
//	History    adds entries, and has them as they are now, others' included
//	Walk       Up and Down from one prompt
//	Search     entries that have all words of a query
//
// The file has one JSON string per line, the oldest first. A line behind an entry is an
// object that says which parts of it were tokens, such as pastes, and which were typed;
// without it none were. Each entry is written at once, with that line. What is no entry is skipped. The newest 10,000
// entries count, and at most 16 MiB of them.
//
// An entry that begins with a blank is not kept. One that looks as if it had a key in
// it, and one of more than 1 MiB, is kept until the program ends, and in no file.
//
// Only [History] is safe for concurrent use.
package history

import (
	"fmt"
	"strings"
	"sync"

	"pi/internal/edit"
)

const (
	kept      = 10_000   // entries
	keptBytes = 16 << 20 // of them, as lines of the file
	maxEntry  = 1 << 20  // bytes of an entry that is written
)

// History is a history in a file. The file is read when an entry is first needed.
type History struct {
	holdsKey func(text string) bool

	mu      sync.Mutex
	file    *file     // nil: kept in memory only
	records []*record // oldest first
	err     error     // of the file, that nobody was told of
}

// Open returns the history in a file, which need not be there; "" keeps entries in memory
// only. holdsKey reports whether a text looks as if it had a key in it; nil: none does. It
// reads nothing yet.
func Open(path string, holdsKey func(text string) bool) *History {
	h := &History{holdsKey: holdsKey}
	if path != "" {
		h.file = &file{path: path}
	}
	return h
}

// Add adds an entry that was sent. It is not added twice if it is the newest one already.
// After an error of the file everything is kept in memory only; the error is returned once.
func (h *History) Add(d edit.Draft) error {
	if strings.TrimSpace(d.Text) == "" || d.Text[0] == ' ' {
		return nil
	}
	secret := len(d.Text) > maxEntry || h.holdsKey != nil && h.holdsKey(d.Text)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.file != nil {
		unlock, err := h.file.lock()
		h.note("lock", err)
		defer unlock()
	}
	h.refresh()
	r := recordOf(d)
	if n := len(h.records); n == 0 || h.records[n-1].text() != d.Text {
		if !secret {
			h.write(r)
		}
		h.append(r)
	}
	err := h.err
	h.err = nil
	return err
}

// note remembers the first error of the file, which is not used any more then. h.mu is
// locked.
func (h *History) note(doing string, err error) {
	if err != nil && h.file != nil {
		h.err, h.file = fmt.Errorf("%s history: %w", doing, err), nil
	}
}

// write adds a record to the file, and shortens a file that has grown. Both it and the
// file are locked.
func (h *History) write(r *record) {
	if h.file == nil {
		return
	}
	err := h.file.add(r)
	if err == nil && h.file.grown {
		err = h.file.shorten()
	}
	h.note("write", err)
}

// refresh reads what the file has by now. h.mu is locked.
func (h *History) refresh() {
	if h.file == nil {
		return
	}
	read, whole, err := h.file.read()
	if whole { // for the first time, or somebody has rewritten it
		read = append(read, h.unwritten()...)
		h.records = nil
	}
	h.append(read...)
	h.note("read", err)
}

// unwritten are the records that are in no file.
func (h *History) unwritten() (records []*record) {
	for _, r := range h.records {
		if !r.written {
			records = append(records, r)
		}
	}
	return records
}

// append adds records, and drops the oldest ones that are too many.
func (h *History) append(records ...*record) {
	for _, r := range records {
		if n := len(h.records); r.isSpans() && n > 0 {
			h.records[n-1].setSpans(r)
			continue
		}
		h.records = append(h.records, r)
	}
	if extra := len(h.records) - kept; extra > kept/10 { // seldom, since it copies
		h.records = append([]*record(nil), h.records[extra:]...)
	}
}

// now returns the records as they are now, oldest first. The caller must not change them.
// The next Add tells of an error.
func (h *History) now() []*record {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.refresh()
	return h.records[max(0, len(h.records)-kept):len(h.records):len(h.records)]
}

// Entries returns the entries as they are now, oldest first.
func (h *History) Entries() (entries []edit.Draft) {
	for _, r := range h.now() {
		if d, ok := r.draft(); ok {
			entries = append(entries, d)
		}
	}
	return entries
}
