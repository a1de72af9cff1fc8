package provider_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"pi/agent/llm"
	"pi/agent/provider"
	"pi/agent/provider/wire"
)

// listing serves answers by path, and nothing for another. What is posted is told behind
// the path.
func listing(t *testing.T, answers map[string]string) *httptest.Server {
	t.Helper()
	return serve(t, func(w http.ResponseWriter, r *http.Request) {
		asked := r.URL.RequestURI()
		if r.Method == http.MethodPost {
			posted, _ := io.ReadAll(r.Body)
			asked += " " + string(posted)
		}
		body, ok := answers[asked]
		if !ok {
			http.Error(w, `{"error":"no such page"}`, http.StatusNotFound)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, body)
	})
}

// listingOf is how servers of an API are asked; of one that nobody knows, as OpenAI.
func listingOf(api string) provider.Listing {
	known, _ := wire.Find(api)
	return known.Listing
}

func discover(s provider.Server) ([]provider.Found, error) {
	return provider.Discover(context.Background(), provider.NewClient(), s)
}

func TestEachServersListIsRead(t *testing.T) {
	const chat = "openai-completions"
	text, images := []string{"text"}, []string{"text", "image"}
	cases := []struct {
		name, api, base string
		answers         map[string]string
		want            []provider.Found
	}{
		{"only ids", chat, "/v1", map[string]string{
			"/v1/models": `{"object":"list","data":[{"id":"b","object":"model","owned_by":"acme"},{"id":"a"},{"id":"b"}]}`,
		}, []provider.Found{{ID: "b", Name: "b"}, {ID: "a", Name: "a"}}},
		{"the responses api", "openai-responses", "/v1/", map[string]string{
			"/v1/models": `{"data":[{"id":"gpt-5"}]}`,
		}, []provider.Found{{ID: "gpt-5", Name: "gpt-5"}}},
		{"nothing there", chat, "/v1", map[string]string{"/v1/models": `{"object":"list","data":null}`}, []provider.Found{}},
		{"vLLM", chat, "/v1", map[string]string{
			"/v1/models": `{"data":[{"id":"Qwen/Qwen3-32B","owned_by":"vllm","max_model_len":40960}]}`,
		}, []provider.Found{{ID: "Qwen/Qwen3-32B", Name: "Qwen/Qwen3-32B", ContextWindow: 40960}}},
		{"OpenRouter", chat, "/api/v1", map[string]string{
			"/api/v1/models": `{"data":[
				{"id":"acme/big","name":"Acme: Big","context_length":200000,"architecture":{"input_modalities":["text","image"],"output_modalities":["text"]},
				 "pricing":{"prompt":"0.000003","completion":"0.000015","input_cache_read":"0.0000003","input_cache_write":"0.00000375"},
				 "top_provider":{"max_completion_tokens":64000},"supported_parameters":["tools","reasoning"]},
				{"id":"acme/small:free","pricing":{"prompt":"0","completion":"0"},"top_provider":{"max_completion_tokens":null}},
				{"id":"acme/auto","pricing":{"prompt":"-1","completion":"-1"}},
				{"id":"acme/painter","architecture":{"output_modalities":["image"]}}]}`,
		}, []provider.Found{
			{ID: "acme/big", Name: "Acme: Big", ContextWindow: 200000, MaxTokens: 64000, Reasoning: true, Input: images,
				Cost: &llm.Price{Input: 3, Output: 15, CacheRead: 0.3, CacheWrite: 3.75}},
			{ID: "acme/small:free", Name: "acme/small:free", Cost: &llm.Price{}},
			{ID: "acme/auto", Name: "acme/auto"},
		}},
		{"a gateway with tags", chat, "/v1", map[string]string{
			"/v1/models": `{"data":[{"id":"acme/big","name":"Big","type":"language","context_window":400000,"max_tokens":128000,"tags":["reasoning","tool-use"],
				"pricing":{"input":"0.00000125","output":"0.00001"}},{"id":"acme/vectors","type":"embedding"}]}`,
		}, []provider.Found{{ID: "acme/big", Name: "Big", ContextWindow: 400000, MaxTokens: 128000, Reasoning: true, Input: text,
			Cost: &llm.Price{Input: 1.25, Output: 10, CacheRead: -1, CacheWrite: -1}}}},
		{"a list alone, prices per million", chat, "/v1", map[string]string{
			"/v1/models": `[{"id":"acme/chat","type":"chat","display_name":"Chat","context_length":131072,"pricing":{"input":0.88,"output":0.9}},
				{"id":"acme/picture","type":"image"},{"id":"acme/rented","type":"chat","pricing":{"input":0,"output":0}}]`,
		}, []provider.Found{
			{ID: "acme/chat", Name: "Chat", ContextWindow: 131072, Cost: &llm.Price{Input: 0.88, Output: 0.9, CacheRead: -1, CacheWrite: -1}},
			{ID: "acme/rented", Name: "acme/rented"},
		}},
		{"Mistral", chat, "/v1", map[string]string{
			"/v1/models": `{"data":[{"id":"large","name":"Large","max_context_length":262144,"capabilities":{"completion_chat":true,"vision":true}},
				{"id":"ocr","capabilities":{"completion_chat":false}}]}`,
		}, []provider.Found{{ID: "large", Name: "Large", ContextWindow: 262144, Input: images}}},
		{"Anthropic", "anthropic-messages", "", map[string]string{
			"/v1/models?limit=1000": `{"data":[{"type":"model","id":"claude-x","display_name":"Claude X","max_input_tokens":1000000,"max_tokens":128000,
				"capabilities":{"image_input":{"supported":true},"thinking":{"supported":true}}}],"has_more":false}`,
		}, []provider.Found{{ID: "claude-x", Name: "Claude X", ContextWindow: 1000000, MaxTokens: 128000, Reasoning: true, Input: images}}},
		{"Anthropic with the version in the address", "anthropic-messages", "/anthropic/v1/", map[string]string{
			"/anthropic/v1/models?limit=1000": `{"data":[{"id":"m"}]}`,
		}, []provider.Found{{ID: "m", Name: "m"}}},
		{"Google", "google-generative-ai", "/v1beta", map[string]string{
			"/v1beta/models?pageSize=1000": `{"models":[{"name":"models/gemini-x","displayName":"Gemini X","inputTokenLimit":1048576,"outputTokenLimit":65536,
				"supportedGenerationMethods":["generateContent","countTokens"],"thinking":true},
				{"name":"models/vectors","supportedGenerationMethods":["embedContent"]},{"name":"models/bare"}]}`,
		}, []provider.Found{
			{ID: "gemini-x", Name: "Gemini X", ContextWindow: 1048576, MaxTokens: 65536, Reasoning: true},
			{ID: "bare", Name: "bare"},
		}},
		{"Ollama, whose windows are those of loaded models", chat, "/v1", map[string]string{
			"/v1/models": `{"data":[{"id":"hf.co/me/x","owned_by":"me"},{"id":"qwen3:8b","owned_by":"library"},{"id":"llama3:8b","owned_by":"library"}]}`,
			"/api/ps":    `{"models":[{"name":"llama3:8b","model":"llama3:8b","context_length":8192}]}`,
		}, []provider.Found{{ID: "hf.co/me/x", Name: "hf.co/me/x"}, {ID: "qwen3:8b", Name: "qwen3:8b"}, {ID: "llama3:8b", Name: "llama3:8b", ContextWindow: 8192}}},
		{"Ollama, of whose models each can do something else", chat, "/v1", map[string]string{
			"/v1/models":                     `{"data":[{"id":"qwen3:8b","owned_by":"library"},{"id":"llava:7b","owned_by":"library"},{"id":"small:1b","owned_by":"library"},{"id":"vectors","owned_by":"library"},{"id":"older","owned_by":"library"},{"id":"lost","owned_by":"library"}]}`,
			`/api/show {"model":"qwen3:8b"}`: `{"license":"x","parameters":"temperature 0.6\nstop \"a b\"","model_info":{"general.architecture":"qwen3","general.parameter_count":1,"qwen3.context_length":40960},"capabilities":["completion","tools","thinking"]}`,
			`/api/show {"model":"llava:7b"}`: `{"parameters":"num_ctx                        8192","model_info":{"general.architecture":"llama","llama.context_length":32768},"capabilities":["completion","vision"]}`,
			`/api/show {"model":"small:1b"}`: `{"model_info":{"general.architecture":"llama","llama.context_length":32768},"capabilities":["completion"]}`,
			`/api/show {"model":"vectors"}`:  `{"model_info":{"general.architecture":"bert","bert.context_length":512},"capabilities":["embedding"]}`,
			`/api/show {"model":"older"}`:    `{"parameters":"num_ctx many","model_info":{"general.architecture":"llama","llama.context_length":2048}}`,
			`/api/show {"model":"lost"}`:     `[]`,
			"/api/ps":                        `{"models":[{"name":"small:1b","model":"small:1b","context_length":4096}]}`,
		}, []provider.Found{
			{ID: "qwen3:8b", Name: "qwen3:8b", ContextWindow: 40960, Reasoning: true, Input: text},
			{ID: "llava:7b", Name: "llava:7b", ContextWindow: 8192, NoReasoning: true, NoTools: true, Input: images},
			{ID: "small:1b", Name: "small:1b", ContextWindow: 4096, NoReasoning: true, NoTools: true, Input: text},
			{ID: "older", Name: "older", ContextWindow: 2048},
			{ID: "lost", Name: "lost"},
		}},
		{"an Ollama without the usual list", chat, "/v1", map[string]string{
			"/api/tags": `{"models":[{"name":"llama3:8b","model":"llama3:8b","size":1,"details":{"family":"llama"}}]}`,
		}, []provider.Found{{ID: "llama3:8b", Name: "llama3:8b"}}},
		{"llama.cpp, whose window is that of its start", chat, "/v1", map[string]string{
			"/v1/models": `{"models":[{"name":"x","model":"x"}],"object":"list","data":[{"id":"qwen.gguf","owned_by":"llamacpp","meta":{"n_ctx_train":131072}}]}`,
			"/props":     `{"default_generation_settings":{"n_ctx":16384}}`,
		}, []provider.Found{{ID: "qwen.gguf", Name: "qwen.gguf", ContextWindow: 16384}}},
		{"LM Studio, whose windows are those of loaded models", chat, "/v1", map[string]string{
			"/v1/models": `{"data":[{"id":"a","owned_by":"organization_owner"},{"id":"b","owned_by":"organization_owner"},{"id":"nomic","owned_by":"organization_owner"}]}`,
			"/api/v0/models": `{"data":[{"id":"a","type":"llm","state":"loaded","max_context_length":32768,"loaded_context_length":4096},
				{"id":"b","type":"vlm","state":"not-loaded","max_context_length":32768},{"id":"nomic","type":"embeddings"}]}`,
		}, []provider.Found{{ID: "a", Name: "a", ContextWindow: 4096}, {ID: "b", Name: "b"}}},
		{"a server of that kind that tells no more", chat, "/v1", map[string]string{
			"/v1/models": `{"data":[{"id":"a","owned_by":"llamacpp"}]}`,
		}, []provider.Found{{ID: "a", Name: "a"}}},
		{"fields of other types", chat, "/v1", map[string]string{
			"/v1/models": `{"data":[7,null,"x",{"id":7},{"id":"a","name":{},"context_length":"many","pricing":[],"type":[],"capabilities":["x"],"architecture":3,"tags":{}},{"id":"a b"},{"id":"a\u0007"}]}`,
		}, []provider.Found{{ID: "a", Name: "a", Input: text}}},
		{"a base with a query", chat, "/v1?version=2", map[string]string{"/v1/models?version=2": `{"data":[{"id":"a"}]}`}, []provider.Found{{ID: "a", Name: "a"}}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := listing(t, c.answers)
			found, err := discover(provider.Server{Provider: "acme", Listing: listingOf(c.api), BaseURL: s.URL + c.base})
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(found, c.want) {
				t.Errorf("found %s\nwant  %s", show(found), show(c.want))
			}
		})
	}
}

func show(found []provider.Found) string {
	var b strings.Builder
	for _, f := range found {
		fmt.Fprintf(&b, "\n  %+v cost %+v", f, f.Cost)
	}
	return b.String()
}

func TestTheKeyIsSentAsTheAPIHasIt(t *testing.T) {
	held := map[string]bool{}
	for _, c := range []struct {
		api, auth, key string
		name, want     string
	}{
		{"openai-completions", "", secret, "Authorization", "Bearer " + secret},
		{"openai-responses", "", secret, "Authorization", "Bearer " + secret},
		{"openai-completions", "api-key", secret, "Api-Key", secret},
		{"anthropic-messages", "", secret, "X-Api-Key", secret},
		{"anthropic-messages", "", "sk-ant-oat01-abc", "Authorization", "Bearer sk-ant-oat01-abc"},
		{"anthropic-messages", "", secret, "Anthropic-Version", "2023-06-01"},
		{"google-generative-ai", "", secret, "X-Goog-Api-Key", secret},
		{"openai-completions", "", "", "Authorization", ""},
		{"openai-completions", "", secret, "X-Team", "blue"},
	} {
		var got http.Header
		s := serve(t, func(w http.ResponseWriter, r *http.Request) {
			got = r.Header.Clone()
			io.WriteString(w, `{"data":[]}`)
		})
		_, err := discover(provider.Server{Provider: "acme", Listing: listingOf(c.api), BaseURL: s.URL, Key: c.key, Auth: c.auth, Headers: map[string]string{"X-Team": "blue"}})
		if err != nil || got.Get(c.name) != c.want {
			t.Errorf("%s %s: %s is %q, want %q (%v)", c.api, c.auth, c.name, got.Get(c.name), c.want, err)
		}
		held[c.api] = true
	}
	for _, api := range apis() {
		if !held[api] {
			t.Errorf("how a key is sent over %s is not held", api)
		}
	}
}

func TestAListThatCannotBeHadSaysWhatToDo(t *testing.T) {
	cases := []struct {
		name, message, hint string
		handler             http.HandlerFunc
	}{
		{"no such address", "404", "name its models there", fixed(404, isJSON, `{"error":{"message":"not found"}}`)},
		{"bad key", "401", "check api_key of [providers.acme]", fixed(401, isJSON, `{"error":{"message":"bad key `+secret+`"}}`)},
		{"key without the right", "403", "the key may not list models", fixed(403, isJSON, `{"error":{"message":"no"}}`)},
		{"broken server", "500", "ask again", fixed(500, nil, "")},
		{"a web page", "web page instead of a list of models: Sign in", "another service may be answering there", fixed(200, isHTML, `<html><title>Sign in</title></html>`)},
		{"something else", "there is no list in it", "another service may be answering there", fixed(200, isJSON, `{"status":"ok"}`)},
		{"no JSON", "cannot be read", "another service may be answering there", fixed(200, nil, "Ollama is running")},
		{"an error that calls itself good", "out of order", "", fixed(200, isJSON, `{"error":{"message":"out of order"}}`)},
		{"no end", "longer than 64 MiB", "base_url", func(w http.ResponseWriter, r *http.Request) {
			piece := bytes.Repeat([]byte(" "), 1<<20)
			for range 65 {
				if _, err := w.Write(piece); err != nil {
					return
				}
			}
		}},
		{"another host", "302", "the server sends us to", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://elsewhere.invalid/models", http.StatusFound)
		}},
		{"cut off", "", "connection was lost", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "100")
			io.WriteString(w, `{"data":[`)
		}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if raceEnabled && c.name == "no end" {
				t.Skip("64 MiB take as long as a list may, followed byte by byte")
			}
			s := serve(t, c.handler)
			found, err := discover(provider.Server{Provider: "acme", Listing: listingOf("openai-completions"), BaseURL: s.URL, Key: secret})
			e := providerError(t, err)
			if found != nil || !strings.Contains(e.Error(), c.message) || !strings.Contains(e.NextStep, c.hint) {
				t.Errorf("found %v\nerror %v\nhint  %s\nwant  %q, %q", found, e, e.NextStep, c.message, c.hint)
			}
			if strings.Contains(e.Error()+e.NextStep, secret) {
				t.Errorf("the key stands in %v (%s)", e, e.NextStep)
			}
		})
	}
}

func TestAServerThatIsNotRunningIsAskedFor(t *testing.T) {
	s := httptest.NewServer(http.NotFoundHandler())
	base := s.URL
	s.Close()
	_, err := discover(provider.Server{Provider: "ollama", Listing: listingOf("openai-completions"), BaseURL: base + "/v1"})
	if e := providerError(t, err); !strings.Contains(e.NextStep, "is the server running?") {
		t.Errorf("hint is %q", e.NextStep)
	}
}

// roundTrip is a network of one function.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// silent never answers.
func silent(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

func TestOfAVeryLongListTheBeginningIsRead(t *testing.T) {
	if raceEnabled {
		t.Skip("one thing is done at a time, and .ci/run has it without the race detector")
	}
	var list strings.Builder
	for i := range 300_000 {
		fmt.Fprintf(&list, `{"id":"m%d","object":"model","owned_by":"somebody","context_length":8192},`, i)
	}
	network := roundTrip(func(*http.Request) (*http.Response, error) { return good(`{"data":[` + list.String() + `1,{}]}`), nil })
	found, err := provider.Discover(context.Background(), &http.Client{Transport: network},
		provider.Server{Provider: "acme", Listing: listingOf("openai-completions"), BaseURL: "http://127.0.0.1:1/v1"})
	long, ok := errors.AsType[*llm.LongList](err)
	if !ok || *long != (llm.LongList{Provider: "acme", Read: 5000, All: 300_001}) {
		t.Errorf("%v", err)
	}
	if len(found) != 5000 || found[4999].ID != "m4999" {
		t.Errorf("%d models", len(found))
	}
}

func TestAServerThatDoesNotAnswerIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		_, err := provider.Discover(context.Background(), &http.Client{Transport: roundTrip(silent)},
			provider.Server{Provider: "acme", Listing: listingOf("openai-completions"), BaseURL: "http://127.0.0.1:1/v1"})
		if e := providerError(t, err); !strings.Contains(e.Message, "no list of models within 5s") || !strings.Contains(e.NextStep, "base_url") {
			t.Errorf("error %v, hint %s", e, e.NextStep)
		}
		if took := time.Since(began); took != 5*time.Second {
			t.Errorf("it took %s", took)
		}
	})
}

func TestTheListStandsWhenWhatIsMoreTakesTooLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := roundTrip(func(r *http.Request) (*http.Response, error) {
			if r.URL.Path != "/v1/models" {
				return silent(r)
			}
			return good(`{"data":[{"id":"a","owned_by":"library"}]}`), nil
		})
		found, err := provider.Discover(context.Background(), &http.Client{Transport: network},
			provider.Server{Provider: "ollama", Listing: listingOf("openai-completions"), BaseURL: "http://127.0.0.1:1/v1"})
		if err != nil || len(found) != 1 || found[0].ID != "a" {
			t.Errorf("found %v, %v", found, err)
		}
	})
}

func good(body string) *http.Response {
	return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body))}
}

func TestDiscoveryIsCancelled(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	why := errors.New("Esc was pressed")
	network := roundTrip(func(r *http.Request) (*http.Response, error) {
		cancel(why)
		return silent(r)
	})
	_, err := provider.Discover(ctx, &http.Client{Transport: network}, provider.Server{Provider: "acme", BaseURL: "http://127.0.0.1:1"})
	if !errors.Is(err, context.Canceled) || !errors.Is(err, why) {
		t.Errorf("error is %v", err)
	}
}

func TestWhatAServerToldFillsAModel(t *testing.T) {
	m := &llm.Model{ID: "x", Name: "x", ContextWindow: 10, MaxTokens: 20, Reasoning: true, Input: []string{"text", "image"}, Cost: &llm.Price{Input: 1}}
	(&provider.Found{ID: "x", Name: "Ex"}).Fill(m)
	if m.Name != "Ex" || m.ContextWindow != 10 || m.MaxTokens != 20 || !m.Reasoning || len(m.Input) != 2 || m.Cost.Input != 1 {
		t.Errorf("what was not told changed: %+v", *m)
	}
	told := &provider.Found{ID: "x", Name: "x", ContextWindow: 1, MaxTokens: 2, Input: []string{"text"}, Cost: &llm.Price{Input: 3}}
	told.Fill(m)
	m.Input[0], m.Cost.Output = "y", 4
	if !m.Reasoning || m.Compat != nil {
		t.Errorf("what was not told changed: %+v", *m)
	}
	if m.ContextWindow != 1 || m.MaxTokens != 2 || len(m.Input) != 1 || m.Cost.Input != 3 || told.Input[0] != "text" || told.Cost.Output != 0 {
		t.Errorf("what was told is not in %+v, or is shared with it", *m)
	}
}

func TestWhatAModelCannotDoIsFilledIn(t *testing.T) {
	settings := map[string]any{"strict": true}
	m := &llm.Model{ID: "x", Reasoning: true, MayThink: true, Compat: settings}
	cannot := &provider.Found{ID: "x", Name: "x", NoReasoning: true, NoTools: true}
	if cannot.Fill(m); m.Reasoning || m.MayThink || m.Compat["tools"] != false || m.Compat["strict"] != true || len(settings) != 1 {
		t.Errorf("%+v, and the settings are %v", *m, settings)
	}
	m = &llm.Model{ID: "x", Compat: map[string]any{"tools": true}}
	if cannot.Fill(m); m.Compat["tools"] != true {
		t.Error("what the settings say of tools does not hold")
	}
}

func FuzzDiscover(f *testing.F) {
	for _, body := range []string{
		`{"data":[{"id":"a","owned_by":"library","context_length":1e300,"pricing":{"prompt":"1e300","completion":"NaN"}}]}`,
		`[{"id":"a","name":"b","type":"chat","pricing":{"input":-1,"output":"Inf"}}]`,
		`{"models":[{"name":"models/a","supportedGenerationMethods":[{}],"thinking":1}],"data":{}}`,
		`{"data":[{"id":"a","tags":[["vision"]],"capabilities":{"thinking":{"supported":[]}}}]}`,
		`{"data":[{"id":"a","owned_by":"library"}],"capabilities":["completion"],"parameters":"num_ctx -1\nnum_ctx 1e300","model_info":{"general.architecture":7,".context_length":1e300}}`,
		`null`, `{"data":null}`, "\xff", `{"data":[{"id":"\ud800"}]}`, `{"error":{"message":"no"}}`, `<html>`,
	} {
		f.Add([]byte(body), uint8(0))
	}
	f.Fuzz(func(t *testing.T, body []byte, api uint8) {
		network := roundTrip(func(*http.Request) (*http.Response, error) { return good(string(body)), nil })
		found, err := provider.Discover(context.Background(), &http.Client{Transport: network},
			provider.Server{Provider: "acme", Listing: wire.APIs()[int(api)%len(wire.APIs())].Listing, BaseURL: "http://127.0.0.1:1/v1"})
		if err != nil {
			if providerError(t, err); found != nil {
				t.Errorf("%v and an error", found)
			}
			return
		}
		ids := map[string]bool{}
		for _, m := range found {
			if m.ID == "" || ids[m.ID] || m.Name == "" || !utf8.ValidString(m.ID+m.Name) || strings.ContainsAny(m.ID+m.Name, "\n\t\x1b\x00") {
				t.Errorf("model %q is called %q", m.ID, m.Name)
			}
			ids[m.ID] = true
			if m.ContextWindow < 0 || m.MaxTokens < 0 || m.Input != nil && m.Input[0] != "text" {
				t.Errorf("%+v", m)
			}
			if p := m.Cost; p != nil && slices.ContainsFunc([]float64{p.Input, p.Output}, func(v float64) bool { return !(v >= 0 && v < 1e6) }) {
				t.Errorf("%s costs %+v", m.ID, *p)
			}
		}
	})
}
