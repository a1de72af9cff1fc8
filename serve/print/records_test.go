package print

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"pi/agent"
)

// runJSON runs prompts in JSON mode and returns the types of the records, the lines for a
// user, and the error.
func runJSON(t *testing.T, prompts ...string) (types []string, progress string, err error) {
	t.Helper()
	var out, beside bytes.Buffer
	p := NewJSON(&out, &beside)
	err = errors.Join(runWith(t.Context(), p, prompts...), p.Close())
	for line := range strings.Lines(out.String()) {
		var r struct{ Type string }
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		types = append(types, r.Type)
	}
	return types, beside.String(), err
}

func TestWhatIsNoEventIsForAUser(t *testing.T) {
	for _, c := range []struct {
		name, progress, want string
		prompts              []string
	}{
		{"a command", "thinking: low\n", "session thinking_level_changed", []string{"/thinking low"}},
		{"notices are for a person", "warning: careful\n", "session", []string{"/tell"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			types, progress, err := runJSON(t, c.prompts...)
			if got := strings.Join(types, " "); got != c.want || progress != c.progress || err != nil {
				t.Errorf("%s, %q, %v\nwant\n%s, %q", got, progress, err, c.want, c.progress)
			}
		})
	}
}

func TestErrorsOfJSONModeAreThoseOfPrintMode(t *testing.T) {
	for _, prompt := range []string{"/thinkin", "/broken", "/clear", "fail", "nothing", "long"} {
		_, _, inPrint := run(t.Context(), prompt)
		types, _, inJSON := runJSON(t, prompt, "never sent")
		if inPrint == nil || inJSON == nil || inJSON.Error() != inPrint.Error() || strings.Count(strings.Join(types, " "), "agent_start") > 1 {
			t.Errorf("%s: %v, in print mode %v; %s", prompt, inJSON, inPrint, types)
		}
	}
}

func TestRecordsWithoutReaderAreABrokenPipe(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	defer w.Close()
	p := NewJSON(w, io.Discard)
	if err := errors.Join(runWith(t.Context(), p, "wait"), p.Close()); !errors.Is(err, ErrBrokenPipe) {
		t.Errorf("error %v", err)
	}
}

func TestAnotherErrorOfWritingIsNamed(t *testing.T) {
	p := NewJSON(full{}, io.Discard)
	if err := errors.Join(runWith(t.Context(), p, "wait"), p.Close()); !errors.Is(err, errFull) || errors.Is(err, ErrBrokenPipe) {
		t.Errorf("error %v", err)
	}
}

var errFull = errors.New("the disk is full")

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }

// stuck is an output whose reader reads nothing.
type stuck struct{ asked, end chan struct{} }

func (s stuck) Write([]byte) (int, error) {
	close(s.asked)
	<-s.end
	return 0, io.ErrClosedPipe
}

func TestAReaderThatReadsNothingDelaysTheEndOnlySoLong(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := stuck{make(chan struct{}), make(chan struct{})}
	defer close(s.end)
	p := NewJSON(s, io.Discard)
	p.out.(*recordOutput).limit = time.Millisecond
	go func() {
		<-s.asked
		cancel()
	}()
	long := strings.Repeat("x", 5<<20) // twice this is more than may wait
	if err := runWith(ctx, p, long, "more"); !errors.Is(err, agent.ErrAborted) && !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if err := p.Close(); !errors.Is(err, ErrBrokenPipe) {
		t.Errorf("at the end: %v", err)
	}
}
