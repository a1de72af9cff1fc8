package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"pi/agent/llm"
	"pi/agent/provider/catalogue"
)

func TestWordsFindModels(t *testing.T) {
	all := []listedModel{{Provider: "anthropic", ID: "claude-sonnet-4-6", Name: "Claude Sonnet 4.6"}, {Provider: "openrouter", ID: "anthropic/claude-opus-4", Name: "Opus"}, {Provider: "openai", ID: "gpt-5"}}
	for words, want := range map[string]int{"": 3, "claude": 2, "CLAUDE opus": 1, "4.6": 1, "gpt5": 1, "clson": 1, "anthropic/": 2, "x": 0, "gpt claude": 0} {
		if got := search(all, []string{words}); len(got) != want || got == nil && want == 0 {
			t.Errorf("%q finds %v", words, got)
		}
	}
}

func TestSilentPortsOfThisMachineAreOneLine(t *testing.T) {
	failed := func(provider, address, hint string) error {
		cause := &net.OpError{Op: "dial", Err: fmt.Errorf("dial tcp %s: %w", address, syscall.ECONNREFUSED)}
		return fmt.Errorf("ask %s for its models: %w", provider, &llm.ProviderError{Provider: provider, Message: cause.Error(), NextStep: hint, Err: cause})
	}
	got := unanswered([]error{
		failed("ollama", "127.0.0.1:11434", "is it running?"), failed("lmstudio", "127.0.0.1:1234", ""), failed("ollama", "10.0.0.1:99", "is it running?"),
		failed("mine", "127.0.0.1:8080", ""), errors.New("ask x for its models: no"),
	})
	want := []string{
		"ask ollama for its models: ollama: dial: dial tcp 10.0.0.1:99: connection refused", "    is it running?",
		"ask mine for its models: mine: dial: dial tcp 127.0.0.1:8080: connection refused", "ask x for its models: no",
		"nothing answers at the usual ports of this machine: lmstudio :1234, ollama :11434",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if got := unanswered(nil); len(got) != 0 {
		t.Errorf("%q", got)
	}
}

func TestAnOldListIsSaid(t *testing.T) {
	made := time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC)
	for days, want := range map[int]string{-3: "", 60: "", 61: "the list of models is 61 days old; pi models update fetches a newer one"} {
		if got := strings.Join(ageOf(made, made.AddDate(0, 0, days).Add(time.Hour)), "\n"); got != want {
			t.Errorf("after %d days: %q", days, got)
		}
	}
}

func TestAListOfModelsIsFetched(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a redirection to another host was followed") }))
	defer elsewhere.Close()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/list":
			_, _ = io.WriteString(w, "[]")
		case "/long":
			_, _ = w.Write(bytes.Repeat([]byte(" "), catalogue.MaxList+100))
		case "/away":
			http.Redirect(w, r, elsewhere.URL, http.StatusFound)
		default:
			http.NotFound(w, r)
		}
	}))
	defer s.Close()
	file := filepath.Join(t.TempDir(), "list.json")
	if err := os.WriteFile(file, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ ref, data, problem string }{
		{s.URL + "/list", "[]", ""},
		{file, "{}", ""},
		{s.URL + "/none", "", "404"},
		{s.URL + "/away", "", "302 Found and points to " + elsewhere.URL},
		{"http://192.0.2.1/list", "", "open line"},
		{file + "x", "", "file or an address"},
		{"ftp://example.org/x", "", "file or an address"},
		{filepath.Dir(file), "", "not a regular file"},
	} {
		data, _, err := getList(t.Context(), c.ref)
		if string(data) != c.data || (err == nil) != (c.problem == "") || err != nil && !strings.Contains(err.Error(), c.problem) {
			t.Errorf("%s: %q, %v; want %q, %q", c.ref, data, err, c.data, c.problem)
		}
	}
	if data, _, err := getList(t.Context(), s.URL+"/long"); err != nil || len(data) != catalogue.MaxList+1 {
		t.Errorf("of a list that does not end %d bytes are read, %v", len(data), err)
	}
}
