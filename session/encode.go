package session

import (
	"bytes"
	"fmt"

	"pi/session/rawjson"
)

// encode returns the line of a new entry with these fields. Its head comes first, so
// that loading finds it without reading further.
func (e *Entry) encode(own rawjson.Object) []byte {
	parent := []byte("null")
	if p := e.parent; p != nil && p.fileID != "" {
		parent = rawjson.Quote(p.fileID)
	} else if p != nil {
		parent = rawjson.Quote(p.ID)
	}
	var o rawjson.Object
	o.Text("type", e.Type)
	o.Text("id", e.ID)
	o.Put("parentId", parent)
	o.Text("timestamp", e.Timestamp)
	return append(o, own...).Bytes()
}

// encodeFields encodes v, which must become a JSON object, and returns its fields
// without type, id, parentId and timestamp, which are the session's own. nil has no
// fields.
func encodeFields(v any) (rawjson.Object, error) {
	if v == nil {
		return nil, nil
	}
	raw, err := rawjson.Encode(v)
	if err != nil {
		return nil, err
	}
	if raw, err = rawjson.Compact(raw); err != nil {
		return nil, err
	}
	if !bytes.HasPrefix(raw, []byte("{")) {
		return nil, fmt.Errorf("its fields are no JSON object")
	}
	var own rawjson.Object
	for k, v := range rawjson.Fields(raw) {
		switch string(k) {
		case "type", "id", "parentId", "timestamp":
		default:
			own.Put(string(k), v)
		}
	}
	return own, nil
}
