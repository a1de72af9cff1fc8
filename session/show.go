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
	var o object
	o.int("version", int64(h.Version))
	o.text("id", h.ID)
	o.text("cwd", h.Cwd)
	o.nullable("leaf", s.Leaf())
	o.nullable("name", s.Name())
	o.nullable("model", model)
	o.nullable("thinking_level", s.ThinkingLevel())
	o.int("entries", int64(len(s.Entries())))
	o.put("context", context)
	return o.bytes(), nil
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
