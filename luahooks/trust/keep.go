package trust

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"pi/internal/safefile"
)

// Keep keeps a copy of a file's bytes and returns their hash.
func (s *Store) Keep(code []byte) (sum string, err error) {
	sum = Sum(code)
	path := s.keptPath(sum)
	if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() && info.Size() == int64(len(code)) {
		now := time.Now()
		_ = os.Chtimes(path, now, now) // somebody needs it, see Prune
		return sum, nil                // Kept looks at the bytes
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", fmt.Errorf("keep a copy: %w", err)
	}
	if err := safefile.Replace(path, code, false); err != nil {
		return "", fmt.Errorf("keep a copy: %w", err)
	}
	return sum, nil
}

// Kept returns the bytes with a hash, and an error for bytes that are no longer
// those that were kept.
func (s *Store) Kept(sum string) ([]byte, error) {
	if !isSum(sum) || sum == Unreadable {
		return nil, fmt.Errorf("there is no copy %q", sum)
	}
	code, err := safefile.Read(s.keptPath(sum), maxStore)
	if err != nil {
		return nil, fmt.Errorf("the kept copy is lost: %w", reasonOf(err))
	}
	if Sum(code) != sum {
		return nil, fmt.Errorf("the kept copy %.12s is not what was kept", sum)
	}
	return code, nil
}

// pruneAge spares what a program keeps just now and has not referred to yet.
const pruneAge = time.Hour

// Prune removes the copies that no mark and nothing known refers to, and the files
// of windows that are none.
func (s *Store) Prune() {
	s.sweep()
	dir := filepath.Join(s.Dir(), "kept")
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	needed := s.needed()
	for _, e := range entries {
		info, err := e.Info()
		if err == nil && !needed[e.Name()] && time.Since(info.ModTime()) > pruneAge {
			os.Remove(filepath.Join(dir, e.Name()))
		}
	}
}

func (s *Store) needed() map[string]bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	sums := map[string]bool{}
	for _, m := range s.data.Pending {
		sums[m.Old], sums[m.Kept], sums[m.New] = true, true, true
	}
	for _, f := range s.data.Known.Files {
		sums[f.Sum], sums[f.Kept] = true, true
	}
	return sums
}

func (s *Store) keptPath(sum string) string { return filepath.Join(s.Dir(), "kept", sum) }
