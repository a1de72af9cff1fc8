package session

import (
	"fmt"
	"testing"
	"time"
)

// manySessions writes as many sessions of forty directories as somebody has
// after some years.
func manySessions(b *testing.B) (root string) {
	b.Helper()
	root = b.TempDir()
	for i := range 2000 {
		s := New(Options{Dir: root, Cwd: fmt.Sprintf("/p%d", i%40), Now: func() time.Time { return time.Unix(int64(1e9+i), 0) }})
		for range 10 {
			if _, err := s.AppendMessage(user("a prompt of some length, as people write them")); err != nil {
				b.Fatal(err)
			}
		}
		s.store.close() // without the sync
	}
	return root
}

// What a person waits for: the first line of a listing, and all of it.
func BenchmarkListingOfManySessions(b *testing.B) {
	root := manySessions(b)
	for _, c := range []struct {
		name, cwd string
		all       bool
	}{{"first", "", false}, {"first of a directory", "/p0", false}, {"all", "", true}} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				for _, err := range Scan(root, c.cwd) {
					if err != nil {
						b.Fatal(err)
					}
					if !c.all {
						break
					}
				}
			}
		})
	}
	b.Run("last", func(b *testing.B) {
		for b.Loop() {
			if path, err := Latest(root, "/p0"); path == "" || err != nil {
				b.Fatal(err)
			}
		}
	})
}
