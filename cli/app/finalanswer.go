package app

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"pi/agent"
	"pi/agent/llm"
	"pi/agent/schema"
	"pi/session/message"
)

// finalAnswerName is the tool by which an agent answers where a schema is asked for.
const finalAnswerName = "final_answer"

// answerTries is how often an agent may answer until its answer fits the schema.
const answerTries = 3

// finalAnswer is the tool by which an agent gives an answer that fits a schema: that of
// --output-schema, or of the hook that uses a child. The model is never made to call it: what it
// says otherwise is one of the tries. It listens to the agent, whose failed calls of it are
// others. It may be used from any goroutine.
type finalAnswer struct {
	asked      json.RawMessage // the schema
	parameters json.RawMessage // of an object
	inField    bool            // the answer is no object, and stands in a field of the parameters
	checker    *schema.Checker // of the answer

	mu     sync.Mutex      // guards what follows
	value  json.RawMessage // nil: none was given yet
	tries  int             // that did not fit
	last   string          // why not
	giveUp func()          // is called when there is no further try
}

// askedFor is how an agent is asked for an answer that fits a schema.
type askedFor struct {
	// ask has the agent work on a prompt. Its context is not to end before giveUp is called.
	ask    func(agent.Prompt) error
	giveUp func() // interrupts it
	// words returns what the model said last, where that is the answer, since there can be no
	// tool for it; nil: the tool is the way.
	words func() string
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
	result.Details = f.value
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

// get has an agent asked until there is an answer that fits. The error is a *[noAnswerError] after
// the last try, or one of ask, with which there may be an answer.
func (f *finalAnswer) get(p agent.Prompt, from askedFor) (json.RawMessage, error) {
	f.mu.Lock()
	f.value, f.tries, f.last, f.giveUp = nil, 0, "", from.giveUp
	f.mu.Unlock()
	if from.words != nil {
		p.Text += "\n\nAnswer with JSON alone, without words around it, that fits this JSON Schema:\n" + string(f.asked)
	}
	for {
		err := from.ask(p)
		value, failed := f.state()
		if value != nil || failed != nil || err != nil {
			return value, cmp.Or(failed, err)
		}
		text := "Give your answer by calling the tool " + finalAnswerName + ": words are not read."
		if from.words == nil {
			f.fail("the model answered in words")
		} else if err := f.read(from.words()); err != nil {
			text = "That does not fit the schema: " + err.Error() + "\nAnswer again, with JSON alone."
			f.fail(err.Error())
		}
		if value, failed := f.state(); value != nil || failed != nil {
			return value, failed
		}
		p = agent.Prompt{Text: text, Literal: true, Source: "hook"} // one of few, and of nobody's
	}
}

// fail counts an answer that does not fit, and says why it does not.
func (f *finalAnswer) fail(why string) {
	f.mu.Lock()
	f.tries++
	f.last = why
	giveUp := f.giveUp
	isOver := f.value == nil && f.tries >= answerTries
	f.mu.Unlock()
	if isOver {
		giveUp()
	}
}

// state returns the answer, nil if there is none; or the error of the last try.
func (f *finalAnswer) state() (json.RawMessage, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.value == nil && f.tries >= answerTries {
		return nil, &noAnswerError{f.last}
	}
	return f.value, nil
}

// Wants is that of [agent.Listener].
func (*finalAnswer) Wants(k agent.Kind) bool { return k == agent.KindToolExecutionEnd }

// Handle counts the calls that failed: their arguments do not fit, or a gate has blocked them.
func (f *finalAnswer) Handle(_ context.Context, e agent.Event) error {
	if end := e.(*agent.ToolExecutionEnd); end.Name == finalAnswerName && end.Result.IsError {
		why := end.Result.Content
		f.fail((&message.Message{Content: why[:min(1, len(why))]}).Text()) // what others say of the call comes behind
	}
	return nil
}

// noAnswerError is why there is no answer that fits a schema.
type noAnswerError struct{ last string }

func (e *noAnswerError) Error() string {
	return fmt.Sprintf("no answer that fits the schema in %d tries: %s", answerTries, e.last)
}
