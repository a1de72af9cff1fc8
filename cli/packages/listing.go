package packages

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"pi/internal/printable"
	"pi/luahooks/text"
	"pi/luahooks/trust"
)

// Listed is what a user is shown of one file of a package. All of it is read from the text of
// the file; nothing of it runs.
type Listed struct {
	Path       string       `json:"path"`
	Kind       string       `json:"kind"` // hook, test, module, prompt, skill, agent, manifest, file
	Size       int          `json:"size"`
	SHA256     string       `json:"sha256"`
	Executable bool         `json:"executable,omitempty"`
	Events     []string     `json:"events,omitempty"`   // that it listens to
	Tools      []Registered `json:"tools,omitempty"`    // that it gives the model
	Commands   []Registered `json:"commands,omitempty"` // that can be typed
	// CannotTell: there may be more of these, because names are computed or the file cannot be read.
	CannotTell bool   `json:"cannot_tell,omitempty"`
	Problem    string `json:"problem,omitempty"` // why it cannot be read as what it is
}

// Registered is a tool or command of a package.
type Registered struct {
	Name     string `json:"name"`
	Replaces string `json:"replaces,omitempty"` // whose it takes the place of, or is beside
}

// There is what is registered already, for people: by the name of a tool or command, whose it is.
type There struct{ Tools, Commands map[string]string }

// Add notes what a hook of the user registers, as far as its text says so. hook is what people call it.
func (t There) Add(hook string, code []byte) {
	found, err := text.Registered(code)
	if err != nil {
		return
	}
	for _, name := range found.Tools {
		t.Tools[name] = cmp.Or(t.Tools[name], hook)
	}
	for _, name := range found.Commands {
		t.Commands[commandName(name)] = cmp.Or(t.Commands[commandName(name)], hook)
	}
}

// List describes each file of a package.
func (p *Package) List(there There) (all []Listed) {
	for _, f := range p.Files.Files() {
		l := Listed{Path: f.Path, Kind: KindOf(f.Path), Size: len(f.Code), SHA256: f.Sum(), Executable: f.Executable}
		switch l.Kind {
		case "hook", "module", "test":
			l.readLua(f, there)
		case "prompt":
			name := strings.TrimSuffix(strings.TrimPrefix(f.Path, "prompts/"), ".md")
			l.Commands = []Registered{{name, there.Commands[name]}}
		}
		all = append(all, l)
	}
	return all
}

// readLua fills in what the text of a file of Lua registers.
func (l *Listed) readLua(f TreeFile, there There) {
	found, err := text.Registered(f.Code)
	if l.Problem = problemOf(f); err != nil && l.Problem == "" {
		l.Problem = err.Error()
	}
	if l.Kind == "test" { // what it registers is for the cases in it
		return
	}
	l.Events, l.CannotTell = found.Events, found.Computed
	for _, name := range found.Tools {
		l.Tools = append(l.Tools, Registered{name, there.Tools[name]})
	}
	for _, name := range found.Commands {
		name = commandName(name)
		l.Commands = append(l.Commands, Registered{name, there.Commands[name]})
	}
}

// commandName is a command as it is typed, without the slash.
func commandName(name string) string { return strings.TrimPrefix(name, "/") }

// KindOf says what a file of a package is, by its path there.
func KindOf(file string) string {
	top, _, isBelow := strings.Cut(file, "/")
	switch {
	case file == ManifestFile:
		return "manifest"
	case IsTest(file):
		return "test"
	case isHook(file):
		return "hook"
	case strings.HasSuffix(file, ".lua"):
		return "module"
	case isBelow && top == "prompts" && strings.HasSuffix(file, ".md") && strings.Count(file, "/") == 1:
		return "prompt"
	case isBelow && top == "skills":
		return "skill"
	case isBelow && top == "agents" && strings.HasSuffix(file, ".md"):
		return "agent"
	}
	return "file"
}

// Missing lists the packages that p needs and that are not there, by the names of those that are.
func (p *Package) Missing(there []string) (missing []string) {
	for _, name := range p.Manifest.Needs {
		if !slices.Contains(there, name) {
			missing = append(missing, name)
		}
	}
	return missing
}

// Change is a file that differs between two versions of a package.
type Change struct {
	Path string `json:"path"`
	What string `json:"what"` // added, removed, changed
	Diff string `json:"diff"` // hidden characters visible
}

// Changes lists what differs between the files of a package as they were and as they are.
func Changes(before, now Tree) (changes []Change) {
	paths := map[string]bool{}
	for _, t := range []Tree{before, now} {
		for _, f := range t.Files() {
			paths[f.Path] = true
		}
	}
	sorted := make([]string, 0, len(paths))
	for path := range paths {
		sorted = append(sorted, path)
	}
	slices.Sort(sorted)
	for _, path := range sorted {
		old, was := before.Find(path)
		new, is := now.Find(path)
		switch {
		case !was:
			changes = append(changes, Change{path, "added", diff(path, nil, bytesOf(new))})
		case !is:
			changes = append(changes, Change{path, "removed", diff(path, bytesOf(old), nil)})
		case old.Sum() != new.Sum():
			changes = append(changes, Change{path, "changed", diff(path, bytesOf(old), bytesOf(new))})
		case knowsExecutable && old.Executable != new.Executable:
			changes = append(changes, Change{path, "changed", diffOfMode(new)})
		}
	}
	return changes
}

// diff is the difference of two versions of a file.
func diff(path string, old, new []byte) string {
	return trust.DiffAs(path, old, new, "here", "new")
}

// diffOfMode is the difference of a file whose bytes are as they were.
func diffOfMode(new TreeFile) string {
	what := "was executable, and is not any more"
	if new.Executable {
		what = "is executable now"
	}
	return fmt.Sprintf("%s %s\n", printable.VisibleLine(new.Path), what)
}

// bytesOf is the code of a file that is there, which is never nil.
func bytesOf(f TreeFile) []byte {
	if f.Code == nil {
		return []byte{}
	}
	return f.Code
}
