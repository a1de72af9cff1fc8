package provider_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pi/agent/llm"
	"pi/internal/testing/wiretest"
	"pi/session/message"
)

// TestStreamsOfOneClientDoNotMix asks many things at a time of one client, and
// about one model. The server answers each request with what it asks for, and
// begins when all have come.
func TestStreamsOfOneClientDoNotMix(t *testing.T) {
	const streams = 8
	all := parties()
	for i := range all {
		p := &all[i]
		t.Run(p.name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			var arrived atomic.Int32
			everybody := make(chan struct{})
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, err := io.ReadAll(r.Body)
				_, word, _ := strings.Cut(string(body), "say ")
				if err != nil || len(word) < 2 {
					http.Error(w, "nothing to say", http.StatusBadRequest)
					return
				}
				if arrived.Add(1) == streams {
					close(everybody)
				}
				select {
				case <-everybody:
				case <-r.Context().Done():
					return
				}
				w.Header().Set("Content-Type", "text/event-stream")
				io.WriteString(w, p.answer(spoken{thought: "thought " + word[:2], signature: "c2ln", text: "text " + word[:2], calls: []spokenCall{{"c" + word[:2], "f", `{"n":"` + word[:2] + `"}`}}}))
			}))
			defer server.Close()
			client, model := p.client(server.Client()), p.model
			model.BaseURL = server.URL
			model.Cost = &llm.Price{Input: 1}
			var asked sync.WaitGroup
			for n := range streams {
				asked.Go(func() {
					word := fmt.Sprintf("%02d", n)
					prompt := &message.Message{Role: message.RoleUser, Content: []message.Block{message.TextBlock("say " + word)}}
					a := wiretest.Collect(client.Stream(ctx, &llm.Request{Model: &model, APIKey: "k", Thinking: "high", Messages: []*message.Message{prompt},
						Tools: []llm.ToolSpec{{Name: "f", Parameters: []byte(`{"type":"object","properties":{"n":{"type":"string"}}}`)}}}))
					calls := a.Calls()
					if a.Err != nil || a.Text(message.BlockText) != "text "+word || a.Text(message.BlockThinking) != "thought "+word ||
						len(calls) != 1 || string(calls[0].Arguments) != `{"n":"`+word+`"}` {
						t.Errorf("%s: %s", word, a)
					}
				})
			}
			asked.Wait()
		})
	}
}
