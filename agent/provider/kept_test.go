package provider_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"pi/agent/llm"
	"pi/internal/testing/wiretest"
	"pi/session/message"
)

// hiddenEvents are events that a decoder keeps something of without a delta, or
// none that has it all: the nth of each.
func hiddenEvents() map[string]map[string]func(n int) string {
	const much = 4 << 10
	x := strings.Repeat("x", much)
	data := func(format string) func(int) string {
		return func(n int) string {
			return "data: " + strings.NewReplacer("XXX", x, "NNN", fmt.Sprint(n)).Replace(format) + "\n\n"
		}
	}
	return map[string]map[string]func(int) string{
		"openai-completions": {
			"refusals":              data(`{"choices":[{"delta":{"refusal":"XXX"}}]}`),
			"calls without a name":  data(`{"choices":[{"delta":{"tool_calls":[{"index":NNN,"id":"","function":{"arguments":"XXX"}}]}}]}`),
			"details of thoughts":   data(`{"choices":[{"delta":{"reasoning_details":[{"type":"reasoning.encrypted","id":"NNN","data":"XXX"}]}}]}`),
			"fields of one thought": data(`{"choices":[{"delta":{"reasoning_details":[{"type":"t","nNNN":"XXX"}]}}]}`),
		},
		"anthropic-messages": {
			"calls that begin with arguments": data(`{"type":"content_block_start","index":NNN,"content_block":{"type":"tool_use","id":"a","name":"f","input":{"a":"XXX"}}}`),
		},
		"openai-responses": {
			"calls that begin with arguments": data(`{"type":"response.output_item.added","output_index":NNN,"item":{"type":"function_call","call_id":"cNNN","name":"f","arguments":"XXX"}}`),
		},
	}
}

func TestWhatADecoderKeepsCountsTowardTheLimit(t *testing.T) {
	for _, p := range parties() {
		for kind, event := range hiddenEvents()[p.model.API] {
			t.Run(p.name+"/"+kind, func(t *testing.T) {
				const most = 10 << 20 / (4 << 10) // events, far above the limit
				server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					w.Header().Set("Content-Type", "text/event-stream")
					for n := 0; n < most && r.Context().Err() == nil; n++ {
						if _, err := io.WriteString(w, event(n)); err != nil {
							return
						}
					}
					w.(http.Flusher).Flush()
					select { // it has no end
					case <-r.Context().Done():
					case <-time.After(time.Minute):
					}
				}))
				defer server.Close()
				client, model := p.client(server.Client()), p.model
				model.BaseURL = server.URL
				a := wiretest.Collect(client.Stream(t.Context(), &llm.Request{Model: &model, APIKey: "k", MaxAnswer: 1 << 20,
					Messages: []*message.Message{{Role: message.RoleUser, Content: []message.Block{message.TextBlock("go")}}}}))
				if !errors.Is(a.Err, llm.ErrAnswerTooLong) {
					t.Errorf("it ended with %v", a.Err)
				}
			})
		}
	}
}

func TestAnEventLongerThanTheLimitIsAnAnswerThatIsTooLong(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, "data: ")
		for piece := strings.Repeat("x", 64<<10); r.Context().Err() == nil; {
			if _, err := io.WriteString(w, piece); err != nil {
				return
			}
		}
	}))
	defer server.Close()
	for _, p := range parties() {
		client, model := p.client(server.Client()), p.model
		model.BaseURL = server.URL
		a := wiretest.Collect(client.Stream(t.Context(), &llm.Request{Model: &model, APIKey: "k", MaxAnswer: 2 << 20,
			Messages: []*message.Message{{Role: message.RoleUser, Content: []message.Block{message.TextBlock("go")}}}}))
		if !errors.Is(a.Err, llm.ErrAnswerTooLong) {
			t.Errorf("%s: it ended with %v", p.name, a.Err)
		}
	}
}
