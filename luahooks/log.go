package luahooks

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// hookLog is the file that pi.log and errors go to. It is opened on the first
// line, private to the person; what cannot be written is not worth a failure.
type hookLog struct {
	path string
	mu   sync.Mutex // guards file
	file *os.File
}

// write adds a line of a hook, with the time; further lines of text are indented. It opens
// the file if need be, and reports no error.
func (l *hookLog) write(hook, text string) {
	if l.path == "" {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		if os.MkdirAll(filepath.Dir(l.path), 0o700) != nil {
			return
		}
		f, err := os.OpenFile(l.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			return
		}
		l.file = f
	}
	stamp := time.Now().UTC().Format("2006-01-02T15:04:05.000Z")
	fmt.Fprintf(l.file, "%s %s: %s\n", stamp, hook, strings.ReplaceAll(text, "\n", "\n    "))
}

func (l *hookLog) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file != nil {
		l.file.Close()
		l.file = nil
	}
}
