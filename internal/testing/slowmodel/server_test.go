package slowmodel

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

func listen(t *testing.T) *Server {
	t.Helper()
	s, err := Listen()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

const question = `{"model":"small","messages":[{"role":"system","content":"be brief"},{"role":"user","content":[{"type":"text","text":"look"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AA=="}}]}]}`

// ask sends a request and returns the answer's body when it has begun.
func ask(ctx context.Context, s *Server) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL()+"/chat/completions", strings.NewReader(question))
	if err != nil {
		return nil, err
	}
	return http.DefaultClient.Do(r)
}

// next returns the turn that a question began.
func next(ctx context.Context, t *testing.T, s *Server) *Turn {
	t.Helper()
	turn, err := s.Next(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return turn
}

func TestEachPieceIsThereBeforeTheNextIsPlayed(t *testing.T) {
	s := listen(t)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	answers := make(chan *http.Response, 1)
	go func() {
		r, err := ask(ctx, s)
		if err != nil {
			t.Error(err)
		}
		answers <- r
	}()
	turn := next(ctx, t, s)
	if turn.Request.Last() != "look" || len(turn.Request.Of("user")[0].Images()) != 1 || len(s.Asked()) != 1 {
		t.Errorf("the request is %+v", turn.Request)
	}
	turn.Think("hm")
	answer := <-answers
	defer answer.Body.Close()
	lines := bufio.NewScanner(answer.Body)
	want := func(part string) {
		t.Helper()
		for lines.Scan() && lines.Text() == "" {
		}
		if !strings.Contains(lines.Text(), part) {
			t.Errorf("%q, want %q", lines.Text(), part)
		}
	}
	want(`"reasoning_content":"hm"`)
	turn.Text("a \"word\"")
	want(`"content":"a \"word\""`)
	turn.Begin("c1", "bash")
	want(`"name":"bash","arguments":""`)
	turn.Arguments(`{"command":`)
	want(`"arguments":"{\"command\":"`)
	turn.Arguments(`"ls"}`)
	want(`ls`)
	turn.End()
	want(`"finish_reason":"tool_calls"`)
	want(`"usage"`)
	want(`[DONE]`)
}

func TestARequestIsRefusedAndAnAnswerIsCut(t *testing.T) {
	s := listen(t)
	for name, c := range map[string]struct {
		play   func(*Turn)
		status int
		cut    bool
	}{
		"refused": {func(turn *Turn) { turn.Fail(429, "too many") }, 429, false},
		"cut":     {func(turn *Turn) { turn.Text("half"); turn.Cut() }, 200, true},
		"whole":   {func(turn *Turn) { turn.Answer("two words") }, 200, false},
	} {
		go func() {
			if turn, err := s.Next(t.Context()); err == nil {
				c.play(turn)
			}
		}()
		r, err := ask(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(r.Body)
		r.Body.Close()
		if r.StatusCode != c.status || (err != nil) != c.cut || len(bytes.TrimSpace(body)) == 0 {
			t.Errorf("%s: status %d, %v, %q", name, r.StatusCode, err, body)
		}
	}
}

func TestThePlayerIsToldThatTheProgramGaveUp(t *testing.T) {
	s := listen(t)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		if r, err := ask(ctx, s); err == nil {
			r.Body.Close()
		}
	}()
	turn := next(t.Context(), t, s)
	cancel()
	select {
	case <-turn.Abandoned():
	case <-time.After(20 * time.Second):
		t.Fatal("it is not told")
	}
	turn.Answer("to nobody")
}
