package session

import (
	"bytes"

	"pi/session/message"
	"pi/session/rawjson"
)

// Version 1 is a linear list without ids, whose compactions count the first
// entry they keep by its position in the file, the header being 0. Version 2
// has the tree, and calls the role custom hookMessage. Both are read as they
// are; in memory entries have the form of version 3.
//
// Lines of version 3 may follow those of version 2, so such a file is simply
// appended to. A file of version 1 has to be written anew; the first write does
// it, and leaves the original beside it.

// upgrade gives the lines of entries from a file of version 1 or 2 the form of version
// 3, in memory. Entries of version 1 take the ids that they got in memory, because their
// file will be written anew.
func (t *tree) upgrade(version int) {
	if version < 2 {
		clear(t.byFileID)
		for _, e := range t.entries {
			e.fileID = ""
		}
	}
	for _, e := range t.entries {
		if version < 2 || e.Type == TypeMessage && bytes.Contains(e.raw, []byte(`"hookMessage"`)) {
			e.raw = t.upgraded(e, version)
		}
	}
}

// upgraded returns the line of an entry in the form of version 3; as it is if it is no
// valid JSON.
func (t *tree) upgraded(e *Entry, version int) []byte {
	own, err := encodeFields(e.raw)
	if err != nil {
		return e.raw
	}
	for i, f := range own {
		switch {
		case f.Key == "firstKeptEntryIndex" && e.Type == TypeCompaction && version < 2:
			id := ""
			if n := int(rawjson.Number(f.Value)); n >= 1 && n <= len(t.entries) {
				id = t.entries[n-1].ID
			}
			own[i].Key, own[i].Value = "firstKeptEntryId", rawjson.Quote(id)
		case f.Key == "message" && rawjson.Unquote(rawjson.Field(f.Value, "role")) == "hookMessage":
			var was, now rawjson.Object
			was.Text("role", "hookMessage")
			now.Text("role", string(message.RoleCustom))
			own[i].Value = rawjson.Overlay(f.Value, was, now)
		}
	}
	return e.encode(own)
}
