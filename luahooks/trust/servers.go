package trust

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
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

// Current returns the version of a file that is in force, be it the user's or one that decides about
// servers of the project: an edit that no tool can have made is, from this moment on. Nobody is
// asked. A file of the project is used only if that version is approved.
func (g *Guard) Current(path string) Version {
	s := g.lock()
	defer g.mu.Unlock()
	scope := Scope("")
	if s.home.isOfServers(path) {
		scope = ScopeProject
	}
	if _, isRead := s.ledger.active[path]; isRead || s.window != nil { // else it is read now
		if changes := s.ledger.changed(map[string]Scope{path: scope}, s.window); len(changes) > 0 {
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
		f.Approved, f.By = g.MayRunVersion(ScopeProject, path, v), g.approvedBy(path, v.Sum)
		files = append(files, f)
	}
	return files
}

// MayStart reports whether a file that a server of the project is made of is approved as it is on the
// disk now, which is what is started.
func (g *Guard) MayStart(path string) bool {
	now := program(path).Sum // it may be long, so not with the lock
	s := g.lock()
	defer g.mu.Unlock()
	return s.approvals.isApproved(path, now)
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

// isOfServers reports whether a file of the project names servers, or is what one of them is made of.
func (h *home) isOfServers(path string) bool { return h.servers[path] || h.programs[path] }

// addServers adds the files that decide which servers there are, also those that were noted since p
// was made.
func (h *home) addServers(paths map[string]Scope, p Places) {
	if h.userServers != "" {
		paths[h.userServers], paths[h.index] = "", ""
	}
	if p.NoProject {
		return
	}
	for _, path := range slices.Concat(p.Servers, p.Programs, slices.Collect(maps.Keys(h.servers)), slices.Collect(maps.Keys(h.programs))) {
		paths[path] = ScopeProject
	}
}
