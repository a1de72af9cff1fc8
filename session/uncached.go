package session

// Uncached returns a copy of the entry for a caller that looks at each entry once, such as
// an export: its line and its message are kept only as long as the copy is. The copy is for
// one goroutine.
func (e *Entry) Uncached() *Entry {
	return &Entry{
		Type: e.Type, ID: e.ID, ParentID: e.ParentID, Timestamp: e.Timestamp,
		raw: e.rawUncached(), fileID: e.fileID, parent: e.parent, index: e.index, line: e.line, own: e.own,
	}
}
