package wiretest

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"pi/agent/llm"
	"pi/session/message"
)

// Check compares an answer with what the recording is expected to give.
func (f *Folder) Check(t *testing.T, a Answer) {
	t.Helper()
	misses, _ := f.Judge(a)
	for _, miss := range misses {
		t.Error(miss)
	}
}

// Judge compares an answer with what the recording is expected to give. It lists
// where it is something else, and by which rules that is as it should be.
//
// Not compared is what a session does not keep: the server's name of the model,
// how many of the output tokens were reasoning, and what the provider's own tools
// did, except that none of it may show up as text or as a call.
func (f *Folder) Judge(a Answer) (misses, rules []string) {
	c := checker{Folder: f, answer: a}
	if f.Status != 200 {
		c.httpError()
		return c.misses, c.rules
	}
	e := &f.Expected
	c.rule(e.Refusal != "", "a refusal is what the model says, so it is text")
	c.equal("text", a.Text(message.BlockText), e.Text+e.Refusal)
	c.equal("reasoning", a.Text(message.BlockThinking), e.Reasoning)
	c.calls()
	c.stop()
	c.usage()
	signatures, redacted := c.opaque(a)
	c.equal("signatures", signatures, e.Signatures)
	c.equal("redacted", redacted, e.Redacted)
	return c.misses, c.rules
}

// checker collects what is wrong with an answer to a recording.
type checker struct {
	*Folder
	answer Answer
	misses []string
	rules  []string
}

// rule notes that an expectation is not taken literally, and by which rule, if the rule
// holds for this recording. It returns whether it does.
func (c *checker) rule(holds bool, rule string) bool {
	if holds {
		c.rules = append(c.rules, rule)
	}
	return holds
}

func (c *checker) miss(format string, args ...any) {
	c.misses = append(c.misses, fmt.Sprintf(format, args...))
}

func (c *checker) equal(what string, got, want any) {
	if got != want {
		c.miss("%s is %#v; want %#v", what, got, want)
	}
}

// httpError compares the error that an answer with another status than 200 became with
// the expected one.
func (c *checker) httpError() {
	var e *llm.ProviderError
	if !errors.As(c.answer.Err, &e) {
		c.miss("error is %v; want a ProviderError", c.answer.Err)
		return
	}
	want := &c.Expected
	c.equal("status", e.Status, c.Status)
	c.equal("type", e.Type, want.Type)
	if want.Code != nil {
		c.equal("code", e.Code, fmt.Sprint(want.Code))
	}
	switch {
	case e.Message == want.Message:
	case c.rule(strings.HasPrefix(e.Message, want.Message+": "), "a gateway that passes on an error says both its own and the other"):
	case c.rule(strings.Contains(want.Message, "<title>"+e.Message+"</title>"), "of a web page the title is said"):
	default:
		c.miss("message is %q; want %q", e.Message, want.Message)
	}
}

// calls compares the tool calls, in their order: ids, names and arguments.
func (c *checker) calls() {
	calls := c.answer.Calls()
	if len(calls) != len(c.Expected.ToolCalls) {
		c.miss("%d calls; want %d", len(calls), len(c.Expected.ToolCalls))
		return
	}
	seen := map[string]bool{"": true}
	for i, want := range c.Expected.ToolCalls {
		if seen[calls[i].ID] {
			c.miss("id %q is none, or stands there twice", calls[i].ID)
		}
		seen[calls[i].ID] = true
		if want.ID != nil {
			c.equal("id", c.callID(calls[i].ID), *want.ID)
		}
		c.equal("name", calls[i].Name, want.Name)
		c.arguments(&calls[i], string(want.Arguments), want.ArgumentsRaw)
	}
}

// arguments compares the arguments of a call; null are those that could not be parsed.
func (c *checker) arguments(call *message.Block, want, raw string) {
	held, broken := c.answer.Broken[call.ID]
	if want == "null" {
		c.equal("arguments are broken", broken, true)
		c.equal("raw arguments", held, raw)
		return
	}
	if broken {
		c.miss("arguments %q count as broken", held)
	}
	if !SameJSON(call.Arguments, []byte(want)) {
		c.miss("arguments are %s; want %s", call.Arguments, want)
	}
}

// callID is the id of a call without that of its item, which this API keeps behind a
// bar.
func (f *Folder) callID(id string) string {
	if f.API == llm.OpenAIResponses {
		id, _, _ = strings.Cut(id, "|")
	}
	return id
}

// SameJSON reports whether two JSON texts mean the same.
func SameJSON(a, b []byte) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}

var stops = map[string]message.StopReason{
	"stop": message.StopEnd, "length": message.StopLength, "tool_use": message.StopToolUse,
	"refusal": llm.StopRefusal, "pause": llm.StopPause,
}

// stop compares why the answer ended.
func (c *checker) stop() {
	a, want := c.answer, &c.Expected
	if want.StopReason == "error" {
		c.streamError()
		return
	}
	if a.Err != nil {
		c.miss("error: %v", a.Err)
	}
	c.equal("stop", a.Stop.Reason, stops[want.StopReason])
	c.equal("raw stop", a.Stop.Raw, want.StopReasonRaw)
}

// streamError compares the error that a stream ended with. A stream that was cut needs
// no words, but a hint and that asking again may help.
func (c *checker) streamError() {
	var e *llm.ProviderError
	if !errors.As(c.answer.Err, &e) {
		c.miss("error is %v; want a ProviderError", c.answer.Err)
		return
	}
	want := c.Expected.Error
	if c.rule(want == nil, "the reason for which the answer ended is the type of the error") {
		c.equal("error type", e.Type, c.Expected.StopReasonRaw)
		return
	}
	if want.Message == "stream ended early" {
		if !e.Retryable || e.NextStep == "" {
			c.miss("a cut stream is %+v; want it retryable with a hint", e)
		}
		return
	}
	if want.Type != "" || c.rule(e.Type != "", "an error that comes in two places has the type that stands in one") {
		c.equal("error type", e.Type, cmp.Or(want.Type, e.Type))
	}
	if want.Code != nil {
		c.equal("error code", e.Code, fmt.Sprint(want.Code))
	}
	if e.Message != want.Message {
		c.miss("error is %q; want %q", e.Message, want.Message)
	}
}

// usage compares the tokens that were counted with the expected ones.
func (c *checker) usage() {
	want, u := c.Expected.Usage, c.answer.Usage
	if want == nil || u == nil {
		c.equal("usage known", u != nil, want != nil)
		return
	}
	cached := want.CacheRead + want.CacheWrite
	prompt := want.Prompt
	if c.rule(cached > prompt, "a prompt has no fewer tokens than came from the cache") {
		prompt = cached
	}
	completion := want.Completion
	if c.rule(c.reasoningOnTop() > 0, "reasoning is output also where it comes on top of the completion, if the total says so") {
		completion += c.reasoningOnTop()
	}
	c.equal("prompt", u.Input+u.CacheRead+u.CacheWrite, prompt)
	c.equal("cache read", u.CacheRead, want.CacheRead)
	c.equal("cache write", u.CacheWrite, want.CacheWrite)
	c.equal("total", u.TotalTokens, u.Input+u.Output+u.CacheRead+u.CacheWrite)
	c.equal("output", u.Output, completion)
}

// reasoningOnTop is what the completion as reported lacks of the output, by the
// server's own total.
func (f *Folder) reasoningOnTop() int {
	u := f.Expected.Usage
	if u.Reasoning == nil || f.Expected.UsageRaw.Total != u.Prompt+u.Completion+*u.Reasoning {
		return 0
	}
	return *u.Reasoning
}

// opaque counts the signatures, and the withheld thoughts, that have to survive a round
// trip. A signature that is JSON counts by what it contains; one that is the name of a
// field does not count. Signatures of texts and calls count for Gemini only.
func (f *Folder) opaque(a Answer) (signatures, redacted int) {
	for _, b := range a.Content {
		var items []struct{ Signature, Data string }
		var item struct {
			Thought   string `json:"thoughtSignature"`
			Encrypted string `json:"encrypted_content"`
		}
		switch {
		case b.Redacted:
			redacted++
		case b.Signature == "":
		case b.Type != message.BlockThinking:
			if APIName(f.API) == llm.GoogleGenerativeAI {
				signatures++
			}
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
			if item.Encrypted != "" || item.Thought != "" {
				signatures++
			}
		case !strings.HasPrefix(b.Signature, "reasoning") && b.Signature != "content":
			signatures++
		}
	}
	return signatures, redacted
}
