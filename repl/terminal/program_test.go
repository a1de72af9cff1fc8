//go:build unix

package terminal

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"pi/internal/testing/screentest"
)

// programEnv makes the test program one that has a terminal: "keys" or "plain".
const programEnv = "TERMINAL_PROGRAM"

func TestMain(m *testing.M) {
	switch os.Getenv(programEnv) {
	case "":
		os.Exit(m.Run())
	case "launcher":
		launch()
	default:
		runProgram(os.Getenv(programEnv) == "plain")
	}
}

// runProgram is a front end that shows what is typed as its zone, and prints it at Enter.
// Ctrl+Z suspends, Ctrl+D ends.
func runProgram(plain bool) {
	var term *Terminal
	ready, quit := make(chan struct{}), make(chan struct{})
	line, lines := make(chan string, 1), make(chan string, 100)
	line <- ""
	edit := func(f func(string) string) { line <- f(<-line); term.Echo() }
	term, err := Start(Config{Plain: plain, Handler: Handler{
		Key: func(k Key) {
			<-ready
			switch k.Name {
			case "ctrl+z":
				term.Suspend()
			case "ctrl+d":
				close(quit)
			case "enter":
				edit(func(text string) string { term.Print("sent " + text); return "" })
			default:
				edit(func(text string) string { return text + k.Text })
			}
		},
		Zone: func(columns, _ int) Zone {
			text := <-line
			line <- text
			rows := []string{"status", "> " + text}
			if n, err := strconv.Atoi(os.Getenv("WIDE")); err == nil { // rows that fill the window
				rows = slices.Repeat([]string{strings.Repeat("=", columns)}, n)
				rows = append(rows, "> "+text)
			}
			return Zone{Rows: rows, Row: len(rows) - 1, Column: 2 + len(text)}
		},
		Line:      func(text string) { lines <- "line " + text },
		Interrupt: func() { lines <- "interrupt" },
		End:       func() { lines <- "end" },
		Resumed:   func() { <-ready; term.Print("resumed") },
	}})
	if err != nil {
		panic(err)
	}
	close(ready)
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGTERM)
	term.Print("begins")
	if plain {
		go plainProgram(term, lines, quit)
	} else {
		term.Changed()
	}
	select {
	case <-quit:
	case <-ended:
	}
	term.Close()
	fmt.Println("ends")
}

// plainProgram asks for lines and prints them. "work" works for as long as another line has not come;
// "late" prints while the prompt is open.
func plainProgram(term *Terminal, lines chan string, quit chan struct{}) {
	working := false
	for {
		if !working {
			term.Prompt("> ", "")
		}
		switch text := <-lines; text {
		case "end":
			close(quit)
			return
		case "line work":
			working = true
			term.Print("working")
		case "line late":
			term.Prompt("> ", "")
			time.AfterFunc(50*time.Millisecond, func() { term.Print("it is late") })
			term.Print("got " + <-lines)
		default:
			working = false
			term.Print("got " + text)
		}
	}
}

// launch runs the program as a shell does, in the foreground of the terminal, and says when it has
// stopped. SIGUSR1 has it go on in the foreground again.
func launch() {
	signal.Ignore(syscall.SIGTTOU)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), programEnv+"="+os.Getenv("LAUNCHED"))
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Foreground: true, Ctty: 0}
	again := make(chan os.Signal, 1)
	signal.Notify(again, syscall.SIGUSR1)
	if err := cmd.Start(); err != nil {
		panic(err)
	}
	for {
		var status syscall.WaitStatus
		if _, err := syscall.Wait4(cmd.Process.Pid, &status, syscall.WUNTRACED, nil); err != nil || !status.Stopped() {
			return
		}
		foreground(syscall.Getpgrp())
		fmt.Printf("stopped %d\n", cmd.Process.Pid)
		<-again
		foreground(cmd.Process.Pid)
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGCONT)
	}
}

// spawn runs the test program in a terminal of its own.
func spawn(t *testing.T, kind string, environment ...string) (*stage, *exec.Cmd) {
	t.Helper()
	master, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	if master, err = closable(master); err != nil {
		t.Fatal(err)
	}
	s := &stage{t: t, master: master, tty: tty, ended: make(chan struct{}), changed: make(chan struct{}),
		shown: screentest.NewEmulator(40, 12, false, screentest.Profile{})}
	s.size(40, 12)
	go s.watch()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append([]string{"TERM=xterm", programEnv + "=" + kind, "GOCOVERDIR=" + t.TempDir()}, environment...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = tty, tty, tty
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if s.before, err = readLineMode(tty); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		tty.Close()
		master.Close()
		<-s.ended
	})
	return s, cmd
}

func TestCtrlZStopsTheProgramWithTheTerminalAsItWas(t *testing.T) {
	s, shell := spawn(t, "launcher", "LAUNCHED=keys")
	s.see("begins\nstatus\n>")
	s.types("ab")
	s.see("begins\nstatus\n> ab")
	s.types("\x1a")
	s.seeStart("begins\nstopped ")
	if !s.before.is(s.tty) {
		t.Error("the terminal is not as it was")
	}
	_ = shell.Process.Signal(syscall.SIGUSR1)
	s.until(func() string { return "the zone is not back" }, func() bool { return strings.HasSuffix(s.text(), "\nresumed\nstatus\n> ab") })
	s.types("c\r")
	s.until(func() string { return "keys are not read" }, func() bool { return strings.HasSuffix(s.text(), "\nsent abc\nstatus\n>") })
	s.types("\x04")
	s.until(func() string { return "no end" }, func() bool { return strings.HasSuffix(s.text(), "\nsent abc\nends") })
	if strings.Count(s.text(), "status") != 0 || !s.before.is(s.tty) {
		t.Errorf("left behind:\n%s", s.text())
	}
}

func TestAStopFromOutsideIsSurvived(t *testing.T) {
	for name, stop := range map[string]syscall.Signal{"SIGSTOP": syscall.SIGSTOP, "SIGTSTP": syscall.SIGTSTP} {
		t.Run(name, func(t *testing.T) {
			s, shell := spawn(t, "launcher", "LAUNCHED=keys")
			s.see("begins\nstatus\n>")
			s.types("ab")
			s.see("begins\nstatus\n> ab")
			group, err := foregroundOf(s.master)
			if err != nil {
				t.Fatal(err)
			}
			_ = syscall.Kill(-group, stop)
			s.until(func() string { return "not stopped" }, func() bool { return strings.Contains(s.text(), "stopped") })
			_ = s.before.set(s.tty) // as a shell does
			_ = shell.Process.Signal(syscall.SIGUSR1)
			s.until(func() string { return "the zone is not back" }, func() bool { return strings.HasSuffix(s.text(), "\nresumed\nstatus\n> ab") })
			s.types("c\r")
			s.until(func() string { return "keys are not read" }, func() bool { return strings.HasSuffix(s.text(), "\nsent abc\nstatus\n>") })
			s.types("\x04")
			s.until(func() string { return "no end" }, func() bool { return strings.HasSuffix(s.text(), "\nends") })
		})
	}
}

func TestAStopThatNobodyNoticesIsDrawnInPlace(t *testing.T) {
	s, cmd := spawn(t, "keys")
	s.see("begins\nstatus\n>")
	_ = cmd.Process.Signal(syscall.SIGSTOP)
	s.types("ab")
	_ = cmd.Process.Signal(syscall.SIGCONT)
	s.see("begins\nresumed\nstatus\n> ab")
}

func TestATerminalThatHangsUpEndsTheInput(t *testing.T) {
	s := onStage(t, 20, 6)
	s.show("> ")
	s.see(">")
	s.master.Close()
	s.until(func() string { return "no end" }, func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return len(s.told) > 0 && s.told[0] == "end"
	})
	for range 1000 {
		s.term.Print(strings.Repeat("nobody reads it ", 100))
	}
	s.term.Flush()
}

// What is typed before the terminal is raw counts, and Enter comes as another byte then.
func TestWhatIsTypedBeforeTheStartCounts(t *testing.T) {
	master, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer tty.Close()
	if master, err = closable(master); err != nil {
		t.Fatal(err)
	}
	defer master.Close()
	if _, err := master.WriteString("early\rand\x04half"); err != nil {
		t.Fatal(err)
	}
	for unread(tty) == 0 { // the line is there when its end is
		time.Sleep(time.Millisecond)
	}
	var mu sync.Mutex
	var names []string
	term, err := Start(Config{In: tty, Out: tty, Getenv: func(string) string { return "linux" }, Handler: Handler{Key: func(k Key) {
		mu.Lock()
		defer mu.Unlock()
		names = append(names, k.Name)
	}}})
	if err != nil {
		t.Fatal(err)
	}
	defer term.Close()
	term.painter.shown.Store(1) // what comes next is typed by somebody who sees the line
	if _, err := master.WriteString("\n\r"); err != nil {
		t.Fatal(err)
	}
	want := "e a r l y enter a n d ctrl+d h a l f ctrl+j enter"
	for end := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		mu.Lock()
		got := strings.Join(names, " ")
		mu.Unlock()
		if got == want {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("keys %s, want %s", got, want)
		}
	}
}
