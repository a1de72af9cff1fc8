package mcp

import (
	"os"
	"testing"
)

func TestAFileOfAKnownTypeHasItsUsualEnding(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	for kind, want := range map[string]string{
		"application/gzip": ".gz", "audio/mpeg": ".mp3", "text/csv; charset=utf-8": ".csv", "Application/PDF": ".pdf",
		"application/octet-stream": ".bin", "../../x": ".bin", "": ".bin",
	} {
		w := &writer{}
		w.bytes([]byte("data"), kind)
		if len(w.details.Files) != 1 {
			t.Fatalf("%s: %q", kind, text(w.blocks))
		}
		path := w.details.Files[0]
		if got := path[len(path)-len(want):]; got != want {
			t.Errorf("%s: %s", kind, path)
		}
		if b, err := os.ReadFile(path); err != nil || string(b) != "data" {
			t.Errorf("%s: %q, %v", kind, b, err)
		}
	}
}
