package session

// Labels returns the names of the entries that have one. Labels stand anywhere
// in the tree: the last one of the file that names an entry counts, and an
// empty one takes the name away.
func (s *Session) Labels() map[string]string {
	names := labelsIn(s.Entries())
	for id, name := range names {
		if name == "" {
			delete(names, id)
		}
	}
	return names
}

// labelsIn returns what entries say about names, "" for one that was taken away.
func labelsIn(entries []*Entry) map[string]string {
	names := map[string]string{}
	for _, e := range entries {
		if e.Type != TypeLabel {
			continue
		}
		if l, err := Body[Label](e); err == nil {
			names[l.TargetID] = l.Label
		}
	}
	return names
}

// Children returns the entries that hang on each one, in the order of the
// file, by the id of that one; "" has the roots.
func (s *Session) Children() map[string][]*Entry {
	entries := s.Entries()
	children := make(map[string][]*Entry, len(entries))
	for _, e := range entries {
		children[e.ParentID] = append(children[e.ParentID], e)
	}
	return children
}

// CommonAncestor returns the id of the last entry that lies on the paths to both
// a and b, "" if that is the root. An entry lies on the path to itself.
func (s *Session) CommonAncestor(a, b string) string {
	one, other := s.Path(a), s.Path(b)
	common := ""
	for i := range min(len(one), len(other)) {
		if one[i] != other[i] {
			break
		}
		common = one[i].ID
	}
	return common
}
