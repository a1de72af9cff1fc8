package mcp

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"pi/internal/printable"
	"pi/internal/safefile"
)

// logSize is how large mcp.log becomes before it is the one before.
const logSize = 5 << 20

// logName is the file in the agent directory that has what servers write beside the protocol.
const logName = "mcp.log"

// logFile is mcp.log. It is made when there is something to write. Several programs may write
// to it. The zero value writes nothing. All methods may be called from any goroutine.
type logFile struct {
	path string

	mu   sync.Mutex // guards what follows
	file *os.File
	size int64
}

// row appends a row of a server. What cannot be written is lost: nobody waits for a log.
func (l *logFile) row(server, text string) {
	if l.path == "" {
		return
	}
	row := fmt.Sprintf("%s %s: %s\n", time.Now().UTC().Format(time.RFC3339), server, printable.Cut(printable.Line(text), maxLogRow))
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.size+int64(len(row)) > logSize {
		l.turn()
	}
	if l.file == nil && l.open() != nil {
		return
	}
	n, _ := l.file.WriteString(row)
	l.size += int64(n)
}

const maxLogRow = 2000

// open opens the file, or the next one if it is full.
func (l *logFile) open() error {
	if _, err := safefile.MakeDirs(filepath.Dir(l.path)); err != nil {
		return err
	}
	// Not to wait for a pipe that somebody put there; it is no regular file, as is seen below.
	f, err := os.OpenFile(l.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY|syscall.O_NONBLOCK, 0o600)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		f.Close()
		return errors.Join(err, safefile.ErrNotRegular)
	}
	l.file, l.size = f, info.Size()
	return nil
}

// turn makes the file the one before, in whose place it is.
func (l *logFile) turn() {
	if l.file != nil {
		l.file.Close()
		l.file = nil
	}
	// Another program may have turned it already; then there is a new one, which is not full.
	if info, err := os.Stat(l.path); err == nil && info.Size() > logSize/2 {
		_ = os.Rename(l.path, l.path+".1")
	}
	l.size = 0
}

func (l *logFile) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file != nil {
		l.file.Close()
		l.file = nil
	}
}

// allowance bounds how much of something that comes without end is dealt with: at most burst
// at once, and each second as many more as perSecond says. It is for one goroutine.
type allowance struct {
	burst, perSecond float64

	now  func() time.Time
	left float64
	at   time.Time
	lost int // what was over, since [allowance.takeLost]
}

func newAllowance(burst, perSecond float64) *allowance {
	return &allowance{burst: burst, perSecond: perSecond, now: time.Now, left: burst}
}

// take takes so much, and reports whether there was that.
func (a *allowance) take(amount float64) bool {
	now := a.now()
	if !a.at.IsZero() {
		a.left = min(a.burst, a.left+now.Sub(a.at).Seconds()*a.perSecond)
	}
	a.at = now
	if a.left < amount {
		a.lost++
		return false
	}
	a.left -= amount
	return true
}

// takeLost returns how often there was not enough since it was called last.
func (a *allowance) takeLost() (lost int) {
	lost, a.lost = a.lost, 0
	return lost
}
