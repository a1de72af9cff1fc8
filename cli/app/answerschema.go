package app

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"pi/agent"
	"pi/agent/schema"
	"pi/cli/config"
	"pi/internal/printable"
	"pi/internal/safefile"
)

// mostOfSchema is how large the file of a schema may be: it goes along with every request.
const mostOfSchema = 1 << 20

// readAnswerSchema returns the tool by which the model answers in the form that a file has. The
// error says what of it is wrong, and in which line.
func readAnswerSchema(path string) (*finalAnswer, error) {
	text, err := safefile.Read(path, mostOfSchema)
	switch {
	case errors.Is(err, safefile.ErrNotRegular):
		return nil, fmt.Errorf("%s is not a regular file of at most %s", config.Tilde(path), printable.Bytes(mostOfSchema))
	case err != nil:
		return nil, err
	}
	at := func(offset int64, problem string) error {
		return fmt.Errorf("%s:%d: %s", config.Tilde(path), 1+bytes.Count(text[:min(int(offset), len(text))], []byte("\n")), problem)
	}
	var tree any
	if err := json.Unmarshal(text, &tree); err != nil {
		offset := int64(len(bytes.TrimRight(text, " \t\r\n")))
		if broken, ok := errors.AsType[*json.SyntaxError](err); ok && broken.Offset > 0 {
			offset = min(offset, broken.Offset-1)
		}
		return nil, at(offset, strings.TrimPrefix(err.Error(), "json: "))
	}
	if object, _ := tree.(map[string]any); object["type"] != "object" {
		return nil, at(offsetOf(text, "/type"), `it is no schema of an object: "type": "object" has to stand there`)
	}
	checker, err := schema.Compile(text)
	switch {
	case err != nil:
		return nil, at(0, err.Error())
	case len(checker.Dropped) > 0:
		problem := "is not what JSON Schema has there"
		if strings.HasSuffix(checker.Dropped[0], "$ref") {
			problem = "does not resolve"
		}
		return nil, at(offsetOf(text, checker.Dropped[0]), checker.Dropped[0]+" "+problem)
	}
	return newFinalAnswer(text)
}

// offsetOf returns where in a JSON text the value begins to which a pointer (RFC 6901) leads, or
// the last value on the way that is there.
func offsetOf(text []byte, pointer string) int64 {
	dec, at := json.NewDecoder(bytes.NewReader(text)), int64(0)
	_, _ = dec.Token() // it is JSON: it was decoded before
	at = dec.InputOffset() - 1
	for _, name := range strings.Split(strings.TrimPrefix(pointer, "/"), "/") {
		name = strings.NewReplacer("~1", "/", "~0", "~").Replace(name)
		found := false
		for i := 0; dec.More(); i++ {
			key := fmt.Sprint(i)
			if bytes.HasPrefix(text[at:], []byte("{")) {
				token, _ := dec.Token()
				key, _ = token.(string)
			}
			if found = key == name; found {
				break
			}
			var skipped json.RawMessage
			_ = dec.Decode(&skipped)
		}
		if !found {
			return at
		}
		rest := text[dec.InputOffset():]
		at = dec.InputOffset() + int64(len(rest)-len(bytes.TrimLeft(rest, " \t\r\n:,")))
		_, _ = dec.Token()
	}
	return at
}

// getText is [print.Printer.Form]: it has a prompt answered in the form of the schema, in one line.
func (f *finalAnswer) getText(ctx context.Context, p agent.Prompt, ask func(context.Context, agent.Prompt) error) (string, error) {
	ctx, giveUp := context.WithCancel(ctx)
	defer giveUp()
	value, err := f.get(p, askedFor{ask: func(p agent.Prompt) error { return ask(ctx, p) }, giveUp: giveUp})
	if value == nil {
		return "", err
	}
	var line bytes.Buffer
	_ = json.Compact(&line, value) // it has been checked
	return line.String(), err
}
