package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// The runs whose turns are measured: the short one takes what every run takes, so that the
// difference is that of the turns.
const (
	manyTurns = 200
	fewTurns  = 20
)

// script is a server that plays a model: so many turns with one call of read each, then its
// last words.
type script struct {
	http     *http.Server
	listener net.Listener

	mu       sync.Mutex
	turns    int         // with a call, of this run
	asked    []time.Time // when the first bytes of a request arrived
	answered []time.Time // when the last bytes of an answer were written
}

func listenScript() (*script, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &script{listener: l}
	s.http = &http.Server{Handler: s, ConnState: func(_ net.Conn, state http.ConnState) {
		if state == http.StateActive {
			s.mu.Lock()
			s.asked = append(s.asked, time.Now())
			s.mu.Unlock()
		}
	}}
	go func() { _ = s.http.Serve(l) }()
	return s, nil
}

func (s *script) url() string { return "http://" + s.listener.Addr().String() + "/v1" }

func (s *script) close() { _ = s.http.Close() }

// begin makes the next request the first of a run of so many turns.
func (s *script) begin(turns int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.turns, s.asked, s.answered = turns, nil, nil
}

// gaps returns the times between the end of each answer and the next request.
func (s *script) gaps() (gaps []time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := 0; i+1 < len(s.asked) && i < len(s.answered); i++ {
		gaps = append(gaps, s.asked[i+1].Sub(s.answered[i]))
	}
	return gaps
}

const readCall = `data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_%[1]d","type":"function","function":{"name":"read","arguments":"{\"path\":\"%[2]s\"}"}}]},"finish_reason":null}]}

data: {"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}

data: [DONE]

`

// ServeHTTP answers with a call that reads another file at each turn, since a model that repeats a
// call is stopped.
func (s *script) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	s.mu.Lock()
	defer s.mu.Unlock()
	answer := words
	if n := len(s.answered); n < s.turns {
		answer = fmt.Sprintf(readCall, n, readFile(n))
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Content-Length", fmt.Sprint(len(answer)))
	_, _ = io.WriteString(w, answer)
	s.answered = append(s.answered, time.Now())
	_ = http.NewResponseController(w).Flush()
}

func readFile(turn int) string { return fmt.Sprintf("lines/%03d.txt", turn) }

// writeLines writes a file of ten lines for each turn into dir.
func writeLines(dir string) error {
	err := os.MkdirAll(filepath.Join(dir, "lines"), 0o700)
	for turn := range manyTurns {
		text := strings.Repeat(fmt.Sprintf("a line of file %d\n", turn), 10)
		err = errors.Join(err, os.WriteFile(filepath.Join(dir, readFile(turn)), []byte(text), 0o600))
	}
	return err
}

// gateHooks returns hooks that each look at every tool call.
func gateHooks() map[string]string {
	hooks := map[string]string{}
	for i := range hookCount {
		hooks[fmt.Sprintf("gate%02d.lua", i)] = "pi.on(\"tool_call\", function(event) local name = event.tool_name end)\n"
	}
	return hooks
}

// casesBeside returns what is measured of the program beside another build of it, the binary
// other: starts, and runs with many turns.
func (w *work) casesBeside(other string) []*measured {
	against := filepath.Base(other)
	row := func(name, home string, run func(binary, home string) (result, error)) *measured {
		return &measured{name: name, against: against,
			base: func() (result, error) { return run(other, home+beside) },
			run:  func() (result, error) { return run(w.path("pi"), home) }}
	}
	start := func(binary, home string) (result, error) {
		return w.timeToRequest(home, binary, "-p", "hello")
	}
	return []*measured{
		row("start, no hooks", "plain", start),
		row("start, 10 of the examples", "examples", start),
		row("start, 10 hooks of 90 functions", "functions", start),
		row("a turn with a tool", "turns", w.timeOfTurn),
		row("growth of a turn, 1st to 200th", "turns", w.growthOfTurn),
		row("last byte to exit", "turns", w.timeToExit),
		{name: "start, 3 servers of tools", against: "a start without",
			base: func() (result, error) { return start(w.path("pi"), "plain") },
			run:  func() (result, error) { return start(w.path("pi"), "servers") }},
		{name: "a turn with ten hooks", against: "a turn without",
			base: func() (result, error) { return w.timeOfTurn(w.path("pi"), "turns") },
			run:  func() (result, error) { return w.timeOfTurn(w.path("pi"), "gates") }},
	}
}

// timeOfTurn measures what a turn takes that is neither the first nor the last.
func (w *work) timeOfTurn(binary, home string) (result, error) {
	few, err := w.runTurns(binary, home, fewTurns)
	if err != nil {
		return result{}, err
	}
	many, err := w.runTurns(binary, home, manyTurns)
	const turns = manyTurns - fewTurns
	return result{took: (many.took - few.took) / turns, cpu: (many.cpu - few.cpu) / turns}, err
}

// growthOfTurn measures by how much the time between an answer and the next request grows
// while a run goes on.
func (w *work) growthOfTurn(binary, home string) (result, error) {
	_, err := w.runTurns(binary, home, manyTurns)
	gaps := w.turns.gaps()
	if err == nil && len(gaps) != manyTurns {
		err = fmt.Errorf("%d requests came after %d answers", len(gaps), manyTurns)
	}
	if err != nil {
		return result{}, err
	}
	return result{took: middle(gaps[manyTurns-fewTurns:]) - middle(gaps[:fewTurns])}, nil
}

// timeToExit measures how long a run takes to end when it has said its last word.
func (w *work) timeToExit(binary, home string) (result, error) {
	ran, err := w.runTurns(binary, home, fewTurns)
	return result{took: ran.afterwards}, err
}

// ran is a run with turns.
type ran struct {
	took, cpu  time.Duration
	afterwards time.Duration // from the last byte on stdout to the exit
}

// runTurns runs a program on a prompt that takes so many turns.
func (w *work) runTurns(binary, home string, turns int) (r ran, err error) {
	w.turns.begin(turns)
	cmd := w.command(home, binary, "-p", "go on")
	var said, trouble bytes.Buffer
	cmd.Stderr = &trouble
	out, err := cmd.StdoutPipe()
	if err != nil {
		return r, err
	}
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return r, err
	}
	limit := time.AfterFunc(requestLimit, func() { _ = cmd.Process.Kill() })
	defer limit.Stop()
	last := start
	for buffer := make([]byte, 4096); ; {
		n, err := out.Read(buffer)
		if n > 0 {
			last = time.Now()
			said.Write(buffer[:n])
		}
		if err != nil {
			break
		}
	}
	err = cmd.Wait()
	end := time.Now()
	if err != nil {
		return r, fmt.Errorf("%w\n%s%s", err, said.String(), trouble.String())
	}
	state := cmd.ProcessState
	return ran{took: end.Sub(start), cpu: state.UserTime() + state.SystemTime(), afterwards: end.Sub(last)}, nil
}

// middle returns the middle one of some times.
func middle(times []time.Duration) time.Duration {
	sorted := slices.Sorted(slices.Values(times))
	return sorted[len(sorted)/2]
}
