package session

// EndOf returns the id of the entry that the conversation ends with when leaf is the leaf:
// the first one from there upwards that is no label, session name, usage record, record
// of a move or of a mode, none of which the model sees. It is "" if there is none.
func (s *Session) EndOf(leaf string) string {
	for e := s.Entry(leaf); e != nil; e = s.Entry(e.ParentID) {
		switch e.Type {
		case TypeLabel, TypeSessionInfo, TypeUsage:
		case TypeCustom:
			if !IsLeafMove(e) && !e.IsModeChange() {
				return e.ID
			}
		default:
			return e.ID
		}
	}
	return ""
}

// IsLeafMove reports whether e only records that the leaf was moved.
func IsLeafMove(e *Entry) bool {
	if e.Type != TypeCustom {
		return false
	}
	c, err := Body[Custom](e)
	return err == nil && c.CustomType == LeafMove
}
