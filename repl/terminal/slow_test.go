//go:build unix

package terminal

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/creack/pty"
)

// While the terminal takes nothing, keys arrive all the same, and no more is kept for it than
// is meant. When it takes something again, nothing is missing.
func TestATerminalThatTakesNothingIsWaitedFor(t *testing.T) {
	master, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer tty.Close()
	if master, err = closable(master); err != nil {
		t.Fatal(err)
	}
	defer master.Close()
	keys := make(chan string, 10)
	term, err := Start(Config{In: tty, Out: tty, Getenv: func(string) string { return "linux" }, Handler: Handler{
		Key:  func(k Key) { keys <- k.Name },
		Zone: func(int, int) Zone { return Zone{Rows: []string{"> "}, Column: 2} },
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer term.Close()
	const rows = 20000
	row := strings.Repeat("x", 60)
	var printed atomic.Int64
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := range rows {
			term.Print(fmt.Sprintf("%05d %s", i, row))
			printed.Add(int64(len(row)))
		}
	}()
	for end := time.Now().Add(patience); printed.Load() < mostAhead/2; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("nothing is printed ahead")
		}
	}
	for _, key := range []string{"a", "b", "c"} {
		if _, err := master.WriteString(key); err != nil {
			t.Fatal(err)
		}
		term.Echo()
		select {
		case got := <-keys:
			if got != key {
				t.Errorf("key %s, want %s", got, key)
			}
		case <-time.After(patience):
			t.Fatal("keys wait for the terminal, too")
		}
	}
	if n := printed.Load(); n > 3*mostAhead {
		t.Errorf("%d bytes are kept for it", n)
	}
	read := make(chan []byte)
	go func() {
		all, _ := io.ReadAll(master)
		read <- all
	}()
	<-done
	term.Close()
	tty.Close()
	all := <-read
	for i := range rows {
		if want := fmt.Appendf(nil, "%05d %s", i, row); !bytes.Contains(all, want) {
			t.Fatalf("row %d is missing", i)
		}
		if i == 100 {
			break
		}
	}
	if !bytes.Contains(all, fmt.Appendf(nil, "%05d %s", rows-1, row)) {
		t.Error("the last row is missing")
	}
}
