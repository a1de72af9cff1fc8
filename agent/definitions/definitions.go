// Package definitions has the agents that a hook can use by a name (`pi.agent`): each is a
// Markdown file with fields at its head (package frontmatter), and its text takes the place of
// the role in the system prompt.
//
//	agents/NAME.md    name, description; tools, model, thinking, max_turns, max_cost, which
//	                  all bound or choose, and never give what the agent above has not
//
// Files of Claude Code are read as they are: the names of its tools mean ours (see [Tools]), its
// disallowedTools takes some away, and what has no meaning here is told.
//
// The files are handed in as they are in force ([File]): which these are, and whether a user
// approved them, is decided elsewhere. [New] makes a [Set] of them, in which each has a name:
//
//	reviewer            of the user, or of somebody else where the user has none of that name
//	project:reviewer    of the project
//	PACK:reviewer       of a package
//
// The long name always works. The short one is the user's before a package's, and a package's
// before the project's; a file of the user's that cannot be used keeps its name.
//
// What is wrong with a file is a [frontmatter.Problem] with its line. A definition that can be misread only
// in what it says for people counts nevertheless; one of which it is not known what it forbids
// does not ([Definition.Err]).
package definitions

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"pi/internal/frontmatter"
	"pi/internal/printable"
	"pi/internal/suggest"
)

// Project is the [File.Owner] of what a project brings.
const Project = "project"

// File is a file that defines an agent.
type File struct {
	Path  string // absolute
	Shown string // the path as people are shown it
	Text  string // that is in force
	Err   error  // why there is none, or why it does not count
	Owner string // "" is the user, Project a project, another one the package of that name
	From  string // who brings it, for people: "yours", "project", "package tidy"
}

// Definition is an agent that can be used.
type Definition struct {
	Name        string // short or long, as it is listed; other than that of all others
	Long        string // that works always; that of the user's own is the short one
	Description string // one line: what it is for
	Role        string // takes the place of the role in the system prompt; "" leaves it
	Tools       []string
	HasTools    bool    // it has no other tools than Tools, be they none
	Model       string  // as --model has it; "": that of the agent above
	Thinking    string  // likewise
	MaxTurns    int     // 0: no limit of its own
	MaxCost     float64 // likewise
	Path        string  // of its file, absolute
	Shown       string  // the same, as people are shown it
	From        string  // who brings it, for people
	Err         error   // why it cannot be used, with file and line; nil: it can
}

// Checks say what a definition may name. Without one nothing of it is checked.
type Checks struct {
	Tools []string               // all that there are, whether they are active or not; nil: not known
	Model func(ref string) error // why there is no such model; nil: it is not asked
}

// Set is the definitions that there are.
type Set struct {
	All      []Definition          // in the order of their names
	Problems []frontmatter.Problem // warnings; what keeps a definition from being used is its Err
}

// New reads files. Those of the user stand before those of packages, and these before those of
// the project; of two of one owner with one name the first counts.
func New(files []File, checks Checks) Set {
	var s Set
	taken := map[string]string{} // by name, short and long: the file
	for _, f := range files {
		d, problems := read(f, checks)
		s.Problems = append(s.Problems, problems...)
		short := d.Name
		if d.Long = short; f.Owner != "" {
			d.Long = f.Owner + ":" + short
		}
		if have := taken[d.Long]; have != "" {
			s.Problems = append(s.Problems, frontmatter.Problem{Path: f.Shown, Text: fmt.Sprintf("the agent %s is also in %s, which is nearer and counts", d.Long, have)})
			continue
		}
		taken[d.Long] = f.Shown
		if taken[short] == "" {
			taken[short] = f.Shown
		} else {
			d.Name = d.Long
		}
		s.All = append(s.All, d)
	}
	slices.SortFunc(s.All, func(a, b Definition) int { return strings.Compare(a.Name, b.Name) })
	return s
}

// Find returns the definition with a name, short or long. The error is for the author of a
// hook: there is none, or it cannot be used.
func (s Set) Find(name string) (Definition, error) {
	i := slices.IndexFunc(s.All, func(d Definition) bool { return d.Name == name })
	if i < 0 {
		i = slices.IndexFunc(s.All, func(d Definition) bool { return d.Long == name })
	}
	if i < 0 {
		return Definition{}, s.unknown(name)
	}
	return s.All[i], s.All[i].Err
}

// unknown says that there is no definition with a name, which one may have been meant, and which
// files do not count, for one of them may be it.
func (s Set) unknown(name string) error {
	var names, left []string
	for _, d := range s.All {
		if names = append(names, d.Name); d.Err != nil {
			left = append(left, d.Err.Error())
		}
	}
	text := fmt.Sprintf("there is no agent %q%s; /agents lists them", printable.Line(name), suggest.Hint(name, names))
	if len(left) > 0 {
		text += "; " + strings.Join(left, "; ")
	}
	return fmt.Errorf("%s", text)
}

// MayHave reports whether the definition leaves a tool to its agent: it gives none that the agent
// would not have without it.
func (d Definition) MayHave(tool string) bool {
	switch {
	case !d.HasTools, slices.Contains(d.Tools, tool):
		return true
	}
	return strings.HasPrefix(tool, ofServer) && slices.Contains(d.Tools, toolOfServers)
}

// Names are the names of all definitions.
func (s Set) Names() (names []string) {
	for _, d := range s.All {
		names = append(names, d.Name)
	}
	return names
}

// nameOf is the name that a file gives an agent without its fields.
func nameOf(path string) string { return strings.TrimSuffix(filepath.Base(path), ".md") }
