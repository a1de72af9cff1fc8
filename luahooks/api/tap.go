package api

import (
	"bytes"
	"errors"
	"io"
	"os"
	"sync"
	"syscall"
	"time"
)

// maxCapture bounds what is stored of an output stream.
const maxCapture = 16 << 20

// tap reads an output stream of a program. A child that outlives the program
// may keep the stream open for ever; it is not waited for.
type tap struct {
	r, w *os.File
	end  chan struct{} // closed when nothing is read any more

	mu   sync.Mutex   // guards kept
	kept bytes.Buffer // the beginning
}

// newTap sets the stream of a command that has not started.
func newTap(stream *io.Writer) (*tap, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	*stream = w
	return &tap{r: r, w: w}, nil
}

// open begins to read, once the command has started.
func (t *tap) open() {
	t.w.Close()
	t.end = make(chan struct{})
	go func() {
		defer close(t.end)
		_, _ = io.Copy(t, t.r)
	}()
}

// close closes the stream, also that of a command that did not start.
func (t *tap) close() {
	t.w.Close()
	t.r.Close()
}

// Write stores the beginning, up to maxCapture.
func (t *tap) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept.Write(p[:min(len(p), max(maxCapture-t.kept.Len(), 0))])
	return len(p), nil
}

// rest is the text that was read, once the program has ended. All that the program
// wrote is in it; what its children write counts until grace is over.
func (t *tap) rest(grace <-chan struct{}) string {
	select {
	case <-t.end:
	case <-grace:
		if t.r.SetReadDeadline(time.Unix(1, 0)) == nil {
			<-t.end
			t.drain()
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.kept.String()
}

// drain reads what is in the pipe at this moment, and does not wait for more. It uses the
// system call itself, because a read of the file would wait.
func (t *tap) drain() {
	raw, err := t.r.SyscallConn()
	if err != nil || t.r.SetReadDeadline(time.Time{}) != nil {
		return
	}
	const most = 1 << 20 // that a pipe can hold
	buf := make([]byte, most)
	_ = raw.Read(func(fd uintptr) bool {
		for have := 0; have < most; {
			n, err := syscall.Read(handle(fd), buf[have:])
			if errors.Is(err, syscall.EINTR) {
				continue
			}
			if n <= 0 || err != nil {
				buf = buf[:have]
				break
			}
			have += n
		}
		return true
	})
	_, _ = t.Write(buf)
}
