package openai

import (
	"encoding/json"
	"strconv"

	"pi/agent/provider"
)

// A request is written field by field, in the order and with the names of its
// struct; tests compare the two. Rare fields are written by the encoder.

// encode writes the body as JSON, the messages one by one. Those that were written before
// go behind the system prompt.
func (q *request) encode(written [][]byte) ([]byte, error) {
	before, after := provider.NewWriter(), provider.NewWriter()
	before.Text(`{"model":`, q.Model)
	before.WriteString(`,"messages":`)
	if err := q.writeRest(after); err != nil {
		return nil, err
	}
	elements, err := provider.AppendElements(nil, q.Messages[:q.prompts])
	if err != nil {
		return nil, err
	}
	elements, err = provider.AppendElements(append(elements, written...), q.Messages[q.prompts:])
	if err != nil {
		return nil, err
	}
	return provider.JoinList(before.Bytes(), elements, after.Bytes()), nil
}

// writeRest writes the fields of the request behind the messages, as the encoder would.
func (q *request) writeRest(w *provider.Writer) error {
	for i := range q.Tools {
		if i == 0 {
			w.WriteString(`,"tools":[`)
		} else {
			w.WriteByte(',')
		}
		if err := q.Tools[i].write(w); err != nil {
			return err
		}
	}
	if len(q.Tools) > 0 {
		w.WriteByte(']')
	}
	flag(w, `,"parallel_tool_calls":`, q.ParallelToolCalls)
	flag(w, `,"stream":`, &q.Stream)
	if q.StreamOptions != nil {
		flag(w, `,"stream_options":{"include_usage":`, &q.StreamOptions.IncludeUsage)
		w.WriteByte('}')
	}
	number(w, `,"max_tokens":`, q.MaxTokens)
	number(w, `,"max_completion_tokens":`, q.MaxCompletionTokens)
	flag(w, `,"store":`, q.Store)
	if q.PromptCacheKey != "" {
		w.Text(`,"prompt_cache_key":`, q.PromptCacheKey)
	}
	if q.ToolStream {
		flag(w, `,"tool_stream":`, &q.ToolStream)
	}
	if q.Retention != "" {
		w.Text(`,"prompt_cache_retention":`, q.Retention)
	}
	if q.Options != nil {
		w.Text(`,"prompt_cache_options":{"ttl":`, q.Options.TTL)
		w.WriteByte('}')
	}
	if err := q.thinking.write(w); err != nil {
		return err
	}
	return w.WriteByte('}')
}

// flag writes a field that is true or false; nil is none.
func flag(w *provider.Writer, before string, v *bool) {
	if v != nil {
		w.WriteString(before + strconv.FormatBool(*v))
	}
}

// number writes a field that is a number; 0 is none.
func number(w *provider.Writer, before string, n int) {
	if n != 0 {
		w.WriteString(before + strconv.Itoa(n))
	}
}

// write writes the fields that ask for thinking, if there are any.
func (t *thinking) write(w *provider.Writer) error {
	if *t == (thinking{}) {
		return nil
	}
	fields, err := provider.Encode(t)
	if err != nil {
		return err
	}
	w.WriteByte(',')
	w.Write(fields[1 : len(fields)-1])
	return nil
}

// write writes a tool as the encoder would.
func (t *tool) write(w *provider.Writer) error {
	w.Text(`{"type":`, t.Type)
	w.Text(`,"function":{"name":`, t.Function.Name)
	if t.Function.Description != "" {
		w.Text(`,"description":`, t.Function.Description)
	}
	w.WriteString(`,"parameters":`)
	if t.Function.Parameters == nil {
		w.WriteString("null")
	} else if err := json.Compact(&w.Buffer, t.Function.Parameters); err != nil {
		return err
	}
	flag(w, `,"strict":`, t.Function.Strict)
	w.WriteString("}}")
	return nil
}

// WriteJSON writes a message as the encoder would; it leaves one that is more than a
// text to it.
func (m *wireMessage) WriteJSON(w *provider.Writer) error {
	text, plain := m.Content.(string)
	if !plain || m.ReasoningContent != nil || m.Reasoning != nil || m.ReasoningText != nil || len(m.ReasoningDetails) > 0 || len(m.ToolCalls) > 0 {
		return w.Value(m)
	}
	w.Text(`{"role":`, m.Role)
	w.Text(`,"content":`, text)
	if m.Name != "" {
		w.Text(`,"name":`, m.Name)
	}
	if m.ToolCallID != "" {
		w.Text(`,"tool_call_id":`, m.ToolCallID)
	}
	return w.WriteByte('}')
}
