package session

// EndOf returns the id of the entry that the conversation ends with when leaf is the leaf:
// the first one from there upwards that is no label, session name, usage record, record
// of a move, of a mode or of a branch of git, none of which the model sees. It is "" if
// there is none.
func (s *Session) EndOf(leaf string) string {
	for e := s.Entry(leaf); e != nil; e = s.Entry(e.ParentID) {
		switch e.Type {
		case TypeLabel, TypeSessionInfo, TypeUsage:
		case TypeCustom:
			if !IsLeafMove(e) && !e.IsModeChange() && !e.isOwn(GitBranch) {
				return e.ID
			}
		default:
			return e.ID
		}
	}
	return ""
}

// IsLeafMove reports whether e only records that the leaf was moved.
func IsLeafMove(e *Entry) bool { return e.isOwn(LeafMove) }
