// Package wiretest tests clients of wire APIs against recorded traffic and strict
// servers. It is used by tests only.
//
//   - [All] and [Folders] read the recordings; [Folder.Ask] serves one to a client,
//     [Folder.Check] and [Folder.Judge] compare what it decodes with what is
//     expected (check.go), and [Folder.Served], [Folder.Bytewise], [Folder.Pieces],
//     [Folder.Halves]
//     and [Folder.Events] cut the recording up (cut.go);
//   - [Carried] takes the messages of a request apart, the same way for all APIs, so
//     that requests can be compared (carried.go);
//   - [Strict] starts a server that refuses what the check of an API finds wrong in a
//     request: [CheckMessages], [CheckChat] and its stricter copies,
//     [CheckResponses] … (strict.go and beside it);
//   - [CheckBound] holds the rule of servers that bind thoughts to what stands before
//     them, and signs the thoughts of an answer (bound.go);
//   - [Extends] holds that a longer conversation begins with a shorter one, byte for
//     byte, as provider caches want it.
package wiretest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pi/agent/llm"
	"pi/session/message"
)

// Folder is one recorded exchange.
type Folder struct {
	ID       string            `json:"id"`
	Provider string            `json:"provider"`
	API      string            `json:"api"`
	Model    string            `json:"model"`
	Turn     int               `json:"turn"`  // its place in a conversation, from 1
	Turns    int               `json:"turns"` // how many the conversation has
	Status   int               `json:"status"`
	Headers  map[string]string `json:"headers"`
	Response string            `json:"response"`
	Expected Expected          `json:"expected"`
	Source   struct {
		Path string `json:"path"` // the same for all turns of a conversation
	} `json:"source"`
	Body    []byte `json:"-"`
	Request []byte `json:"-"` // what was sent; nil where nobody kept it
}

// Expected is what a correct client decodes.
type Expected struct {
	Text      string `json:"text"`
	Reasoning string `json:"reasoning"`
	Refusal   string `json:"refusal"`
	ToolCalls []struct {
		ID           *string         `json:"id"`
		Name         string          `json:"name"`
		Arguments    json.RawMessage `json:"arguments"`
		ArgumentsRaw string          `json:"arguments_raw"`
	} `json:"tool_calls"`
	StopReasonRaw string `json:"stop_reason_raw"`
	StopReason    string `json:"stop_reason"`
	Usage         *struct {
		Prompt     int  `json:"prompt"`
		CacheRead  int  `json:"cache_read"`
		CacheWrite int  `json:"cache_write"`
		Completion int  `json:"completion"`
		Reasoning  *int `json:"reasoning"`
	} `json:"usage"`
	UsageRaw struct {
		Total int `json:"total_tokens"`
	} `json:"usage_raw"`
	Error *struct {
		Type    string `json:"type"`
		Code    any    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
	Signatures int `json:"signatures"`
	Redacted   int `json:"redacted"`
	Events     int `json:"events"`

	// of an HTTP error
	Status  int    `json:"status"`
	Type    string `json:"type"`
	Code    any    `json:"code"`
	Message string `json:"message"`
}

// Folders returns the recordings of an API. It skips the test where there are
// none.
func Folders(t testing.TB, api string) []Folder {
	t.Helper()
	return slices.DeleteFunc(All(t), func(f Folder) bool { return f.API != api })
}

// Missing is where the recordings would be, or "" if they are there.
func Missing(t testing.TB) string {
	t.Helper()
	root := recordings(t)
	if _, err := os.Stat(filepath.Join(root, "index.json")); !errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	return root
}

func recordings(t testing.TB) string {
	t.Helper()
	return filepath.Join(filepath.Dir(moduleRoot(t)), "shared", "fixtures", "wire")
}

// All returns all recordings, in the order of their index, which has to name all
// that are there. It skips the test where there are none.
func All(t testing.TB) []Folder {
	t.Helper()
	if root := Missing(t); root != "" {
		t.Skipf("no recorded traffic in %s", root)
	}
	root := recordings(t)
	index, err := os.ReadFile(filepath.Join(root, "index.json"))
	var folders []Folder
	if err == nil {
		err = json.Unmarshal(index, &folders)
	}
	if found, _ := filepath.Glob(filepath.Join(root, "*", "*", "meta.json")); err == nil && len(found) != len(folders) {
		err = fmt.Errorf("the index names %d, and there are %d", len(folders), len(found))
	}
	for i := range folders {
		if err == nil {
			err = folders[i].read(filepath.Join(root, filepath.FromSlash(folders[i].ID)))
		}
	}
	if err != nil {
		t.Fatalf("read the recorded traffic in %s: %v", root, err)
	}
	return folders
}

// read fills in a recording from its files. The index has told already which one it is,
// and has to agree.
func (f *Folder) read(dir string) error {
	named := *f
	meta, err := os.ReadFile(filepath.Join(dir, "meta.json"))
	if err != nil {
		return err
	}
	if err := json.Unmarshal(meta, f); err != nil {
		return fmt.Errorf("%s: %w", dir, err)
	}
	if f.ID != named.ID || f.API != named.API || f.Provider != named.Provider || f.Status != named.Status || f.Turns != named.Turns {
		return fmt.Errorf("%s: the index says otherwise", dir)
	}
	if f.Body, err = os.ReadFile(filepath.Join(dir, f.Response)); err != nil {
		return err
	}
	f.Request, err = os.ReadFile(filepath.Join(dir, "request.json"))
	if errors.Is(err, fs.ErrNotExist) {
		f.Request, err = nil, nil
	}
	return err
}

// moduleRoot is the folder of go.mod.
func moduleRoot(t testing.TB) string {
	dir, err := os.Getwd()
	for err == nil {
		if _, statErr := os.Stat(filepath.Join(dir, "go.mod")); statErr == nil {
			return dir
		}
		if filepath.Dir(dir) == dir {
			err = os.ErrNotExist
		}
		dir = filepath.Dir(dir)
	}
	t.Fatalf("find the module: %v", err)
	return ""
}

// Answer is what a client made of a response.
type Answer struct {
	Content []message.Block
	Broken  map[string]string
	Stop    llm.Stop
	Usage   *message.Usage
	Err     error
}

// Collect reads a stream to its end, or to its first error.
func Collect(stream iter.Seq2[llm.Delta, error]) Answer {
	var a llm.Assembly
	var err error
	for d, e := range stream {
		if e != nil {
			err = e
			break
		}
		a.Add(d)
	}
	content, broken := a.Content()
	return Answer{content, broken, a.Stop(), a.Usage(), err}
}

// String shows everything but the ids of calls, which the client may have made up, so
// that answers can be compared.
func (a Answer) String() string {
	usage := "no usage"
	if a.Usage != nil {
		usage = fmt.Sprintf("%+v", *a.Usage)
	}
	blocks := ""
	for _, b := range a.Content {
		blocks += fmt.Sprintf("\n%s %q sig %q %t call %q %s", b.Type, b.Text, b.Signature, b.Redacted, b.Name, b.Arguments)
	}
	broken := slices.Sorted(maps.Values(a.Broken))
	return fmt.Sprintf("stop %+v, %s, broken %q, error %v%s", a.Stop, usage, broken, a.Err, blocks)
}

// Text joins the text of all blocks of a kind.
func (a Answer) Text(kind message.BlockType) string {
	var s strings.Builder
	for _, b := range a.Content {
		if b.Type == kind {
			s.WriteString(b.Text)
		}
	}
	return s.String()
}

// Calls returns the tool calls.
func (a Answer) Calls() []message.Block { return (&message.Message{Content: a.Content}).ToolCalls() }

// Client returns an HTTP client that reaches no server: every request gets the status
// and headers of the recording, with the body that the function returns.
func (f *Folder) Client(body func() io.Reader) *http.Client {
	return &http.Client{Transport: roundTrip(func(*http.Request) (*http.Response, error) {
		h := http.Header{}
		for name, value := range f.Headers {
			h.Set(name, value)
		}
		return &http.Response{StatusCode: f.Status, Header: h, Body: io.NopCloser(body()), ProtoMajor: 1, ProtoMinor: 1}, nil
	})}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (r roundTrip) RoundTrip(q *http.Request) (*http.Response, error) { return r(q) }

// APIName is what pi calls the API that recordings call this.
func APIName(recorded string) string {
	switch recorded {
	case "openai-chat":
		return llm.OpenAICompletions
	case "google-generative":
		return llm.GoogleGenerativeAI
	}
	return recorded
}

// Ask sends a small request to the client under test.
func (f *Folder) Ask(p llm.Provider, baseURL string) Answer {
	return Collect(p.Stream(context.Background(), f.hello(baseURL)))
}

func (f *Folder) hello(baseURL string) *llm.Request {
	return &llm.Request{
		Model:    &llm.Model{Provider: f.Provider, ID: "m", API: APIName(f.API), BaseURL: baseURL, MaxTokens: 1000},
		Messages: []*message.Message{{Role: message.RoleUser, Content: []message.Block{message.TextBlock("hello")}}},
		APIKey:   "test-key-0123456789",
	}
}
