package session

import (
	"bytes"

	"pi/session/rawjson"
)

// head is what loading reads of a line: enough to place the entry in the tree.
// The values are raw JSON, nil if absent.
type head struct {
	typ, id, parent, time []byte
}

// scanHead reads the head of a line and stops as soon as it has it, so that a
// line whose head stands first costs the same however long it is. It reports
// false for a line that is no entry: no object, no type, or cut short. What
// follows the head is checked when the body is decoded.
func scanHead(line []byte) (head, bool) {
	var h head
	line = bytes.TrimRight(line, " \t\r\n")
	if len(line) < 2 || line[len(line)-1] != '}' {
		return h, false
	}
	found := 0
	for k, v := range rawjson.Fields(line) {
		slot := h.slot(k)
		if slot == nil || *slot != nil {
			continue
		}
		*slot = v
		if found++; found == 4 {
			break
		}
	}
	return h, rawjson.IsString(h.typ)
}

// slot returns where the value of a key is stored; nil if it is not part of the head.
func (h *head) slot(key []byte) *[]byte {
	switch string(key) {
	case "type":
		return &h.typ
	case "id":
		return &h.id
	case "parentId":
		return &h.parent
	case "timestamp":
		return &h.time
	}
	return nil
}
