package terminal

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"pi/internal/safefile"
)

// historyKept is the number of entries that can be called up again; a file that has
// grown to twice as many is cut back to these.
const historyKept = 1000

// History is a file of what was typed, one JSON string per line, so that an
// entry of several lines is one entry. Each entry is added with a single write:
// programs that share the file do not disturb each other. Within a program it is
// for one goroutine.
type History struct {
	path string // "": kept nowhere
	last string
}

// NewHistory returns the history in a file, which need not be there; "" keeps
// nothing.
func NewHistory(path string) *History { return &History{path: path} }

// Load returns the entries, oldest first, at most historyKept of them. Lines that are
// no entries are skipped. A file that has grown too large is rewritten with the
// returned entries; they are returned along with the error if that fails.
func (h *History) Load() ([]string, error) {
	if h.path == "" {
		return nil, nil
	}
	b, err := os.ReadFile(h.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read history: %w", err)
	}
	entries := parseHistory(b)
	grown := len(entries) >= 2*historyKept
	entries = entries[max(0, len(entries)-historyKept):]
	if len(entries) > 0 {
		h.last = entries[len(entries)-1]
	}
	if grown {
		return entries, h.rewrite(entries)
	}
	return entries, nil
}

// parseHistory returns the entries of a history file.
func parseHistory(b []byte) (entries []string) {
	lines := bufio.NewScanner(bytes.NewReader(b))
	lines.Buffer(nil, len(b)+1)
	for lines.Scan() {
		var entry string
		if json.Unmarshal(lines.Bytes(), &entry) == nil && entry != "" {
			entries = append(entries, entry)
		}
	}
	return entries
}

// Add stores an entry, unless it is the same as the one before. After an error
// nothing is stored any more, so that a person is told of it once.
func (h *History) Add(entry string) error {
	if h.path == "" || entry == "" || entry == h.last {
		return nil
	}
	if err := h.write(entry); err != nil {
		h.path = ""
		return err
	}
	h.last = entry
	return nil
}

// write adds an entry to the file, and makes the file if there is none.
func (h *History) write(entry string) error {
	if err := os.MkdirAll(filepath.Dir(h.path), 0o700); err != nil {
		return fmt.Errorf("write history: %w", err)
	}
	f, err := os.OpenFile(h.path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("write history: %w", err)
	}
	_, err = f.Write(historyLine(entry))
	if err := errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("write history: %w", err)
	}
	return nil
}

// historyLine is an entry as a line of the file.
func historyLine(entry string) []byte {
	b, _ := json.Marshal(entry) // a string always has a JSON form
	return append(b, '\n')
}

// rewrite replaces the file by one with these entries.
func (h *History) rewrite(entries []string) error {
	var b bytes.Buffer
	for _, entry := range entries {
		b.Write(historyLine(entry))
	}
	if err := safefile.Replace(h.path, b.Bytes(), false); err != nil {
		return fmt.Errorf("shorten history: %w", err)
	}
	return nil
}
