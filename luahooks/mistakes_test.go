package luahooks

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"pi/agent"
	"pi/session/message"
)

// testdata/mistakes has what authors get wrong, one hook for each mistake, named for its kind.
// On top of each stands what its author is told: the line, and what was meant there. A second
// line "-- check" has what `pi hooks check` says instead, which knows more of what is
// written in several lines, and less of what is only known when it runs.
var mistakeHead = regexp.MustCompile(`^-- (\d+): (.+)\n`)

func TestMistakesAreToldAtTheirLineWithWhatWasMeant(t *testing.T) {
	files, err := filepath.Glob("testdata/mistakes/*.lua")
	mustDo(t, err)
	kinds := map[string]int{}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".lua")
		kind, _, _ := strings.Cut(name, "_")
		kinds[kind]++
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, err := os.ReadFile(file)
			mustDo(t, err)
			head := mistakeHead.FindStringSubmatch(string(code))
			if head == nil {
				if strings.HasPrefix(string(code), "-- check ") {
					return // it runs, and does not do what is meant
				}
				t.Fatal("it does not begin with -- line: message")
			}
			want := name + ".lua:" + head[1] + ": " + head[2]
			if got := mistake(t, name+".lua", string(code)); got != want {
				t.Errorf("its author is told\n%s\nwant\n%s", got, want)
			}
		})
	}
	total := 0
	for kind, n := range kinds {
		if total += n; n < 3 {
			t.Errorf("there are %d mistakes of the kind %s, want 3", n, kind)
		}
	}
	if total < 50 || kinds["other"] < 10 {
		t.Errorf("there are %d mistakes, %d of them as authors of other programs make them; want 50 and 10", total, kinds["other"])
	}
}

// mistake loads a hook and gives it what happens in a session, until something is wrong. It
// returns what its author is told, from the name of the file on.
func mistake(t *testing.T, file, code string) string {
	r := newRig(t, map[string]string{file: code}, patient)
	text := &message.Message{Role: message.RoleUser, Content: []message.Block{message.TextBlock("hello")}}
	for _, e := range append([]agent.Event{
		&agent.SessionStart{Reason: "startup"}, &agent.ToolCall{ID: "c", Name: "bash", Input: []byte(`{"command":"rm x"}`)},
		&agent.Input{Text: "hello"}, &agent.MessageEnd{Message: text},
	}, samples(t)...) {
		if len(r.host.notices()) > 0 {
			break
		}
		r.emit(e)
	}
	said := strings.Join(r.host.notices(), "\n")
	for _, c := range r.chain.Commands() {
		_, err := c.Run(t.Context(), "x")
		said += "\n" + errors.Join(err, errors.New("")).Error()
	}
	at := strings.LastIndex(said, string(filepath.Separator)+file+":")
	if at < 0 {
		return said
	}
	line, _, _ := strings.Cut(said[at+1:], "\n")
	return line
}
