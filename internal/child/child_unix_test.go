//go:build unix

package child

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pi/internal/process"
)

// begin starts a shell that is ended with the test.
func begin(t *testing.T, line string) *Child {
	t.Helper()
	c, err := Start(Command{Name: "sh", Args: []string{"-c", line}, Dir: t.TempDir(), Env: os.Environ()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func lines() Form { return Form{Lines: true, Max: 100} }

// all is what a stream gives until it is over, in a form.
func all(t *testing.T, s *Stream, form Form) (pieces []string) {
	t.Helper()
	if !s.HandOver(t.Context(), func() Form { return form }, func(piece string) Answer {
		pieces = append(pieces, piece)
		return Taken
	}) {
		t.Error("the stream is not over")
	}
	return pieces
}

func TestAStreamInPieces(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		printed string
		form    Form
		want    []string
	}{
		"lines":               {`a\n\nb c\r\nlast`, Form{true, 100}, []string{"a", "", "b c", "last"}},
		"nothing":             {``, Form{true, 100}, nil},
		"a line of the limit": {`12345\n123456\n7`, Form{true, 5}, []string{"12345", "12345", "6", "7"}},
		"with both ends":      {`12345\r\n123456\r\n`, Form{true, 5}, []string{"12345", "12345", "6"}},
		"whole characters":    {`ä€öü`, Form{false, 4}, []string{"ä", "€", "öü"}},
		"no characters":       {`\377\377\377\377\377`, Form{false, 4}, []string{"\377\377\377\377", "\377"}},
		"smaller than one":    {`€a`, Form{false, 1}, []string{"\xe2", "\x82", "\xac", "a"}},
		"as it comes":         {`a\nb`, Form{false, 100}, []string{"a\nb"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := begin(t, fmt.Sprintf("printf '%s'", test.printed))
			if got := all(t, c.Stdout, test.form); !slices.Equal(got, test.want) {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}

func TestAProgramThatWritesTooFastIsStoppedByItsPipe(t *testing.T) {
	t.Parallel()
	c := begin(t, "yes & echo $! >&2; wait")
	writer := firstLine(t, c.Stderr)
	// It writes until the pipe is full, and then it waits: no processor time any more.
	time0 := busy(t, writer)
	for still := 0; still < 3; {
		time.Sleep(20 * time.Millisecond)
		if now := busy(t, writer); now == time0 {
			still++
		} else {
			time0, still = now, 0
		}
	}
	n := 0
	c.Stdout.HandOver(t.Context(), lines, func(piece string) Answer {
		if n++; piece != "y" {
			t.Fatalf("line %d is %q", n, piece)
		}
		if n == 300000 { // more than fits into a pipe and the buffers
			return Enough
		}
		return Taken
	})
	if n != 300000 {
		t.Errorf("%d lines", n)
	}
	select { // yes got SIGPIPE
	case <-c.Exited():
	case <-time.After(10 * time.Second):
		t.Error("a program whose output is closed goes on")
	}
}

// firstLine is the first line of a stream.
func firstLine(t *testing.T, s *Stream) (line string) {
	t.Helper()
	s.HandOver(t.Context(), lines, func(piece string) Answer { line = piece; return Enough })
	return line
}

// busy is the processor time of a process, in ticks; "" if that cannot be told here.
func busy(t *testing.T, pid string) string {
	t.Helper()
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return ""
	}
	fields := strings.Fields(string(stat))
	return fields[13] + " " + fields[14]
}

func TestAStreamGoesOnWithTheNextReceiver(t *testing.T) {
	t.Parallel()
	c := begin(t, "for i in 1 2 3 4 5 6 7 8 9; do echo $i; done; read go; echo last")
	var got []string
	take := func(n int, last Answer) bool {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		return c.Stdout.HandOver(ctx, lines, func(piece string) Answer {
			if n--; n < 0 {
				t.Fatal("it goes on")
			}
			if n == 0 {
				cancel()
				if last == Again {
					return Again
				}
			}
			got = append(got, piece)
			return Taken
		})
	}
	if take(2, Taken) || take(1, Again) || take(3, Taken) || take(4, Again) {
		t.Error("the stream is over")
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if c.Stdout.HandOver(ended, lines, func(string) Answer { t.Error("given after the end"); return Taken }) {
		t.Error("the stream is over")
	}
	if err := c.Write(t.Context(), "\n"); err != nil {
		t.Error(err)
	}
	got = append(got, all(t, c.Stdout, lines())...)
	if all := strings.Join(got, " "); all != "1 2 3 4 5 6 7 8 9 last" {
		t.Error(all)
	}
}

func TestWritingToAProgram(t *testing.T) {
	t.Parallel()
	c := begin(t, "cat")
	if err := c.Write(t.Context(), "ping\n"); err != nil || c.Pid() == 0 || !c.IsRunning() {
		t.Fatal(err)
	}
	large := strings.Repeat("x", 300000)
	written := make(chan error, 1)
	go func() {
		err := c.Write(t.Context(), large)
		c.CloseStdin()
		written <- err
	}()
	got := all(t, c.Stdout, Form{Max: mib})
	if err := <-written; err != nil || strings.Join(got, "") != "ping\n"+large {
		t.Errorf("%v, %d bytes in %d pieces", err, len(strings.Join(got, "")), len(got))
	}
	<-c.Exited()
	if err := c.Write(t.Context(), "more"); !errors.Is(err, ErrEnded) {
		t.Errorf("after the end: %v", err)
	}
	if err := c.Signal("TERM"); !errors.Is(err, ErrEnded) || c.IsRunning() {
		t.Errorf("after the end: %v", err)
	}
	if c.Exit() != (Exit{}) {
		t.Errorf("%+v", c.Exit())
	}
}

func TestAWriteThatIsGivenUpLeavesTheNextOneItsTime(t *testing.T) {
	t.Parallel()
	c := begin(t, "mkfifo go; echo ready; read x < go; exec cat")
	if line := nextLine(t, c.Stdout); line != "ready" {
		t.Fatal(line)
	}
	ctx, cancel := context.WithCancel(t.Context())
	waiting := make(chan error, 1)
	go func() { waiting <- c.Write(ctx, strings.Repeat("x", mib)) }()
	cancel()
	if err := <-waiting; !errors.Is(err, context.Canceled) {
		t.Errorf("given up: %v", err)
	}
	if err := os.WriteFile(c.cmd.Dir+"/go", []byte("\n"), 0); err != nil {
		t.Fatal(err)
	}
	go func() {
		if err := c.Write(t.Context(), "end\n"); err != nil {
			t.Errorf("the next: %v", err)
		}
		c.CloseStdin()
	}()
	got := strings.Join(all(t, c.Stdout, Form{Max: mib}), "")
	if !strings.HasSuffix(got, "end\n") || len(got) >= mib {
		t.Errorf("%d bytes", len(got))
	}
}

// nextLine is the next line of a stream that goes on.
func nextLine(t *testing.T, s *Stream) (line string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s.HandOver(ctx, lines, func(piece string) Answer { line = piece; cancel(); return Taken })
	return line
}

func TestHowAProgramEnds(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		line string
		do   func(*Child)
		want Exit
	}{
		"by itself":          {"echo on; exit 3", func(*Child) {}, Exit{Code: 3}},
		"by its own signal":  {"echo on; kill -USR1 $$", func(*Child) {}, Exit{Code: -1, Signal: "USR1"}},
		"stopped":            {"echo on; exec sleep 600", (*Child).Stop, Exit{Code: -1, Signal: "TERM", Killed: true}},
		"interrupted":        {"echo on; exec sleep 600", func(c *Child) { _ = c.Signal("INT") }, Exit{Code: -1, Signal: "INT", Killed: true}},
		"against its will":   {"trap '' TERM; echo on; while :; do sleep 0.01; done", (*Child).Stop, Exit{Code: -1, Signal: "KILL", Killed: true}},
		"when its input has": {"echo on; cat", (*Child).CloseStdin, Exit{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := begin(t, test.line)
			if line := nextLine(t, c.Stdout); line != "on" {
				t.Fatal(line)
			}
			test.do(c)
			<-c.Exited()
			if c.Exit() != test.want {
				t.Errorf("%+v, want %+v", c.Exit(), test.want)
			}
		})
	}
	c := begin(t, "sleep 600")
	if err := c.Signal("NONE"); err == nil || !strings.Contains(err.Error(), `no signal "NONE"`) {
		t.Error(err)
	}
}

func TestWhatAProgramStartedEndsWithIt(t *testing.T) {
	t.Parallel()
	c := begin(t, "sleep 600 & echo on; exit 0")
	if line := nextLine(t, c.Stdout); line != "on" {
		t.Fatal(line)
	}
	<-c.Exited()
	c.Stop() // waits for all of it
	if process.Alive(c.Pid()) {
		t.Error("a child is left")
	}
	if more := all(t, c.Stdout, lines()); len(more) != 0 || c.Exit() != (Exit{}) {
		t.Errorf("%q, %+v", more, c.Exit())
	}
}

func TestAProgramThatIsClosedMayWriteToItsEnd(t *testing.T) {
	t.Parallel()
	// More than a pipe has room for, before and after it is asked to end; and it is asked once.
	c := begin(t, `trap 'n=$((n+1)); head -c 200000 /dev/zero; head -c 200000 /dev/zero >&2; echo $n > done; exit' TERM
		echo on; head -c 200000 /dev/zero & while :; do sleep 0.01; done`)
	if line := nextLine(t, c.Stdout); line != "on" {
		t.Fatal(line)
	}
	var closers sync.WaitGroup
	for range 3 {
		closers.Go(c.Close)
	}
	closers.Wait()
	if b, err := os.ReadFile(c.cmd.Dir + "/done"); string(b) != "1\n" || c.Exit().Signal != "" {
		t.Errorf("%q, %v, %+v", b, err, c.Exit())
	}
}

func TestChildrenThatAreKept(t *testing.T) {
	t.Parallel()
	var k Kept
	a, b := &Child{}, &Child{}
	first, second, third := k.NewOwner(), k.NewOwner(), k.NewOwner()
	if !k.Add("a", a, first) || k.Add("a", b, first) || !k.Add("b", b, first) || !k.Has("a") || k.Has("c") {
		t.Error("adding")
	}
	if k.Claim("c", second) != nil || k.Claim("a", third) != a || k.Claim("a", second) != nil {
		t.Error("claiming")
	}
	k.Drop("b", a)
	if taken := k.TakeBefore(first); len(taken) != 0 {
		t.Errorf("before the first %v", taken)
	}
	if taken := k.TakeBefore(second); len(taken) != 1 || taken[0] != b || k.Has("b") {
		t.Errorf("before the second %v", taken)
	}
	if taken := k.TakeAll(); len(taken) != 1 || taken[0] != a || k.Has("a") {
		t.Errorf("all %v", taken)
	}
	k.Add("a", a, 1)
	k.Drop("a", a)
	if k.Has("a") {
		t.Error("dropping")
	}
}
