package provider

import (
	"bytes"
	"encoding/json"
)

// Writer writes JSON as [Encode] does, piece by piece. Before an encoder writes its
// first struct it looks at every type in it, which takes longer than all that a
// first request has to say: so what is sent first is written with texts alone.
type Writer struct {
	bytes.Buffer
	values *json.Encoder
}

// NewWriter makes an empty Writer.
func NewWriter() *Writer {
	w := new(Writer)
	w.values = json.NewEncoder(&w.Buffer)
	w.values.SetEscapeHTML(false)
	return w
}

// Value writes v as JSON, without the line end that an encoder adds.
func (w *Writer) Value(v any) error {
	if err := w.values.Encode(v); err != nil {
		return err
	}
	w.Truncate(w.Len() - len("\n"))
	return nil
}

// Text writes before as it is, and then s as a JSON string; that never fails.
func (w *Writer) Text(before, s string) {
	w.WriteString(before)
	_ = w.Value(s)
}

// WriterTo is an element of a list that writes itself, byte for byte as an encoder
// would.
type WriterTo interface {
	WriteJSON(w *Writer) error
}
