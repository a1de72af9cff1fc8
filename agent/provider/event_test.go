package provider_test

import (
	"errors"
	"testing"

	"pi/agent/provider"
	"pi/internal/sse"
)

// TestAnEventThatIsNamedAnErrorIsOne: also one without a text, of which nothing else
// would tell; an ending stream would look like a connection that broke off.
func TestAnEventThatIsNamedAnErrorIsOne(t *testing.T) {
	for name, c := range map[string]struct {
		event         sse.Event
		data          string
		said, garbled bool
	}{
		"an error without data": {event: sse.Event{Name: "error"}, said: true},
		"an error with a text":  {event: sse.Event{Name: "error", Data: []byte(`overloaded`)}, said: true},
		"nothing":               {event: sse.Event{Data: []byte("  ")}},
		"the end":               {event: sse.Event{Data: []byte("[DONE]")}},
		"no JSON":               {event: sse.Event{Data: []byte("{")}, garbled: true},
		"JSON":                  {event: sse.Event{Name: "delta", Data: []byte(" {\"n\":1} ")}, data: `{"n":1}`},
	} {
		var v struct{ N int }
		data, err := provider.ParseEvent(c.event, &v)
		var said *provider.Said
		var garbled *provider.Garbled
		if string(data) != c.data || errors.As(err, &said) != c.said || errors.As(err, &garbled) != c.garbled || (v.N == 1) != (c.data != "") {
			t.Errorf("%s: %q, %v, %+v", name, data, err, v)
		}
	}
}
