package wiretest

import (
	"bytes"
	"encoding/json"
	"regexp"
	"testing"
)

var marker = regexp.MustCompile(`,"cache_control":\{[^}]*\}`)

// Extends holds the rule that keeps provider caches warm: without cache markers,
// the named fields of the second request are those of the first, byte for byte,
// and its messages begin with the messages of the first.
func Extends(t *testing.T, first, second []byte, same ...string) {
	t.Helper()
	a, b := fields(t, first), fields(t, second)
	for _, name := range same {
		if len(a[name]) == 0 || !bytes.Equal(a[name], b[name]) {
			t.Errorf("%s changed:\n%s\n%s", name, a[name], b[name])
		}
	}
	var before, after []json.RawMessage
	list := conversationField(a)
	if json.Unmarshal(a[list], &before) != nil || json.Unmarshal(b[list], &after) != nil || len(after) <= len(before) || len(before) == 0 {
		t.Fatalf("messages:\n%s\n%s", a[list], b[list])
	}
	for i := range before {
		if !bytes.Equal(before[i], after[i]) {
			t.Errorf("message %d changed:\n%s\n%s", i, before[i], after[i])
		}
	}
}

// conversationField is what the API calls the list of messages.
func conversationField(body map[string]json.RawMessage) string {
	for _, name := range []string{"input", "contents"} {
		if body[name] != nil {
			return name
		}
	}
	return "messages"
}

// fields returns the fields of a request, without cache markers.
func fields(t *testing.T, body []byte) map[string]json.RawMessage {
	t.Helper()
	var f map[string]json.RawMessage
	if err := json.Unmarshal(marker.ReplaceAll(body, nil), &f); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	return f
}
