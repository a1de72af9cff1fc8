package cli

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"syscall"
	"testing"

	"pi/agent/llm"
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
