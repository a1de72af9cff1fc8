//go:build unix

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTicTacToeIsPlayedWithTheKeys(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write(w.agentFile("hooks/tic_tac_toe.lua"), mustRead(t, example(t, "tic_tac_toe.lua")))
	s := newDesk(t, scenery{world: w})
	s.rests("")
	play := func(line string) {
		s.Type("/tictactoe\r")
		s.See(line)
	}
	play("0 won, 0 lost, 0 drawn · arrows and Enter")
	s.Press("enter") // the middle, where the cursor is
	s.See(" O | 2 | 3")
	s.Type("2") // the machine is in the way at 8
	s.See(" 7 | O | 9")
	s.Press("right", "enter") // 3, and the way is barred at 7
	s.See(" O | O | 9")
	s.Type("9")
	s.See("0 won, 1 lost, 0 drawn")
	s.See("the machine has won: n plays again, q ends")
	s.Type("n") // now the machine begins
	s.See(" 4 | O | 6")
	s.Type("q")
	s.See("tic-tac-toe: 0 won, 1 lost, 0 drawn")
	s.rests("")
	play("0 won, 1 lost, 0 drawn · arrows")
	s.Press("esc")
	s.rests("")
	s.quits()
}

func TestToolsAreMarkedInAList(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write(w.agentFile("hooks/tools.lua"), mustRead(t, example(t, "tools.lua")))
	s := newDesk(t, scenery{world: w})
	s.rests("")
	s.Type("/toolset\r")
	s.See("Which tools does the model have?")
	s.Type("bash")
	s.See("1 of 7")
	s.Press("space", "enter")
	s.See("the model has read edit write grep find ls")
	turn := s.ask("hello")
	if got := strings.Join(toolNames(t, turn.Request), " "); strings.Contains(got, "bash") || !strings.Contains(got, "read") {
		t.Errorf("the model has %s", got)
	}
	turn.Answer("Hello.")
	s.rests("")
	s.quits()
}

func TestEscTwiceTakesConversationAndFilesBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write(w.agentFile("hooks/rewind.lua"), mustRead(t, example(t, "rewind.lua")))
	s := newDesk(t, scenery{world: w})
	turn := s.ask("write it")
	turn.Call("c1", "write", "path", "b.txt", "content", "new")
	turn.End()
	turn = s.turn()
	turn.Answer("Written.")
	s.rests("")
	file := filepath.Join(w.project, "b.txt")
	if got := mustRead(t, file); got != "new" {
		t.Fatalf("b.txt is %q", got)
	}
	s.Press("esc", "esc")
	s.See("Rewind to before which prompt?")
	s.See("1 file changed since")
	s.Press("enter")
	s.quietly("What goes back?")
	s.Press("enter")
	s.See("1 file restored")
	s.rests("write it")
	if _, err := os.Stat(file); !os.IsNotExist(err) {
		t.Errorf("b.txt is still there: %v", err)
	}
	s.Type(" again\r")
	turn = s.turn()
	if body := string(turn.Request.Body); strings.Contains(body, "Written.") || !strings.Contains(body, "write it again") {
		t.Errorf("the model is sent %s", body)
	}
	turn.Answer("Once more.")
	s.rests("")
	s.quits()
}
