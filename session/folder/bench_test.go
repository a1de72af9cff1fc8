package folder

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"pi/session"
	"pi/session/message"
)

// manySessions writes as many sessions of forty directories as somebody has
// after some years.
func manySessions(b *testing.B) (root string) {
	b.Helper()
	root = b.TempDir()
	for i := range 2000 {
		cwd := fmt.Sprintf("/p%d", i%40)
		s := session.New(session.Options{Cwd: cwd, Now: func() time.Time { return time.Unix(int64(1e9+i), 0) }})
		for range 10 {
			if _, err := s.AppendMessage(&message.Message{Role: message.RoleUser, Content: []message.Block{message.TextBlock("a prompt of some length, as people write them")}, Timestamp: 1}); err != nil {
				b.Fatal(err)
			}
		}
		var file []byte // written here, without a sync
		for line := range s.Lines() {
			file = append(append(file, line...), '\n')
		}
		folder := filepath.Join(root, session.FolderName(cwd))
		if err := errors.Join(os.MkdirAll(folder, 0o700), os.WriteFile(filepath.Join(folder, s.ID()+".jsonl"), file, 0o600)); err != nil {
			b.Fatal(err)
		}
	}
	return root
}

// What a user waits for: the first line of a listing, and all of it.
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
