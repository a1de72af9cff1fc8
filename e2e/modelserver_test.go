package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"pi/internal/testing/wiretest"
)

// modelServer is a model on loopback: it gives the answers of a script, one per
// request, and keeps what it was asked. Whoever asks for its models is told of
// small and fresh.
//
// A script is a list of answers with a line --- between them. The lines of an
// answer:
//
//	think WORDS       thoughts
//	text WORDS        words, streamed one by one
//	call NAME JSON    a tool call
//	flood N           N bytes of words
//	lump KIND N       N bytes in one piece: text, think, or call, the content of a
//	                  file to write
//	usage I O R W [cost C]
//	                  what the answer counts: input, output, read from the cache,
//	                  written to it; the first line, else it is 10 5 0 0
//	header NAME: VALUE
//	                  a header of the answer; before the other lines
//	status N BODY     an HTTP error, instead of anything else
//	raw LINE          a line of the stream as it is, which ends an event
//	ping              a sign of life that says nothing
//	sleep DURATION    nothing for a while
//	cut               the connection ends here, in the middle of the answer
//	wait              nothing more comes until the test sends to goOn
//	gather N          nothing more comes until N requests have come
//	stall             nothing more comes until the program closes the connection
type modelServer struct {
	name  string // of the provider
	api   string
	dumps string // a directory for the requests, or ""
	binds bool   // the model binds its thoughts to what stands before them, see wiretest.Bound
	http  *httptest.Server
	goOn  chan struct{} // ends a wait

	mu       sync.Mutex
	came     chan struct{} // closed by the next request
	answers  []string
	requests []modelRequest
	bound    strings.Builder // what became of the thoughts in each request, also in a refused one
}

type modelRequest struct {
	path   string
	header http.Header
	body   []byte
	bound  *wiretest.Bound // nil if the model binds nothing
}

// newModelServer starts a server for one of the program's wire APIs.
func newModelServer(api, script, dumps string) *modelServer {
	s := &modelServer{name: "local", api: api, dumps: dumps, answers: strings.Split(strings.TrimSpace(script), "\n---\n"), goOn: make(chan struct{}, 1), came: make(chan struct{})}
	s.http = httptest.NewServer(s)
	return s
}

// apiPaths are where each API is asked.
func apiPaths() map[string]string {
	return map[string]string{"openai-completions": "/v1/chat/completions", "anthropic-messages": "/v1/messages", "openai-responses": "/v1/responses", "google-generative-ai": "/v1/models/"}
}

// demands are what the servers of each API refuse a request at path for.
func demands(path string) map[string]func(body []byte) error {
	return map[string]func([]byte) error{
		"openai-completions":   wiretest.CheckChat,
		"anthropic-messages":   wiretest.CheckMessages,
		"openai-responses":     wiretest.CheckResponses,
		"google-generative-ai": func(body []byte) error { return checkGoogle(path, body) },
	}
}

// baseURL is what base_url of a provider's settings has to be.
func (s *modelServer) baseURL() string {
	if s.api != "anthropic-messages" {
		return s.http.URL + "/v1"
	}
	return s.http.URL
}

// boundSettings are those of a server whose models bind their thoughts. The names of four
// say so, and nobody can tell it from the others.
const boundSettings = `
[providers.local]
base_url = %q
api = "anthropic-messages"
api_key = "env:LOCAL_KEY"

[[providers.local.models]]
id = "claude-opus-5-5"
context_window = 200000
reasoning = true

[[providers.local.models]]
id = "claude-haiku-5-5"
context_window = 200000
reasoning = true

[[providers.local.models]]
id = "claude-sonnet-5-5"
context_window = 200000
reasoning = true

[[providers.local.models]]
id = "claude-fable-5-2"
context_window = 200000

[[providers.local.models]]
id = "thinker"
context_window = 200000
reasoning = true
compat = { adaptive_thinking = true }

[[providers.local.models]]
id = "budgeter"
context_window = 200000
max_tokens = 64000
reasoning = true
`

// settings are those of the provider that is this server.
func (s *modelServer) settings() string {
	if s.binds {
		return fmt.Sprintf(boundSettings, s.baseURL())
	}
	const text = "\n[providers.NAME]\nbase_url = %q\napi = %q\napi_key = \"env:LOCAL_KEY\"\n\n[[providers.NAME.models]]\nid = \"small\"\ncontext_window = 100000\n\n[[providers.NAME.models]]\nid = \"large\"\ncontext_window = 200000\nreasoning = true\n"
	return fmt.Sprintf(strings.ReplaceAll(text, "NAME", s.name), s.baseURL(), s.api)
}

func (s *modelServer) asked() []modelRequest {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]modelRequest(nil), s.requests...)
}

func (s *modelServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/v1/models") {
		fmt.Fprint(w, `{"object":"list","data":[{"id":"small","object":"model"},{"id":"fresh","object":"model","max_model_len":32768}]}`)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil || !strings.HasPrefix(r.URL.Path, apiPaths()[s.api]) {
		http.Error(w, "asked at "+r.URL.Path, http.StatusNotFound)
		return
	}
	if err := demands(r.URL.Path)[s.api](body); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	is := modelRequest{path: r.URL.Path, header: r.Header, body: body}
	if s.binds {
		is.bound, err = wiretest.CheckBound(r.Header.Get("Anthropic-Beta"), body)
		if s.noteBound(is.bound); err != nil {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprintf(w, `{"type":"error","error":{"type":"invalid_request_error","message":%s}}`, quoted(err.Error()))
			return
		}
	}
	answer, err := s.note(is)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.give(w, r, answer, is.bound)
}

// noteBound notes what became of the thoughts in a request, in a line of the file bound;
// nil is a refusal.
func (s *modelServer) noteBound(b *wiretest.Bound) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if b == nil {
		s.bound.WriteString("refused\n")
	} else {
		fmt.Fprintf(&s.bound, "%d kept, %d dropped\n", b.Kept, b.Dropped)
	}
	if s.dumps != "" {
		_ = os.WriteFile(filepath.Join(s.dumps, "bound"), []byte(s.bound.String()), 0o600) // a test that reads it fails without
	}
}

// note keeps a request and returns the answer that is due.
func (s *modelServer) note(r modelRequest) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, r)
	close(s.came)
	s.came = make(chan struct{})
	n := len(s.requests)
	if s.dumps != "" {
		var pretty bytes.Buffer
		if err := json.Indent(&pretty, r.body, "", " "); err != nil {
			return "", fmt.Errorf("request %d is no JSON: %w", n, err)
		}
		if err := os.WriteFile(filepath.Join(s.dumps, fmt.Sprintf("request%d.json", n)), pretty.Bytes(), 0o600); err != nil {
			return "", err
		}
	}
	if n > len(s.answers) {
		return "", fmt.Errorf("the script has no answer %d", n)
	}
	return s.answers[n-1], nil
}

// gather waits until n requests have come; false says that ctx ended before.
func (s *modelServer) gather(ctx context.Context, n int) bool {
	for {
		s.mu.Lock()
		have, came := len(s.requests), s.came
		s.mu.Unlock()
		if have >= n {
			return true
		}
		select {
		case <-came:
		case <-ctx.Done():
			return false
		}
	}
}

func (s *modelServer) give(w http.ResponseWriter, r *http.Request, answer string, bound *wiretest.Bound) {
	used := [4]int{10, 5}
	fmt.Sscanf(answer, "usage %d %d %d %d", &used[0], &used[1], &used[2], &used[3])
	cost := ""
	if _, said, ok := strings.Cut(answer, " cost "); ok && strings.HasPrefix(answer, "usage ") {
		cost, _, _ = strings.Cut(said, "\n")
		cost = `,"cost":` + cost
	}
	var a wireAnswer = &openaiAnswer{w: w, used: used, cost: cost}
	switch s.api {
	case "anthropic-messages":
		a = &anthropicAnswer{w: w, used: used, bound: bound}
	case "google-generative-ai":
		a = &googleAnswer{w: w, used: used, signs: signs(r.URL.Path)}
	case "openai-responses":
		a = &responsesAnswer{w: w, used: used, made: len(s.asked())}
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for i, line := range strings.Split(answer, "\n") {
		verb, rest, _ := strings.Cut(line, " ")
		switch verb {
		case "header":
			name, value, _ := strings.Cut(rest, ": ")
			w.Header().Set(name, value)
		case "raw":
			fmt.Fprint(w, rest, "\n\n")
		case "ping":
			fmt.Fprint(w, ": ping\n\n")
		case "sleep":
			w.(http.Flusher).Flush()
			d, _ := time.ParseDuration(rest)
			select {
			case <-time.After(d):
			case <-r.Context().Done():
				return
			}
		case "status":
			status, message, _ := strings.Cut(rest, " ")
			code := 0
			fmt.Sscan(status, &code)
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(code)
			fmt.Fprint(w, message)
			return
		case "think":
			a.think(rest)
		case "text":
			a.text(rest)
		case "flood":
			n, _ := strconv.Atoi(rest)
			word := strings.Repeat("x", 1023) + " "
			for ; n > 0 && r.Context().Err() == nil; n -= 64 * len(word) {
				a.text(strings.Repeat(word, 64))
			}
		case "lump":
			lump(a, rest)
		case "call":
			name, arguments, _ := strings.Cut(rest, " ")
			a.call(fmt.Sprintf("call_%d_%d", len(s.asked()), i), name, arguments)
		case "cut":
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		case "wait":
			w.(http.Flusher).Flush()
			select {
			case <-s.goOn:
			case <-r.Context().Done():
				return
			}
		case "gather":
			n, _ := strconv.Atoi(rest)
			if w.(http.Flusher).Flush(); !s.gather(r.Context(), n) {
				return
			}
		case "stall":
			w.(http.Flusher).Flush()
			<-r.Context().Done()
			return
		}
	}
	a.end()
}

// lump writes much in one piece.
func lump(a wireAnswer, what string) {
	kind, size, _ := strings.Cut(what, " ")
	n, _ := strconv.Atoi(size)
	switch long := strings.Repeat("x", n); kind {
	case "text":
		a.text(long)
	case "think":
		a.think(long)
	case "call":
		a.call("call_lump", "write", `{"path":"b.txt","content":"`+long+`"}`)
	}
}

// wireAnswer writes an answer in the form of one API.
type wireAnswer interface {
	think(string)
	text(string)
	call(id, name, arguments string)
	end()
}

func quoted(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

type openaiAnswer struct {
	w     io.Writer
	used  [4]int
	cost  string // a field of the usage; "": none
	calls int
}

func (a *openaiAnswer) chunk(delta, finish string) {
	fmt.Fprintf(a.w, "data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"choices\":[{\"index\":0,\"delta\":%s,\"finish_reason\":%s}]}\n\n", delta, finish)
}

func (a *openaiAnswer) think(s string) { a.chunk(`{"reasoning_content":`+quoted(s)+`}`, "null") }

func (a *openaiAnswer) text(s string) {
	for _, word := range strings.SplitAfter(s, " ") {
		a.chunk(`{"content":`+quoted(word)+`}`, "null")
	}
}

func (a *openaiAnswer) call(id, name, arguments string) {
	half := len(arguments) / 2
	a.chunk(fmt.Sprintf(`{"tool_calls":[{"index":%d,"id":%q,"type":"function","function":{"name":%q,"arguments":%s}}]}`, a.calls, id, name, quoted(arguments[:half])), "null")
	a.chunk(fmt.Sprintf(`{"tool_calls":[{"index":%d,"function":{"arguments":%s}}]}`, a.calls, quoted(arguments[half:])), "null")
	a.calls++
}

func (a *openaiAnswer) end() {
	finish := `"stop"`
	if a.calls > 0 {
		finish = `"tool_calls"`
	}
	a.chunk("{}", finish)
	prompt := a.used[0] + a.used[2] + a.used[3]
	fmt.Fprintf(a.w, "data: {\"id\":\"c\",\"choices\":[],\"usage\":{\"prompt_tokens\":%d,\"completion_tokens\":%d,\"total_tokens\":%d,\"prompt_tokens_details\":{\"cached_tokens\":%d}%s}}\n\ndata: [DONE]\n\n",
		prompt, a.used[1], prompt+a.used[1], a.used[2], a.cost)
}

type anthropicAnswer struct {
	w             io.Writer
	used          [4]int
	bound         *wiretest.Bound // nil: its thoughts are bound to nothing
	blocks, calls int
}

func (a *anthropicAnswer) event(name, data string) {
	if a.blocks == 0 && name != "message_start" {
		a.event("message_start", fmt.Sprintf(`{"type":"message_start","message":{"id":"m","type":"message","role":"assistant","model":"small","content":[],"stop_reason":null,"usage":{"input_tokens":%d,"output_tokens":1,"cache_read_input_tokens":%d,"cache_creation_input_tokens":%d}}}`,
			a.used[0], a.used[2], a.used[3]))
		a.blocks = 1
	}
	fmt.Fprintf(a.w, "event: %s\ndata: %s\n\n", name, data)
}

func (a *anthropicAnswer) block(start string, deltas ...string) {
	n := max(a.blocks-1, 0)
	a.event("content_block_start", fmt.Sprintf(`{"type":"content_block_start","index":%d,"content_block":%s}`, n, start))
	for _, d := range deltas {
		a.event("content_block_delta", fmt.Sprintf(`{"type":"content_block_delta","index":%d,"delta":%s}`, n, d))
	}
	a.event("content_block_stop", fmt.Sprintf(`{"type":"content_block_stop","index":%d}`, n))
	a.blocks++
}

func (a *anthropicAnswer) think(s string) {
	signature := "c2lnbmVk"
	if a.bound != nil {
		signature = a.bound.Think(s)
	}
	a.block(`{"type":"thinking","thinking":"","signature":""}`,
		`{"type":"thinking_delta","thinking":`+quoted(s)+`}`, `{"type":"signature_delta","signature":"`+signature+`"}`)
}

func (a *anthropicAnswer) text(s string) {
	if a.bound != nil {
		a.bound.Text(s)
	}
	var deltas []string
	for _, word := range strings.SplitAfter(s, " ") {
		deltas = append(deltas, `{"type":"text_delta","text":`+quoted(word)+`}`)
	}
	a.block(`{"type":"text","text":""}`, deltas...)
}

func (a *anthropicAnswer) call(id, name, arguments string) {
	if a.bound != nil {
		a.bound.Call(id, name, arguments)
	}
	half := len(arguments) / 2
	a.block(fmt.Sprintf(`{"type":"tool_use","id":%q,"name":%q,"input":{}}`, id, name),
		`{"type":"input_json_delta","partial_json":`+quoted(arguments[:half])+`}`,
		`{"type":"input_json_delta","partial_json":`+quoted(arguments[half:])+`}`)
	a.calls++
}

func (a *anthropicAnswer) end() {
	reason := "end_turn"
	if a.calls > 0 {
		reason = "tool_use"
	}
	a.event("message_delta", `{"type":"message_delta","delta":{"stop_reason":"`+reason+`","stop_sequence":null},"usage":{"output_tokens":`+strconv.Itoa(a.used[1])+`}}`)
	a.event("message_stop", `{"type":"message_stop"}`)
}

// piCommand is the path of this test binary, which is the program itself when it
// is called by the name pi.
func piCommand(t testing.TB) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}
