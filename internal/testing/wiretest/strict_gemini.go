package wiretest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
)

type geminiRequest struct {
	SystemInstruction *geminiTurn
	Tools             []struct{ FunctionDeclarations []geminiFunction }
	ToolConfig        *struct{ FunctionCallingConfig struct{ Mode string } }
	GenerationConfig  *struct {
		MaxOutputTokens int
		ThinkingConfig  *struct {
			IncludeThoughts bool
			ThinkingBudget  *int
			ThinkingLevel   string
		}
	}
	Contents []geminiTurn
}

type geminiTurn struct {
	Role  string
	Parts []strictPart
}

type strictPart struct {
	Text             *string
	Thought          bool
	ThoughtSignature string
	InlineData       *struct{ MimeType, Data string }
	FunctionCall     *struct {
		ID, Name string
		Args     json.RawMessage
	}
	FunctionResponse *struct {
		ID, Name string
		Response json.RawMessage
		Parts    []strictPart
	}
	ToolCall, ToolResponse json.RawMessage
}

type geminiFunction struct {
	Name, Description    string
	Parameters           *geminiSchema
	ParametersJSONSchema json.RawMessage
}

type geminiSchema struct {
	Type, Format, Title, Description, Pattern string
	Nullable                                  bool
	Enum, Required, PropertyOrdering          []string
	Items                                     *geminiSchema
	Properties                                map[string]*geminiSchema
	AnyOf                                     []*geminiSchema
	MinItems, MaxItems                        *int64
	MinProperties, MaxProperties              *int64
	MinLength, MaxLength                      *int64
	Minimum, Maximum                          *float64
}

// geminiCheck walks through a conversation and keeps the calls that wait for
// their results.
type geminiCheck struct {
	signs bool // the first call of each turn has to be signed
	open  []strictPart
}

// CheckGemini is as strict about a request as the Gemini API about one for the
// older models: it has no fields but the known ones, a user begins, roles
// alternate, the results of a turn's calls stand first in the next turn, in their
// order and under their names, nothing is empty, and tools are described in the
// subset of JSON Schema that is read.
func CheckGemini(body []byte) error { return checkGemini(body, false) }

// CheckSignedGemini is CheckGemini for models that sign their calls, from version
// 3 on.
func CheckSignedGemini(body []byte) error { return checkGemini(body, true) }

// checkGemini checks a request as CheckGemini says; with signs, the first call of each
// answer needs a signature.
func checkGemini(body []byte, signs bool) error {
	var q geminiRequest
	if err := exactly(body, &q); err != nil {
		return err
	}
	if s := q.SystemInstruction; s != nil && (len(s.Parts) != 1 || s.Parts[0].Text == nil || *s.Parts[0].Text == "") {
		return errors.New("systemInstruction is empty")
	}
	for _, t := range q.Tools {
		if err := checkFunctions(t.FunctionDeclarations); err != nil {
			return err
		}
	}
	if len(q.Contents) == 0 {
		return errors.New("no contents")
	}
	c := geminiCheck{signs: signs}
	for i := range q.Contents {
		if want := []string{"user", "model"}[i%2]; q.Contents[i].Role != want {
			return fmt.Errorf("turn %d is of role %q, not %s", i, q.Contents[i].Role, want)
		}
		if err := c.turn(&q.Contents[i]); err != nil {
			return fmt.Errorf("turn %d: %w", i, err)
		}
	}
	if len(c.open) > 0 {
		return errors.New("calls at the end have no results")
	}
	return nil
}

// turn checks a turn: each of its parts, and the calls or results in it.
func (c *geminiCheck) turn(t *geminiTurn) error {
	if len(t.Parts) == 0 {
		return errors.New("it has no parts")
	}
	for i := range t.Parts {
		if err := t.Parts[i].check(); err != nil {
			return fmt.Errorf("part %d: %w", i, err)
		}
	}
	if t.Role == "model" {
		return c.answer(t.Parts)
	}
	return c.results(t.Parts)
}

// check fails unless a part is exactly one thing, and not an empty one.
func (p *strictPart) check() error {
	things := 0
	for _, is := range []bool{p.Text != nil, p.InlineData != nil, p.FunctionCall != nil, p.FunctionResponse != nil, p.ToolCall != nil, p.ToolResponse != nil} {
		if is {
			things++
		}
	}
	switch {
	case things != 1:
		return fmt.Errorf("it is %d things", things)
	case p.ThoughtSignature != "" && !base64Text.MatchString(p.ThoughtSignature):
		return fmt.Errorf("the signature %q is not base64", p.ThoughtSignature)
	case p.Text != nil && *p.Text == "" && p.ThoughtSignature == "":
		return errors.New("the text is empty")
	case p.InlineData != nil && (p.InlineData.MimeType == "" || p.InlineData.Data == ""):
		return errors.New("the image is empty")
	}
	return nil
}

var (
	base64Text = regexp.MustCompile(`^[A-Za-z0-9+/_-]+=*$`)
	geminiName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.:-]{0,63}$`)
)

// answer checks a turn of the model. Its calls wait for results from then on.
func (c *geminiCheck) answer(parts []strictPart) error {
	for _, p := range parts {
		if p.FunctionResponse != nil {
			return errors.New("the model gives a result")
		}
		call := p.FunctionCall
		if call == nil {
			continue
		}
		if !geminiName.MatchString(call.Name) || !isObject(call.Args) {
			return fmt.Errorf("a call of %q with %s", call.Name, call.Args)
		}
		if c.signs && len(c.open) == 0 && p.ThoughtSignature == "" {
			return errors.New("a function call is missing a thought_signature in functionCall parts")
		}
		c.open = append(c.open, p)
	}
	return nil
}

func isObject(raw json.RawMessage) bool {
	return bytes.HasPrefix(bytes.TrimSpace(raw), []byte("{")) && json.Valid(raw)
}

// results checks a turn of the user: it begins with the results of the calls of the
// turn before, all of them in order.
func (c *geminiCheck) results(parts []strictPart) error {
	for i, p := range parts {
		if p.FunctionCall != nil || p.Thought || p.ThoughtSignature != "" || p.ToolCall != nil || p.ToolResponse != nil {
			return fmt.Errorf("part %d is not the user's", i)
		}
		r := p.FunctionResponse
		switch {
		case r == nil && len(c.open) > 0:
			return fmt.Errorf("%d calls have no results; part %d is none", len(c.open), i)
		case r == nil:
			continue
		case len(c.open) == 0:
			return fmt.Errorf("part %d is the result of no call", i)
		case r.Name != c.open[0].FunctionCall.Name, r.ID != c.open[0].FunctionCall.ID:
			return fmt.Errorf("part %d is the result of %q %q; the call is %q %q", i, r.Name, r.ID, c.open[0].FunctionCall.Name, c.open[0].FunctionCall.ID)
		case !isObject(r.Response):
			return fmt.Errorf("part %d: the response is %s, no object", i, r.Response)
		}
		for j := range r.Parts {
			if r.Parts[j].InlineData == nil || r.Parts[j].check() != nil {
				return fmt.Errorf("part %d: its part %d is no image", i, j)
			}
		}
		c.open = c.open[1:]
	}
	if len(c.open) > 0 {
		return fmt.Errorf("%d calls have no results", len(c.open))
	}
	return nil
}

// checkFunctions checks that the names of tools have the right form, each once, and
// that their schemas are of the subset that is read.
func checkFunctions(list []geminiFunction) error {
	var names []string
	for _, f := range list {
		if !geminiName.MatchString(f.Name) || slices.Contains(names, f.Name) {
			return fmt.Errorf("a tool's name %q is bad or stands there twice", f.Name)
		}
		names = append(names, f.Name)
		if f.Parameters == nil {
			continue
		}
		if f.Parameters.Type != "OBJECT" {
			return fmt.Errorf("%s: the parameters are no object", f.Name)
		}
		if err := f.Parameters.check(); err != nil {
			return fmt.Errorf("%s: %w", f.Name, err)
		}
	}
	return nil
}

// CheckGeminiSchema checks that a schema is one of the subset of JSON Schema that the
// service reads.
func CheckGeminiSchema(raw []byte) error {
	var s geminiSchema
	if err := exactly(raw, &s); err != nil {
		return err
	}
	return s.check()
}

// geminiFormats are the formats of each type.
var geminiFormats = map[string][]string{
	"STRING": {"", "date-time", "enum"}, "NUMBER": {"", "float", "double"}, "INTEGER": {"", "int32", "int64"},
	"BOOLEAN": {""}, "ARRAY": {""}, "OBJECT": {""},
}

// check checks a schema and those in it: the keywords fit the type, and required
// properties exist.
func (s *geminiSchema) check() error {
	if s.AnyOf != nil {
		return s.choice()
	}
	formats, known := geminiFormats[s.Type]
	switch {
	case !known:
		return fmt.Errorf("type %q", s.Type)
	case !slices.Contains(formats, s.Format):
		return fmt.Errorf("format %q of a %s", s.Format, s.Type)
	case s.Enum != nil && (s.Type != "STRING" || slices.Contains(s.Enum, "")):
		return fmt.Errorf("enum %q of a %s", s.Enum, s.Type)
	case (s.Type == "ARRAY") != (s.Items != nil):
		return fmt.Errorf("items of a %s: %v", s.Type, s.Items)
	case (s.Type == "OBJECT") != (len(s.Properties) > 0):
		return fmt.Errorf("%d properties of a %s", len(s.Properties), s.Type)
	case s.Items != nil:
		return s.Items.check()
	}
	for _, name := range s.Required {
		if s.Properties[name] == nil {
			return fmt.Errorf("required is %q, which is no property", name)
		}
	}
	for name, p := range s.Properties {
		if p == nil {
			return fmt.Errorf("%s is null", name)
		}
		if err := p.check(); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// choice checks a schema with anyOf: it has nothing else, and two choices or more.
func (s *geminiSchema) choice() error {
	alone, err := json.Marshal(geminiSchema{AnyOf: s.AnyOf})
	if err != nil {
		return err
	}
	if all, err := json.Marshal(s); err != nil || !bytes.Equal(all, alone) {
		return fmt.Errorf("there is more than anyOf: %s", all)
	}
	if len(s.AnyOf) < 2 {
		return errors.New("a choice of one")
	}
	for i, one := range s.AnyOf {
		if err := one.check(); err != nil {
			return fmt.Errorf("anyOf %d: %w", i, err)
		}
	}
	return nil
}
