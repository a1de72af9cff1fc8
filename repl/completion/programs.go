package completion

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
)

// Programs are the programs that a command line can begin with. They are read when they
// are first asked for, and again when a folder of them changes. Any goroutine may use it.
type Programs struct {
	path string

	mu    sync.Mutex
	read  []time.Time // when each folder was changed, as of the last reading
	names []string
}

// NewPrograms returns the programs in the folders of a PATH.
func NewPrograms(path string) *Programs { return &Programs{path: path} }

// builtins are the commands of a shell that are no programs and of use in one line.
func builtins() []string {
	return []string{"cd", "exec", "export", "source", "type", "ulimit", "umask"}
}

// Names are the names of all programs, in order. The caller does not change them.
func (p *Programs) Names() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	folders := filepath.SplitList(p.path)
	changed := make([]time.Time, len(folders))
	for i, folder := range folders {
		if info, err := os.Stat(folder); err == nil {
			changed[i] = info.ModTime()
		}
	}
	if p.names != nil && slices.EqualFunc(p.read, changed, time.Time.Equal) {
		return p.names
	}
	p.read, p.names = changed, builtins()
	for _, folder := range folders {
		if filepath.IsAbs(folder) {
			entries, _ := os.ReadDir(folder)
			for _, e := range entries {
				if name, ok := programName(folder, e); ok && isTypeable(name) {
					p.names = append(p.names, name)
				}
			}
		}
	}
	slices.Sort(p.names)
	p.names = slices.Compact(p.names)
	return p.names
}

// programName is the name by which a file is run; false if it cannot be run.
func programName(folder string, e os.DirEntry) (name string, ok bool) {
	if runtime.GOOS == "windows" {
		ending := strings.ToLower(filepath.Ext(e.Name()))
		return strings.TrimSuffix(e.Name(), filepath.Ext(e.Name())), slices.Contains([]string{".exe", ".com", ".bat", ".cmd"}, ending)
	}
	info, err := os.Stat(filepath.Join(folder, e.Name()))
	return e.Name(), err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}
