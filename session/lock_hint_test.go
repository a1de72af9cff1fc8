package session

import (
	"testing"
	"time"

	"pi/session/rawjson"
)

// TestAHintIsWrittenAsItIsRead holds the fields that are written against those of the
// struct, which another process reads.
func TestAHintIsWrittenAsItIsRead(t *testing.T) {
	h := lockHint{Path: "/a \"b\"/<é>.jsonl", PID: 1 << 30, Host: "a\nhost", Since: time.Date(2026, 1, 2, 3, 4, 5, 678, time.FixedZone("", 3600))}
	want, err := rawjson.Encode(h)
	if err != nil {
		t.Fatal(err)
	}
	if got := h.line(); string(got) != string(want) {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}
