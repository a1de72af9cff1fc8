package session

import "pi/session/rawjson"

// Show returns the session as one JSON object for people and programs that
// want to see what a model would: version, id, cwd, leaf, name, model
// ("provider/id"), thinking_level, the number of entries, and the context as
// messages, camelCase. A value that is not known is null.
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
	var o rawjson.Object
	o.Int("version", int64(h.Version))
	o.Text("id", h.ID)
	o.Text("cwd", h.Cwd)
	o.Nullable("leaf", s.Leaf())
	o.Nullable("name", s.Name())
	o.Nullable("model", model)
	o.Nullable("thinking_level", s.ThinkingLevel())
	o.Int("entries", int64(len(s.Entries())))
	o.Put("context", context)
	return o.Bytes(), nil
}

// showContext returns the context as a JSON array of messages.
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
