package trust

import (
	"os"
	"reflect"
	"testing"
)

// FuzzTheFileOfAWindowSaysNothing holds that a window is open and what it is,
// whatever a tool writes into its file: the store knows of it.
func FuzzTheFileOfAWindowSaysNothing(f *testing.F) {
	for _, seed := range []string{"", "{}", "null", `{"groups":[]}`, `{"groups":[1],"boot":"x","asks":true}`, "\x00\xff", `{"groups":`} {
		f.Add([]byte(seed), true)
		f.Add([]byte(seed), false)
	}
	f.Fuzz(func(t *testing.T, said []byte, lives bool) {
		dir := t.TempDir()
		s, err := Open(dir)
		must(t, err)
		r, err := s.Begin(Window{Groups: []int{4711}}, always, func(*Data) {})
		must(t, err)
		must(t, os.WriteFile(r.path(), said, 0o600))
		if !lives {
			r.Abandon()
		}
		other, err := Open(dir)
		must(t, err)
		open, left := other.OtherWindows(nil)
		if !lives {
			open, left = left, open
		}
		if w, ok := open[r.Name()]; !ok || len(open) != 1 || len(left) != 0 || !reflect.DeepEqual(w, r.Window()) {
			t.Errorf("its file says %q, lives: %v; windows %+v, and %+v", said, lives, open, left)
		}
		if lives {
			r.Abandon()
		}
	})
}
