package mcpfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// The library tells no places of what it has read, and a message without a line sends people
// searching. So a file is read by its tokens, with the offset of each.

// node is a value in a JSON text.
type node struct {
	kind      kind
	from, end int // in the text
	members   []member
	items     []*node
	text      string // of kindText; of a number or a flag, as it stands in the file
	number    float64
	flag      bool
}

// member is a member of an object.
type member struct {
	name  string
	at    int // where the name stands
	value *node
}

type kind string

const (
	kindObject kind = "an object"
	kindList   kind = "a list"
	kindText   kind = "a text"
	kindNumber kind = "a number"
	kindFlag   kind = "true or false"
	kindNull   kind = "null"
)

// member returns the value of a member of an object, the last of several; nil: there is none.
func (n *node) member(name string) (value *node) {
	for _, m := range n.members {
		if m.name == name {
			value = m.value
		}
	}
	return value
}

// syntaxError is where a text stops being JSON.
type syntaxError struct {
	offset int
	text   string
}

// maxDeep bounds objects in each other.
const maxDeep = 32

// byteOrderMark is what editors of Windows put in front of a text.
func byteOrderMark() []byte { return []byte("\xef\xbb\xbf") }

// parseJSON reads a text that is one JSON value. A text of white space is an empty object.
func parseJSON(data []byte) (*node, *syntaxError) {
	data = bytes.TrimPrefix(data, byteOrderMark()) // it moves no line
	if len(bytes.TrimSpace(data)) == 0 {
		return &node{kind: kindObject}, nil
	}
	p := parser{data: data, decoder: json.NewDecoder(bytes.NewReader(data))}
	p.decoder.UseNumber()
	n, err := p.value(0)
	if err == nil {
		if _, more := p.decoder.Token(); more != io.EOF {
			return nil, &syntaxError{int(p.decoder.InputOffset()), "not valid JSON: something follows the end"}
		}
		return n, nil
	}
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		// The words of the library may quote a character of a secret, and say no more.
		return nil, &syntaxError{max(int(syntax.Offset)-1, p.start()), "not valid JSON from here on"}
	}
	return nil, &syntaxError{int(p.decoder.InputOffset()), "not valid JSON: " + wordsOf(err)}
}

func wordsOf(err error) string {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return "it ends too early"
	}
	return err.Error()
}

type parser struct {
	data    []byte
	decoder *json.Decoder
}

// start is where the next token begins.
func (p *parser) start() int {
	at := int(p.decoder.InputOffset())
	for at < len(p.data) && bytes.IndexByte([]byte(" \t\r\n,:"), p.data[at]) >= 0 {
		at++
	}
	return at
}

func (p *parser) value(deep int) (*node, error) {
	if deep > maxDeep {
		return nil, fmt.Errorf("more than %d objects and lists in each other", maxDeep)
	}
	n := &node{from: p.start()}
	token, err := p.decoder.Token()
	if err != nil {
		return nil, err
	}
	switch v := token.(type) {
	case json.Delim:
		if v == '{' {
			n.kind, err = kindObject, p.object(n, deep)
		} else {
			n.kind, err = kindList, p.list(n, deep)
		}
	case string:
		n.kind, n.text = kindText, v
	case json.Number:
		n.kind, n.text = kindNumber, v.String()
		n.number, _ = v.Float64() // too large is infinite
	case bool:
		n.kind, n.flag, n.text = kindFlag, v, fmt.Sprint(v)
	default:
		n.kind = kindNull
	}
	n.end = int(p.decoder.InputOffset())
	return n, err
}

func (p *parser) object(n *node, deep int) error {
	for p.decoder.More() {
		at := p.start()
		name, err := p.decoder.Token()
		if err != nil {
			return err
		}
		value, err := p.value(deep + 1)
		if err != nil {
			return err
		}
		n.members = append(n.members, member{name.(string), at, value}) // the library lets only texts be names
	}
	_, err := p.decoder.Token()
	return err
}

func (p *parser) list(n *node, deep int) error {
	for p.decoder.More() {
		item, err := p.value(deep + 1)
		if err != nil {
			return err
		}
		n.items = append(n.items, item)
	}
	_, err := p.decoder.Token()
	return err
}

// lineOf is the line of an offset in a text.
func lineOf(data []byte, offset int) int {
	return 1 + bytes.Count(data[:max(0, min(offset, len(data)))], []byte("\n"))
}
