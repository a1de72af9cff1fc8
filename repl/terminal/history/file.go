package history

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"pi/internal/edit"
	"pi/internal/safefile"
)

// file is a file of entries to which other programs may write at any time.
type file struct {
	path string
	seen os.FileInfo // the file that was read; nil: none
	end  int64       // up to here

	grown bool // it has many more entries than are kept
}

// read returns the records that came into the file since it was read before. whole says
// that they are all of it: it was not read before, or is another file now.
func (f *file) read() (records []*record, whole bool, err error) {
	info, err := os.Stat(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	if f.same(info) && info.Size() == f.end {
		return nil, false, nil
	}
	in, err := safefile.Open(f.path, os.O_RDONLY)
	if err != nil {
		return nil, false, err
	}
	defer in.Close()
	if info, err = in.Stat(); err != nil {
		return nil, false, err
	}
	if whole = !f.same(info) || info.Size() < f.end; whole {
		f.end = 0
	}
	records, err = f.readOn(in, info)
	if whole {
		f.grown = len(records) >= 2*kept || info.Size() >= 2*keptBytes
	}
	return records, whole, err
}

// same reports whether a file is the one that was read.
func (f *file) same(info os.FileInfo) bool { return f.seen != nil && os.SameFile(f.seen, info) }

// readOn reads the lines behind end that are whole. Of a very large file it reads the end
// only.
func (f *file) readOn(in *os.File, info os.FileInfo) ([]*record, error) {
	from := max(f.end, info.Size()-2*keptBytes)
	part := make([]byte, max(0, info.Size()-from))
	n, err := in.ReadAt(part, from)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	part = part[:bytes.LastIndexByte(part[:n], '\n')+1]
	f.seen, f.end = info, from+int64(len(part))
	if from > 0 && len(part) > 0 && !f.atLineStart(in, from) {
		part = part[bytes.IndexByte(part, '\n')+1:]
	}
	return parse(part), nil
}

func (f *file) atLineStart(in *os.File, at int64) bool {
	var before [1]byte
	_, err := in.ReadAt(before[:], at-1)
	return err == nil && before[0] == '\n'
}

// add writes a record at the end of the file, with a single write, and makes the file if
// there is none. The file is locked and was just read.
func (f *file) add(r *record) error {
	out, err := f.open()
	if err != nil {
		return err
	}
	defer out.Close()
	info, err := out.Stat()
	if err != nil {
		return err
	}
	line := r.lines()
	if info.Size() > 0 && !f.atLineStart(out, info.Size()) {
		line = append([]byte{'\n'}, line...) // somebody was cut off
	}
	if _, err = out.Write(line); err != nil {
		return err
	}
	r.written = true
	f.seen, f.end = info, info.Size()+int64(len(line))
	return nil
}

// open opens the file for adding to it, with access for its owner only.
func (f *file) open() (*os.File, error) {
	out, err := safefile.Open(f.path, os.O_RDWR|os.O_APPEND)
	if errors.Is(err, fs.ErrNotExist) {
		out, err = os.OpenFile(f.path, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
	}
	if err != nil {
		return nil, err
	}
	if info, err := out.Stat(); err == nil && info.Mode().Perm()&0o077 != 0 {
		_ = out.Chmod(0o600) // it may be somebody else's, or have no modes
	}
	return out, nil
}

// shorten rewrites the file with its newest entries. It is locked.
func (f *file) shorten() error {
	f.grown = false
	path, err := safefile.Target(f.path)
	if err != nil {
		return fmt.Errorf("shorten: %w", err)
	}
	all, err := readEnd(path)
	if err != nil {
		return fmt.Errorf("shorten: %w", err)
	}
	if err := safefile.Replace(path, newest(all), false); err != nil {
		return fmt.Errorf("shorten: %w", err)
	}
	info, err := os.Stat(f.path)
	if err != nil {
		return fmt.Errorf("shorten: %w", err)
	}
	f.seen, f.end = info, info.Size()
	return nil
}

// readEnd reads the end of a file, more of it than is kept.
func readEnd(path string) ([]byte, error) {
	in, err := safefile.Open(path, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return nil, err
	}
	if _, err := in.Seek(max(0, info.Size()-2*keptBytes), io.SeekStart); err != nil {
		return nil, err
	}
	return io.ReadAll(in)
}

// newest is the end of a file: as many entries as are kept, each with its line of tokens.
func newest(all []byte) []byte {
	from, entries := len(all), 0
	for end := len(all); end > 0 && entries < kept; {
		start := bytes.LastIndexByte(all[:end-1], '\n') + 1
		if len(all)-start > keptBytes {
			break
		}
		if line := (&record{line: bytes.TrimSpace(all[start:end])}); line.maybe() && !line.isSpans() {
			from = start
			entries++
		}
		end = start
	}
	return all[from:]
}

// patience is how long one waits for another program that writes. After that one writes
// without the lock: the other one may be stopped.
const patience = 2 * time.Second

// lock keeps other programs from writing until unlock. Without it an entry would be lost
// that is written into a file while another program replaces that.
func (f *file) lock() (unlock func(), err error) {
	dir := filepath.Dir(f.path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return func() {}, err
	}
	lock, err := os.OpenFile(filepath.Join(dir, ".lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return func() {}, err
	}
	deadline := time.Now().Add(patience)
	for pause := time.Millisecond; ; pause = min(2*pause, 20*time.Millisecond) {
		if err := safefile.Lock(lock); !errors.Is(err, safefile.ErrLocked) || time.Now().After(deadline) {
			break
		}
		time.Sleep(pause) // nothing tells when a lock of another process is free
	}
	return func() { safefile.Unlock(lock); lock.Close() }, nil
}

// record is an entry. Those of the file are decoded when they are needed: a file may have
// many megabytes of them.
type record struct {
	written bool // it is in the file

	mu     sync.Mutex
	line   []byte // of the file; nil once it is decoded
	behind []byte // the line behind it; nil for none, and once it is decoded
	entry  edit.Draft
}

// spansLine is the line behind an entry.
type spansLine struct {
	Tokens []edit.Span `json:"tokens,omitempty"`
	Typed  []edit.Span `json:"typed,omitempty"`
}

// recordOf is a record of something that was typed.
func recordOf(d edit.Draft) *record {
	return &record{entry: edit.Draft{Text: d.Text, Tokens: d.Tokens, Typed: d.Typed, Pasted: d.Pasted}}
}

// parse returns the records of a part of the file.
func parse(part []byte) (records []*record) {
	for len(part) > 0 {
		line := part
		if i := bytes.IndexByte(part, '\n'); i >= 0 {
			line, part = part[:i], part[i+1:]
		} else {
			part = nil
		}
		if r := (&record{line: bytes.TrimSpace(line), written: true}); r.maybe() {
			records = append(records, r)
		}
	}
	return records
}

// maybe reports whether a line looks like one of an entry, or of its parts.
func (r *record) maybe() bool {
	n := len(r.line)
	return n > 2 && r.line[0] == '"' && r.line[n-1] == '"' || r.isSpans()
}

// isSpans reports whether a record is the line behind an entry.
func (r *record) isSpans() bool {
	n := len(r.line)
	return n > 2 && r.line[0] == '{' && r.line[n-1] == '}'
}

// setSpans adds the line behind a record. It may be read later than that, as two programs
// may read and write at once.
func (r *record) setSpans(line *record) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.behind = line.line
}

// draft returns the entry; false if the line is none.
func (r *record) draft() (edit.Draft, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.line != nil {
		_ = json.Unmarshal(r.line, &r.entry.Text) // what is no string is no entry
		r.line = nil
	}
	if r.behind != nil {
		var behind spansLine
		if json.Unmarshal(r.behind, &behind) == nil {
			r.entry.Tokens, r.entry.Typed = behind.Tokens, behind.Typed
		}
		r.behind = nil
	}
	return r.entry, r.entry.Text != ""
}

func (r *record) text() string {
	d, _ := r.draft()
	return d.Text
}

// lines is a record as the file has it.
func (r *record) lines() []byte {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	_ = e.Encode(r.entry.Text) // a string always has a JSON form
	if len(r.entry.Tokens)+len(r.entry.Typed) > 0 {
		_ = e.Encode(spansLine{r.entry.Tokens, r.entry.Typed})
	}
	return out.Bytes()
}
