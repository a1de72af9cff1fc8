package trust

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"pi/internal/printable"
	"pi/internal/safefile"
)

// home knows the files that the guard watches, reads them and describes them.
type home struct {
	project      string // the working directory
	agentDir     string // approvals of files outside of projects are listed under it
	store        *Store // nil: nothing outlives the run
	configs      []string
	keys         string          // auth.json, of which the commands count
	userServers  string          // mcp.json of the agent directory
	index        string          // of what MCP servers have; see index.go
	servers      map[string]bool // files of the project that name servers
	programs     map[string]bool // files of the project that servers are made of
	maskServers  func([]byte) ([]byte, bool)
	instructions []string        // of the agent directory
	named        map[string]bool // hooks that are named one by one, and their init.lua
	mask         func([]byte) ([]byte, bool)
	around       func(dir string) (root, name string, ok bool)
	team         func([]byte) ([]TeamPackage, error)
	labels       map[string]string   // of the packages of projects: as whom the user knows them, by their folder
	entries      func([]byte) []byte // of the settings of a project, that concern its hooks; nil: there are none
	places       func() Places
	judge        func(path string, code []byte) error
	now          func() time.Time
}

// onDisk reads a file as it is on the disk now; of auth.json only the commands.
func (h *home) onDisk(path string) Version {
	read := onDisk
	switch {
	case path == h.keys && path != "":
		read = commandsIn
	case h.programs[path]:
		read = program
	}
	var before stamp
	switch info, err := os.Stat(path); {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR): // as it is with most: one look is enough
		return Version{Err: err}
	case err == nil:
		before = stampOf(info, h.now())
	}
	v := read(path)
	if before.tells() && before == stampAt(path, h.now()) && v.Sum != Unreadable { // nobody changed it meanwhile
		v.stamp = before
	}
	return v
}

// headNow is the content of the project's .git/HEAD; "" without one.
func (h *home) headNow() string {
	const most = 4 << 10
	path := filepath.Join(h.project, ".git")
	if text, err := safefile.Read(path, most); err == nil { // a work tree of its own
		if dir, ok := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir: "); ok {
			path = dir
			if !filepath.IsAbs(path) {
				path = filepath.Join(h.project, path)
			}
		}
	}
	head, _ := safefile.Read(filepath.Join(path, "HEAD"), most)
	return string(head)
}

// masked returns the text of a file to be kept or shown: settings without their keys, other
// files as they are. ok is false if there is no text, or the keys cannot be removed.
func (h *home) masked(path string, code []byte) (text []byte, ok bool) {
	if path == h.userServers && h.maskServers != nil && code != nil {
		return h.maskServers(code)
	}
	if h.mask == nil || code == nil || !slices.Contains(h.configs, path) {
		return code, code != nil
	}
	return h.mask(code)
}

// pending describes a file that is pending.
func (at *home) pending(path string, h *pendingFile) *Pending {
	p := &Pending{Name: filepath.Base(path), Path: path, Kind: "module", Change: "changed", Scope: h.scope, Since: h.since, now: h.now, asking: h.asking}
	switch {
	case slices.Contains(at.configs, path):
		p.Kind = "settings"
	case path == at.keys:
		p.Kind = "commands of keys"
	case at.isServers(path):
		p.Kind = kindServers
	case path == at.index:
		p.Kind = kindIndex
	case at.programs[path]:
		p.Kind = kindProgram
	case path == filepath.Join(at.agentDir, LockFile):
		p.Kind = kindLock
	case path == at.teamFile():
		p.Kind = kindTeam
	case at.packageOf(path) != "":
		p.Kind, p.Name = at.kindInPackage(path)
		_, named := at.labels[at.packageOf(path)]
		p.Unmarked, p.elsewhere = !h.marked, filepath.Base(filepath.Dir(at.packageOf(path))) == sumsDir && !named
	case at.isHook(path):
		p.Kind, p.Name = "hook", hookName(path)
	}
	switch {
	case !h.active.exists():
		p.Change = "added"
	case !h.now.exists():
		p.Change = "removed"
	}
	p.Lost = h.active.exists() && h.active.Code == nil
	p.Diff = at.diff(path, h)
	return p
}

// diff shows the two versions, and where a link leads now: the files beside a
// hook count.
func (at *home) diff(path string, h *pendingFile) string {
	if !h.active.exists() || !h.now.exists() || h.active.real == "" || h.now.real == "" || h.active.real == h.now.real {
		return Diff(path, at.shownCode(path, h.active), at.shownCode(path, h.now))
	}
	leads := printable.VisibleLine(fmt.Sprintf("%s led to %s and leads to %s now", path, h.active.real, h.now.real)) + "\n"
	if h.active.Sum == h.now.Sum {
		return leads
	}
	return leads + Diff(path, at.shownCode(path, h.active), at.shownCode(path, h.now))
}

// shownCode returns the text of a version for a difference: settings without their keys;
// empty, not nil, for a file whose text cannot be shown; nil if there is no file.
func (h *home) shownCode(path string, v Version) []byte {
	code, ok := h.masked(path, v.Code)
	if !ok {
		return existing(Version{Sum: v.Sum})
	}
	return existing(Version{Code: code, Sum: v.Sum})
}

// existing is the code of a version, nil only if there is no file.
func existing(v Version) []byte {
	if v.exists() && v.Code == nil {
		return []byte{}
	}
	return v.Code
}

// pendingStore describes the store that somebody wrote to.
func (h *home) pendingStore(m Mark) *Pending {
	old, now := h.store.Foreign(m.New)
	p := &Pending{Name: "trust.json", Path: h.store.Path(), Kind: "approvals", Change: "changed", Since: m.Since, now: Version{Sum: m.New}}
	if m.New == "" {
		p.Change = "removed"
	}
	p.Diff = Diff(p.Path, old, now)
	return p
}

// isHook reports whether a file is a hook, not a module or a test: it is named (see [Guard.NoteNamed]),
// or lies directly in a directory of hooks, or is the init.lua of a folder there.
func (h *home) isHook(path string) bool {
	dir, base := filepath.Split(path)
	if base == "init.lua" {
		dir = filepath.Dir(filepath.Clean(dir)) + string(filepath.Separator)
	}
	for _, config := range h.configs {
		if dir == filepath.Join(filepath.Dir(config), "hooks")+string(filepath.Separator) && !isTest(path) {
			return true
		}
	}
	return h.named[path]
}

// inHooks reports whether a file lies in a folder of hooks.
func (h *home) inHooks(path string) bool {
	return slices.ContainsFunc(h.configs, func(config string) bool { return isBelow(path, filepath.Join(filepath.Dir(config), "hooks")) })
}

// tooLarge returns the folder, in a directory of hooks, in which a module lies, if that has
// too many entries to be listed; "" for any other module.
func (h *home) tooLarge(path string) string {
	for _, config := range h.configs {
		dir := filepath.Join(filepath.Dir(config), "hooks") + string(filepath.Separator)
		rel, below := strings.CutPrefix(path, dir)
		name, _, inFolder := strings.Cut(rel, string(filepath.Separator))
		if !below || !inFolder {
			continue
		}
		w := luaWalk{left: MaxEntries}
		if w.walk(dir+name, nil); w.large {
			return dir + name
		}
	}
	return ""
}
