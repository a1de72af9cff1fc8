package wiretest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// responsesRequest is every field that a request may have.
type responsesRequest struct {
	Model           string            `json:"model"`
	Stream          bool              `json:"stream"`
	Store           *bool             `json:"store"`
	Include         []string          `json:"include"`
	Reasoning       json.RawMessage   `json:"reasoning"`
	MaxOutputTokens *int              `json:"max_output_tokens"`
	PromptCacheKey  *string           `json:"prompt_cache_key"`
	Retention       *string           `json:"prompt_cache_retention"`
	CacheOptions    *cacheOptions     `json:"prompt_cache_options"`
	Parallel        *bool             `json:"parallel_tool_calls"`
	Instructions    *string           `json:"instructions"`
	Tools           []responsesTool   `json:"tools"`
	Input           []json.RawMessage `json:"input"`
}

type cacheOptions struct {
	TTL string `json:"ttl"`
}

type responsesTool struct {
	Type        string          `json:"type"`
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
	Strict      *bool           `json:"strict"`
}

// responsesItem is every field that an item of the input may have.
type responsesItem struct {
	Type      string          `json:"type"`
	ID        *string         `json:"id"`
	Role      string          `json:"role"`
	Status    string          `json:"status"`
	Phase     string          `json:"phase"`
	Content   json.RawMessage `json:"content"`
	CallID    string          `json:"call_id"`
	Name      string          `json:"name"`
	Arguments string          `json:"arguments"`
	Output    json.RawMessage `json:"output"`
	Summary   *[]responsePart `json:"summary"`
	Encrypted string          `json:"encrypted_content"`
}

type responsePart struct {
	Type        string            `json:"type"`
	Text        string            `json:"text"`
	ImageURL    string            `json:"image_url"`
	Detail      string            `json:"detail"`
	Annotations []json.RawMessage `json:"annotations"`
}

var (
	responsesName  = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)
	responsesID    = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)
	responsesImage = regexp.MustCompile(`^data:image/[a-z+]+;base64,[A-Za-z0-9+/]+=*$`)
)

// CheckResponses is as strict about a request as the Responses API: it has no
// field that is not known, every call has its output before the conversation goes
// on, a thought is followed by what it led to, ids are short and their own, and
// nothing is empty.
func CheckResponses(body []byte) error {
	var q responsesRequest
	if err := exactly(body, &q); err != nil {
		return err
	}
	switch {
	case q.Model == "" || !q.Stream:
		return errors.New("no model, or no stream")
	case len(q.Input) == 0:
		return errors.New("no input")
	case q.MaxOutputTokens != nil && *q.MaxOutputTokens < 16:
		return fmt.Errorf("max_output_tokens is %d", *q.MaxOutputTokens)
	case q.PromptCacheKey != nil && (*q.PromptCacheKey == "" || len(*q.PromptCacheKey) > 64):
		return fmt.Errorf("prompt_cache_key %q", *q.PromptCacheKey)
	case q.Retention != nil && *q.Retention != "24h" && *q.Retention != "in_memory":
		return fmt.Errorf("prompt_cache_retention %q", *q.Retention)
	case q.CacheOptions != nil && (q.CacheOptions.TTL != "30m" || q.Retention != nil):
		return fmt.Errorf("prompt_cache_options with ttl %q, or beside prompt_cache_retention", q.CacheOptions.TTL)
	}
	for _, t := range q.Tools {
		if err := t.check(); err != nil {
			return fmt.Errorf("tool %q: %w", t.Name, err)
		}
	}
	return checkItems(q.Input)
}

// exactly parses JSON and fails for a field that is not known.
func exactly(raw []byte, to any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	return d.Decode(to)
}

// check checks a tool: it is a function, with a strict schema unless strict is false.
func (t *responsesTool) check() error {
	if t.Type != "function" || !responsesName.MatchString(t.Name) || !bytes.HasPrefix(t.Parameters, []byte("{")) {
		return fmt.Errorf("type %q, parameters %s", t.Type, t.Parameters)
	}
	if t.Strict != nil && !*t.Strict {
		return nil
	}
	return checkStrictSchema(t.Parameters)
}

// checkStrictSchema checks what strict schemas demand of every object in them: no other
// properties are allowed, and all are required.
func checkStrictSchema(raw json.RawMessage) error {
	var s struct {
		Properties map[string]json.RawMessage `json:"properties"`
		Required   []string                   `json:"required"`
		Additional *bool                      `json:"additionalProperties"`
		Items      json.RawMessage            `json:"items"`
	}
	if err := json.Unmarshal(raw, &s); err != nil {
		return err
	}
	if s.Properties != nil && (s.Additional == nil || *s.Additional || len(s.Required) != len(s.Properties)) {
		return fmt.Errorf("not a strict schema: %s", raw)
	}
	for name, property := range s.Properties {
		if !slices.Contains(s.Required, name) {
			return fmt.Errorf("property %q is not required: %s", name, raw)
		}
		if err := checkStrictSchema(property); err != nil {
			return err
		}
	}
	if len(s.Items) > 0 {
		return checkStrictSchema(s.Items)
	}
	return nil
}

// responsesWalk walks through the input.
type responsesWalk struct {
	turns
	items     map[string]bool // ids of items
	answered  bool            // an output came since the model last spoke
	unfounded bool            // a thought waits for what it led to
}

// checkItems checks the items of the input, in their order.
func checkItems(input []json.RawMessage) error {
	w := &responsesWalk{turns: turns{ids: responsesID}, items: map[string]bool{}}
	for n, raw := range input {
		var i responsesItem
		err := exactly(raw, &i)
		if err == nil {
			err = w.item(&i)
		}
		if err != nil {
			return fmt.Errorf("item %d: %w: %.200s", n, err, raw)
		}
	}
	if w.unfounded {
		return errOrphan
	}
	return w.allAnswered()
}

var errOrphan = errors.New("a reasoning item without its required following item")

// item checks an item: what it needs depends on its type and role.
func (w *responsesWalk) item(i *responsesItem) error {
	if err := w.id(i); err != nil {
		return err
	}
	switch kind := i.Type + " " + i.Role; kind {
	case " user", "message user", " system", " developer", "message system", "message developer":
		if err := w.turnOver(); err != nil {
			return err
		}
		return filledParts(i.Content, "input_text", "input_image")
	case " assistant", "message assistant":
		w.unfounded = false
		if err := w.modelSpeaks(); err != nil {
			return err
		}
		return filledParts(i.Content, "output_text")
	case "reasoning ":
		w.unfounded = true
		if i.Summary == nil {
			return errors.New("no summary")
		}
		return w.modelSpeaks()
	case "function_call ":
		w.unfounded = false
		if err := w.modelSpeaks(); err != nil {
			return err
		}
		if !responsesName.MatchString(i.Name) {
			return fmt.Errorf("name %q", i.Name)
		}
		return w.call(i.CallID, i.Name, []byte(i.Arguments))
	case "function_call_output ":
		w.answered = true
		if w.unfounded {
			return errOrphan
		}
		if err := w.result(i.CallID); err != nil {
			return err
		}
		return filledParts(i.Output, "input_text", "input_image")
	default:
		return fmt.Errorf("type and role %q", kind)
	}
}

// turnOver is called before a message of the user or the system. It checks that no call
// waits for its output, and no thought for the item that it led to.
func (w *responsesWalk) turnOver() error {
	if w.unfounded {
		return errOrphan
	}
	return w.allAnswered()
}

// modelSpeaks is called before an item of the model. Behind an output another answer
// begins, so no call of the one before may wait for its output. Within an answer text
// and calls mix.
func (w *responsesWalk) modelSpeaks() error {
	if !w.answered {
		return nil
	}
	w.answered = false
	return w.allAnswered()
}

// id checks the id of an item, if it has one: its form is that of its type, and no
// other item has it.
func (w *responsesWalk) id(i *responsesItem) error {
	if i.ID == nil {
		return nil
	}
	id := *i.ID
	prefix := map[string]string{"message": "msg_", "function_call": "fc_"}[i.Type]
	if id == "" || len(id) > 64 || !strings.HasPrefix(id, prefix) || w.items[id] {
		return fmt.Errorf("id %q has a bad form or stands there twice", id)
	}
	w.items[id] = true
	return nil
}

// filledParts checks that content is text that is not empty, or a list of parts of
// these types, none of them empty.
func filledParts(raw json.RawMessage, types ...string) error {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		if text == "" {
			return errors.New("empty text")
		}
		return nil
	}
	var parts []responsePart
	if err := exactly(raw, &parts); err != nil {
		return err
	}
	if len(parts) == 0 {
		return errors.New("no content")
	}
	for _, p := range parts {
		filled := p.Text != "" && p.ImageURL == ""
		if p.Type == "input_image" {
			filled = responsesImage.MatchString(p.ImageURL) && p.Text == ""
		}
		if !filled || !slices.Contains(types, p.Type) {
			return fmt.Errorf("a part of type %q, %q %.60q", p.Type, p.Text, p.ImageURL)
		}
	}
	return nil
}
