package session

import (
	"bytes"
	"fmt"

	"pi/session/rawjson"
)

// encode is the line of a new entry: its head first, so that loading finds it
// without looking further.
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

// encodeFields encodes a value and returns the fields of the object, without those that
// are the session's own.
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
