package session

// Show returns the session as one JSON object for people and programs that
// want to see what a model would: version, id, cwd, leaf, name, model
// ("provider/id"), thinking_level, the number of entries, and the context as
// messages, camelCase. What is not known is null.
func (s *Session) Show() ([]byte, error) {
	h := s.Header()
	provider, model := s.Model()
	if provider != "" {
		model = provider + "/" + model
	}
	context, err := s.showContext()
	if err != nil {
		return nil, err
	}
	w := fieldWriter{}
	w.int("version", int64(h.Version))
	w.text("id", h.ID)
	w.text("cwd", h.Cwd)
	w.nullable("leaf", s.Leaf())
	w.nullable("name", s.Name())
	w.nullable("model", model)
	w.nullable("thinking_level", s.ThinkingLevel())
	w.int("entries", int64(len(s.Entries())))
	w.put("context", context)
	return overlay(nil, nil, w)
}

func (w *fieldWriter) nullable(key, s string) {
	if s == "" {
		w.put(key, []byte("null"))
		return
	}
	w.text(key, s)
}

func (s *Session) showContext() ([]byte, error) {
	out := []byte{'['}
	for i, it := range s.Context() {
		if i > 0 {
			out = append(out, ',')
		}
		b, err := it.Message.MarshalJSON()
		if err != nil {
			return nil, err
		}
		out = append(out, b...)
	}
	return append(out, ']'), nil
}
