//go:build unix

package e2e

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pi/internal/testing/screentest"
)

// numbers are the numbers in a text, with or without commas.
func numbers(text string) (found []int) {
	for _, digits := range regexp.MustCompile(`\d[\d,]*`).FindAllString(text, -1) {
		n, _ := strconv.Atoi(strings.ReplaceAll(digits, ",", ""))
		found = append(found, n)
	}
	return found
}

// block are the rows of the transcript from the row of a call on, up to the next row
// that is not indented.
func block(transcript, call string) (rows []string) {
	lines := strings.Split(transcript, "\n")
	at := slices.IndexFunc(lines, func(row string) bool { return strings.HasPrefix(row, "• "+call) })
	if at < 0 {
		return nil
	}
	rows = lines[at : at+1]
	for _, row := range lines[at+1:] {
		if !strings.HasPrefix(row, " ") {
			break
		}
		rows = append(rows, row)
	}
	return rows
}

// Output is folded to its last lines, and what is not shown is counted.
func TestLongOutputIsFoldedToItsLastLines(t *testing.T) {
	atWidths(t, usualWidths, func(t *testing.T, n int) {
		s := newDesk(t, cols(n))
		turn := s.ask("go")
		turn.Call("c1", "bash", "command", "seq 1 5000")
		turn.End()
		s.turn().Answer("Counted.")
		s.rests("")
		rows := block(s.Transcript(), "bash")
		if len(rows) < 3 {
			t.Fatalf("the call is not shown; the screen:\n%s", s.Screen())
		}
		if last := strings.TrimSpace(rows[len(rows)-1]); last != "5000" {
			t.Errorf("the last row of the call is %q; the screen:\n%s", last, s.Screen())
		}
		at := slices.IndexFunc(rows, func(row string) bool { return strings.HasPrefix(strings.TrimSpace(row), "…") })
		if at < 0 {
			t.Fatalf("nothing says what is hidden: %q", rows)
		}
		shown := 0
		for _, row := range rows[at:] {
			if regexp.MustCompile(`^ *\d{4}$`).MatchString(row) {
				shown++
			}
		}
		hidden := numbers(strings.Join(rows[at:len(rows)-shown], " ")) // and dropped, where that is told apart
		sum := shown
		for _, n := range hidden {
			sum += n
		}
		if len(hidden) == 0 || sum != 5000 && hidden[0]+shown != 5000 {
			t.Errorf("%d rows shown, hidden and dropped %v; want 5000 in all: %q", shown, hidden, rows)
		}
		s.quits()
	})
}

// A command that failed says how, shows the end of its output, and Ctrl+O shows all.
func TestAFailedCommandShowsItsEndAndCtrlOAllOfIt(t *testing.T) {
	atWidths(t, usualWidths, func(t *testing.T, n int) {
		s := newDesk(t, cols(n))
		turn := s.ask("go")
		const command = "for i in $(seq 1 41)\ndo\n  echo row $i of them\ndone; sleep 1\n: the fifth line\nexit 3"
		turn.Call("c1", "bash", "command", command)
		turn.End()
		s.turn().Answer("It failed.")
		s.rests("")
		rows := block(s.Transcript(), "bash")
		head := strings.Join(strings.Fields(strings.Join(rows, " ")), " ")
		said := []string{`✗`, `row 41 of them$`, `… \d+ earlier`}
		if n >= 40 {
			said = append(said, `\b1 s\b`, `exit 3`)
		}
		if n >= 80 {
			said = append(said, `41 lines`, `Ctrl\+O`, `6 lines|… 3 more`)
		}
		for _, pattern := range said {
			if !regexp.MustCompile(pattern).MatchString(head) {
				t.Errorf("the call does not say %s: %q", pattern, head)
			}
		}
		hidden := regexp.MustCompile(`… (\d+) earlier`).FindStringSubmatch(head)
		if shown := len(regexp.MustCompile(`row \d+ of them`).FindAllString(head, -1)); hidden == nil || hidden[1] != strconv.Itoa(41-shown) {
			t.Errorf("%d rows of 41 are shown, and hidden are %v: %q", shown, hidden, rows)
		}
		if strings.Contains(s.Transcript(), "row 2 of them") || strings.Contains(s.Transcript(), "the fifth line") {
			t.Errorf("the call is not folded:\n%s", s.Transcript())
		}
		s.Press("ctrl+o")
		s.SeeAnywhere("the fifth line")
		s.Until("all rows were appended", func(screentest.Screen) bool {
			_, whole, _ := strings.Cut(s.Transcript(), "the fifth line")
			for i := range 41 {
				if !strings.Contains(whole, fmt.Sprintf("row %d of them", i+1)) {
					return false
				}
			}
			return true
		})
		s.rests("")
		s.quits()
	})
}

// What a command prints is seen as it comes, in the zone below the transcript, and what
// rewrites its row stays one row.
func TestOutputIsSeenAsItComes(t *testing.T) {
	atWidths(t, usualWidths, func(t *testing.T, n int) {
		w := newWorld(t)
		w.mailbox("go")
		c := cols(n)
		c.world = w
		s := newDesk(t, c)
		turn := s.ask("go")
		turn.Call("c1", "bash", "command", `for i in 1 2 3; do echo out $i; read line < go; done; for i in 1 2 3; do printf '\r%d0%% done' $i; read line < go; done; echo; echo over`)
		turn.End()
		for i := range 3 {
			s.See(fmt.Sprintf("out %d", i+1))
			s.projectPipe("go", "on\n")
		}
		most := 0
		s.Watch(func(now screentest.Screen) { most = max(most, len(rowsWith(now, "0% done"))) })
		for i := range 3 {
			s.See(fmt.Sprintf("%d0%% done", i+1))
			s.projectPipe("go", "on\n")
		}
		s.turn().Answer("Seen.")
		s.rests("")
		s.Watch(nil)
		if most != 1 {
			t.Errorf("a bar took up to %d rows", most)
		}
		if got := s.Transcript(); strings.Contains(got, "10% done") || !strings.Contains(got, "30% done") {
			t.Errorf("not the last state of the bar alone is kept:\n%s", got)
		}
		s.quits()
	})
}

// The rows of the live zone keep to a third of the window, but 6 rows where there are so
// many, however much is going on.
func TestTheZoneLeavesTheWindowToTheTranscript(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.mailbox("go")
	s := newDesk(t, scenery{world: w, terminal: screentest.Options{Rows: 24}})
	turn := s.ask("go")
	for i := range 12 {
		turn.Text(fmt.Sprintf("Row %d stays.\n\n", i))
	}
	turn.Call("c1", "bash", "command", "seq 1 50; read line < go")
	turn.End()
	s.See("50")
	for i := range 5 {
		s.Type(fmt.Sprintf("message %d\r", i))
	}
	s.Until("all are queued", func(now screentest.Screen) bool { return now.Shows("5 queued") })
	now := s.Screen()
	row, _ := now.Find("Row 11 stays.")
	if zone := strings.Count(now.Text(), "\n") - row; row < 0 || zone > 8+2 { // a blank row may be between
		t.Errorf("the zone takes %d rows of 24; the screen:\n%s", zone, now)
	}
	s.projectPipe("go", "on\n")
}
