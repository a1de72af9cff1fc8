package wiretest

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"pi/agent"
	"pi/session"
)

// Check compares an answer with what the recording is expected to give.
func (f *Folder) Check(t *testing.T, a Answer) {
	t.Helper()
	if f.Status != 200 {
		f.checkHTTPError(t, a)
		return
	}
	e := &f.Expected
	equal(t, "text", a.Text(session.BlockText), e.Text+e.Refusal)
	equal(t, "reasoning", a.Text(session.BlockThinking), e.Reasoning)
	f.checkCalls(t, a)
	f.checkStop(t, a)
	f.checkUsage(t, a)
	signatures, redacted := opaque(a)
	equal(t, "signatures", signatures, e.Signatures)
	equal(t, "redacted", redacted, e.Redacted)
}

func equal(t *testing.T, what string, got, want any) {
	t.Helper()
	if got != want {
		t.Errorf("%s is %#v; want %#v", what, got, want)
	}
}

func (f *Folder) checkHTTPError(t *testing.T, a Answer) {
	t.Helper()
	var e *agent.ProviderError
	if !errors.As(a.Err, &e) {
		t.Fatalf("error is %v; want a ProviderError", a.Err)
	}
	equal(t, "status", e.Status, f.Status)
	equal(t, "type", e.Type, f.Expected.Type)
	if f.Expected.Code != nil {
		equal(t, "code", e.Code, fmt.Sprint(f.Expected.Code))
	}
	if !strings.HasPrefix(e.Message, f.Expected.Message) && !strings.Contains(f.Expected.Message, "<title>"+e.Message) {
		t.Errorf("message is %q; want %q", e.Message, f.Expected.Message)
	}
}

func (f *Folder) checkCalls(t *testing.T, a Answer) {
	t.Helper()
	calls := a.Calls()
	if len(calls) != len(f.Expected.ToolCalls) {
		t.Errorf("%d calls; want %d", len(calls), len(f.Expected.ToolCalls))
		return
	}
	for i, want := range f.Expected.ToolCalls {
		if want.ID != nil {
			equal(t, "id", f.callID(calls[i].ID), *want.ID)
		} else if calls[i].ID == "" {
			t.Error("a call without an id")
		}
		equal(t, "name", calls[i].Name, want.Name)
		if string(want.Arguments) == "null" {
			equal(t, "raw arguments", a.Broken[calls[i].ID], want.ArgumentsRaw)
			continue
		}
		var x, y any
		if json.Unmarshal(calls[i].Arguments, &x) != nil || json.Unmarshal(want.Arguments, &y) != nil || !reflect.DeepEqual(x, y) {
			t.Errorf("arguments are %s; want %s", calls[i].Arguments, want.Arguments)
		}
		if raw, broken := a.Broken[calls[i].ID]; broken {
			t.Errorf("arguments %q count as broken", raw)
		}
	}
}

// callID leaves out what belongs to the item of a call, not to the call.
func (f *Folder) callID(id string) string {
	if f.API == "openai-responses" {
		id, _, _ = strings.Cut(id, "|")
	}
	return id
}

var stops = map[string]session.StopReason{
	"stop": session.StopEnd, "length": session.StopLength, "tool_use": session.StopToolUse,
	"refusal": agent.StopRefusal, "pause": agent.StopPause,
}

func (f *Folder) checkStop(t *testing.T, a Answer) {
	t.Helper()
	if f.Expected.StopReason != "error" {
		if a.Err != nil {
			t.Errorf("error: %v", a.Err)
		}
		equal(t, "stop", a.Stop.Reason, stops[f.Expected.StopReason])
		equal(t, "raw stop", a.Stop.Raw, f.Expected.StopReasonRaw)
		return
	}
	var e *agent.ProviderError
	if !errors.As(a.Err, &e) {
		t.Fatalf("error is %v; want a ProviderError", a.Err)
	}
	want := f.Expected.Error
	if want.Message == "stream ended early" {
		if !e.Retryable || e.Hint == "" {
			t.Errorf("a cut stream is %+v; want it retryable with a hint", e)
		}
		return
	}
	if want.Type != "" {
		equal(t, "error type", e.Type, want.Type)
	}
	if want.Code != nil {
		equal(t, "error code", e.Code, fmt.Sprint(want.Code))
	}
	if !strings.HasPrefix(e.Message, want.Message) {
		t.Errorf("error is %q; want %q", e.Message, want.Message)
	}
}

func (f *Folder) checkUsage(t *testing.T, a Answer) {
	t.Helper()
	want, u := f.Expected.Usage, a.Usage
	if want == nil || u == nil {
		equal(t, "usage known", u != nil, want != nil)
		return
	}
	// One server counts more cached tokens than tokens.
	equal(t, "prompt", u.Input+u.CacheRead+u.CacheWrite, max(want.Prompt, want.CacheRead+want.CacheWrite))
	equal(t, "cache read", u.CacheRead, want.CacheRead)
	equal(t, "cache write", u.CacheWrite, want.CacheWrite)
	equal(t, "total", u.TotalTokens, u.Input+u.Output+u.CacheRead+u.CacheWrite)
	completion := want.Completion
	if f.Provider == "xai" && f.API == "openai-chat" && want.Reasoning != nil {
		completion += *want.Reasoning // there it is not part of the completion
	}
	equal(t, "output", u.Output, completion)
}

// opaque counts what has to survive a round trip. A signature that is a list or
// an object holds the items of a server that sends them so; a bare word is a
// field name.
func opaque(a Answer) (signatures, redacted int) {
	for _, b := range a.Content {
		var items []struct{ Signature, Data string }
		var item struct {
			Encrypted string `json:"encrypted_content"`
		}
		switch {
		case b.Redacted:
			redacted++
		case b.Type != session.BlockThinking || b.Signature == "":
		case json.Unmarshal([]byte(b.Signature), &items) == nil:
			for _, item := range items {
				if item.Signature != "" {
					signatures++
				}
				if item.Data != "" {
					redacted++
				}
			}
		case json.Unmarshal([]byte(b.Signature), &item) == nil:
			if item.Encrypted != "" {
				signatures++
			}
		case !strings.HasPrefix(b.Signature, "reasoning") && b.Signature != "content":
			signatures++
		}
	}
	return signatures, redacted
}
