package trust

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"pi/internal/safefile"
)

// Servers of MCP are command lines, so the files that name them are watched like settings: that of
// the user counts as it was before tools ran, and those of a project, with the files of the
// project that their servers are made of, count as a user approved them. What is in them is not
// known here.

// serversFile is the file of the user's servers in the agent directory.
const serversFile = "mcp.json"

// maxProgram bounds the files that servers of a project are made of: a program is longer than a
// hook.
const maxProgram = 256 << 20

// Current returns the version of a file of the user that is in force: an edit that no tool can have
// made is, from this moment on. Nobody is asked.
func (g *Guard) Current(path string) Version {
	s := g.lock()
	defer g.mu.Unlock()
	if _, read := s.ledger.active[path]; read { // else it is read now
		if changes := s.ledger.changed(map[string]Scope{path: ""}, s.window); len(changes) > 0 {
			s.decide(changes)
		}
	}
	return s.readLocked(path)
}

// Exists reports whether there is such a file, be it one that cannot be read.
func (v Version) Exists() bool { return v.exists() }

// NoteServers notes which files the servers of the project are made of, and which of these name
// servers, so that they are known for what they are while they wait for an approval.
func (g *Guard) NoteServers(naming, programs []string) {
	s := g.lock()
	defer g.mu.Unlock()
	for _, path := range naming {
		s.home.servers[path] = true
	}
	for _, path := range programs {
		s.home.programs[path] = true
	}
}

// Describe describes files of the project that are no hooks, for the question whether they
// count. What is not there is left out.
func (g *Guard) Describe(paths []string) []ProjectFile {
	files := []ProjectFile{}
	for _, path := range paths {
		v := g.Read(path)
		if !v.exists() {
			continue
		}
		f := ProjectFile{Path: path, SHA256: v.Sum, Size: int64(len(v.Code)), Events: []string{}, Code: v.Code}
		if info, err := os.Stat(path); err == nil {
			f.Size = info.Size() // of a program only its hash is kept
		}
		if v.Err != nil {
			f.Problem = reasonOf(v.Err).Error()
		}
		f.Approved = g.MayRunVersion(ScopeProject, path, v)
		files = append(files, f)
	}
	return files
}

// program reads a file that a server of the project is made of. Of one that is longer than a hook the
// hash stands for the bytes, in the code too.
func program(path string) Version {
	v := onDisk(path)
	if v.Sum != Unreadable {
		return v
	}
	f, err := safefile.Open(path, os.O_RDONLY)
	if err != nil {
		return v
	}
	defer f.Close()
	sum := sha256.New()
	n, err := io.Copy(sum, io.LimitReader(f, maxProgram+1))
	if err != nil || n > maxProgram {
		return Version{Err: errors.Join(err, fmt.Errorf("read %s: a program of at most %d MiB is expected", path, maxProgram>>20)), Sum: Unreadable}
	}
	long := Version{Sum: hex.EncodeToString(sum.Sum(nil)), real: path, Others: v.Others}
	long.Code = fmt.Appendf(nil, "%d bytes with the SHA-256 %s\n", n, long.Sum)
	if real, err := filepath.EvalSymlinks(path); err == nil {
		long.real = real
	}
	long.Others = othersMayChange(path, long.real)
	return long
}

// isServers reports whether a file names servers.
func (h *home) isServers(path string) bool { return path == h.userServers || h.servers[path] }

// addServers adds the files that decide which servers there are.
func (h *home) addServers(paths map[string]Scope, p Places) {
	if h.userServers != "" {
		paths[h.userServers] = ""
	}
	if p.NoProject {
		return
	}
	for _, path := range slices.Concat(p.Servers, p.Programs) {
		paths[path] = ScopeProject
	}
}
