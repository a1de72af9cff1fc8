package app

import (
	"bufio"
	"context"
	"io"
	"strings"
	"testing"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"pi/agent"
)

func TestASecretIsNotEchoedBeforeThereIsAFrontEnd(t *testing.T) {
	t.Parallel()
	master, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer master.Close()
	defer tty.Close()
	echoes := func() bool {
		state, err := unix.IoctlGetTermios(int(tty.Fd()), unix.TCGETS)
		return err != nil || state.Lflag&unix.ECHO != 0
	}
	if !echoes() {
		t.Fatal("the terminal does not echo at first")
	}
	type answer struct {
		text string
		ok   bool
	}
	got := make(chan answer, 1)
	e := early{user: User{in: tty, Out: tty}}
	go func() {
		text, ok, _ := e.Input(context.Background(), "The key?", "", agent.DialogOptions{Secret: true})
		got <- answer{text, ok}
		_, _ = io.WriteString(tty, "the end\n")
	}()
	shown := bufio.NewReader(master)
	if line, err := shown.ReadString('>'); err != nil || !strings.Contains(line, "The key?") {
		t.Fatalf("asked with %q, %v", line, err)
	}
	for echoes() {
	}
	_, _ = io.WriteString(master, "hidden\r")
	if a := <-got; a != (answer{"hidden", true}) {
		t.Errorf("the answer is %+v", a)
	}
	rest := ""
	for !strings.Contains(rest, "the end") {
		line, err := shown.ReadString('\n')
		if rest += line; err != nil {
			t.Fatal(err)
		}
	}
	if strings.Contains(rest, "hidden") || !echoes() {
		t.Errorf("shown is %q, and it echoes: %v", rest, echoes())
	}
}
