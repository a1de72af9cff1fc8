package app

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"pi/agent"
	"pi/agent/llm"
	"pi/agent/schema"
)

// finalAnswerName is the tool by which a child answers where a schema is asked for.
const finalAnswerName = "final_answer"

// answerTries is how often a child may answer until its answer fits the schema.
const answerTries = 3

// finalAnswer is the tool by which a child gives an answer that fits a schema. It may be used
// from any goroutine.
type finalAnswer struct {
	asked      json.RawMessage // the schema
	parameters json.RawMessage // of an object
	inField    bool            // the answer is no object, and stands in a field of the parameters
	checker    *schema.Checker // of the answer

	mu    sync.Mutex      // guards what follows
	value json.RawMessage // nil: none was given yet
	tries int             // that did not fit
}

// newFinalAnswer returns the tool for a schema. The error is for who wrote that.
func newFinalAnswer(asked json.RawMessage) (*finalAnswer, error) {
	checker, err := schema.Compile(asked)
	if err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	if len(checker.Dropped) > 0 {
		return nil, fmt.Errorf("schema: %s does not resolve", checker.Dropped[0])
	}
	f := &finalAnswer{asked: asked, parameters: asked, checker: checker}
	var of struct{ Type any }
	if json.Unmarshal(asked, &of) != nil || of.Type != "object" {
		f.inField = true
		if f.parameters, err = json.Marshal(map[string]any{"type": "object", "properties": map[string]any{"answer": asked}, "required": []string{"answer"}}); err != nil {
			return nil, fmt.Errorf("schema: %w", err)
		}
	}
	return f, nil
}

// Spec is that of [agent.Tool].
func (f *finalAnswer) Spec() llm.ToolSpec {
	return llm.ToolSpec{Name: finalAnswerName, Label: "Final answer", Parameters: f.parameters,
		Description: "Gives your final answer to whoever asked you. Call it once, when you are done: what you pass is the answer, and what you write beside it is not read.",
		Snippet:     "give your final answer, which ends your work"}
}

// Annotations are that of [agent.Annotated].
func (*finalAnswer) Annotations() agent.Annotations {
	return agent.Annotations{ReadOnly: true, Kind: "think"}
}

// Run is that of [agent.Tool]. The first answer counts.
func (f *finalAnswer) Run(_ context.Context, input json.RawMessage, _ agent.Update) (agent.Result, error) {
	value := input
	if f.inField {
		var in struct{ Answer json.RawMessage }
		if err := json.Unmarshal(input, &in); err != nil {
			return agent.Result{}, err
		}
		value = in.Answer
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.value != nil {
		return agent.Result{}, errors.New("the answer was given already")
	}
	f.value = bytes.Clone(value)
	result := agent.TextResult("The answer is given.")
	result.Terminate = true
	return result, nil
}

// read takes a text for the answer, where the child cannot have the tool. The error says what does
// not fit.
func (f *finalAnswer) read(text string) error {
	value := json.RawMessage(withoutFence(text))
	checked, err := f.checker.Check(value)
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.value = checked
	return nil
}

// withoutFence returns the text in a fenced block of Markdown, if that is all that a text is, else
// the text.
func withoutFence(text string) []byte {
	b := bytes.TrimSpace([]byte(text))
	rest, fenced := bytes.CutPrefix(b, []byte("```"))
	if !fenced {
		return b
	}
	_, rest, _ = bytes.Cut(rest, []byte("\n"))
	return bytes.TrimSpace(bytes.TrimSuffix(rest, []byte("```")))
}

// fail counts an answer that does not fit.
func (f *finalAnswer) fail() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.tries++
}

// state returns the answer; nil: there is none. isOver says that there is no further try.
func (f *finalAnswer) state() (value json.RawMessage, isOver bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.value, f.value == nil && f.tries >= answerTries
}
