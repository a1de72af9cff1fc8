package rpc

import (
	"path/filepath"

	"pi/session"
)

// paths are those of a client below a folder.
type paths string

func (p paths) Path(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(string(p), path)
}

func (p paths) OpenOrBegin(path string) (*session.Session, error) {
	return session.Open(path, session.Options{Dir: string(p), Cwd: string(p)})
}
