// Package mcpfile reads and writes mcp.json: which servers a user and a project have configured.
//
//	mcpfile.go  [Parse]: a file as a list of [Server], with the line of each mistake
//	entry.go    what can stand in an entry
//	expand.go   ${NAME} and its like; which variables a project must not read
//	json.go     JSON with the place of everything in it
//	files.go    which files a project's servers are made of; how a server is described
//	merge.go    user, project and client together
//	client.go   what an editor hands over
//	edit.go     an entry is added or removed, the rest stays as it is to the byte
//	mask.go     a file without its secrets, so that it can be kept and shown
//	foreign.go  what other programs have configured; foreigntoml.go: in config.toml
//
// The format is that of other programs, so that their files and examples work. A mistake costs
// its own entry, and nothing beside it. Nothing is started here, and no command is run before
// somebody asks [mcp.Entry.Secrets].
package mcpfile

import (
	"context"
	"fmt"
	"path/filepath"

	"pi/agent/mcp"
	"pi/cli/config"
	"pi/internal/printable"
	"pi/internal/safefile"
)

// Max is how long a file of servers may be.
const Max = 1 << 20

// Name is the file of the agent directory and of .pi in a project.
const Name = "mcp.json"

// UserFile is the file of the user's servers.
func UserFile(agentDir string) string { return filepath.Join(agentDir, Name) }

// ProjectFiles are the files in which a project may have servers; the first one that is there
// counts.
func ProjectFiles(project string) []string {
	return []string{filepath.Join(project, ".pi", Name), filepath.Join(project, ".mcp.json")}
}

// Read reads a file of servers. It never waits, and [safefile.ErrNotRegular] is a file that is
// none or too long.
func Read(path string) ([]byte, error) { return safefile.Read(path, Max) }

// Origin is whose file is read, and what its entries refer to.
type Origin struct {
	Kind      mcp.SourceKind // mcp.FromUser or mcp.FromProject
	Path      string
	Base      string // where relative paths begin: of the user's entries the session's directory, else the project's
	Workspace string // ${workspaceFolder}
	Home      string // ~; "": there is none
	Getenv    func(name string) string
	// Keys are the variables that hold keys of providers, which servers of a project must not
	// read, by whatever name.
	Keys []string
	// Run returns what the command of a value that begins with ! prints; nil: there are no
	// such values.
	Run func(ctx context.Context, command string) (string, error)
}

// File is what a file says.
type File struct {
	Servers  []Server         // in the order of the file
	Problems []config.Problem // in the order of their lines
}

// Server is an entry as it was written and as it is used.
type Server struct {
	mcp.Entry
	Variables []string // that it reads, in order of the name
	// Narrows is an entry without a server: what it says of exposure and use is for the one
	// of the user that has its name.
	Narrows bool

	written written
}

// written are the texts of an entry before anything is filled in.
type written struct {
	command, cwd, url string
	args              []string
	env, headers      []pair
}

type pair struct{ name, value string }

// Parse reads the text of a file. What is wrong with an entry leaves that out, unless it is a
// warning: then only the field is. A variable that is not set leaves a server that cannot be
// started (see [mcp.Entry.Problem]).
func Parse(data []byte, o Origin) File {
	r := reader{origin: o, data: data}
	root, err := parseJSON(data)
	if err != nil {
		r.report(err.offset, err.text+"; nothing of this file is used", false)
		return r.file
	}
	servers := root.member("mcpServers")
	switch {
	case root.kind != kindObject:
		r.report(root.from, "a JSON object is expected; nothing of this file is used", false)
		return r.file
	case servers == nil && root.member("servers") != nil:
		r.report(root.from, `it has "servers" and no "mcpServers"; "pi mcp import" takes what other programs have`, false)
		return r.file
	case servers == nil:
		if len(root.members) > 0 {
			r.report(root.from, `it has no "mcpServers"`, true)
		}
		return r.file
	case servers.kind != kindObject:
		r.report(servers.from, `"mcpServers" has to be an object: names, and a server for each; nothing of this file is used`, false)
		return r.file
	}
	seen := map[string]bool{}
	for _, m := range servers.members {
		if seen[m.name] {
			r.report(m.at, fmt.Sprintf("%q stands here a second time; the first one counts", printable.Short(m.name)), false)
			continue
		}
		seen[m.name] = true
		r.addServer(m)
	}
	return r.file
}

// reader reads one file.
type reader struct {
	origin Origin
	data   []byte
	file   File
}

// report notes what is wrong at a place of the file.
func (r *reader) report(offset int, text string, warning bool) {
	r.file.Problems = append(r.file.Problems, config.Problem{File: r.origin.Path, Line: lineOf(r.data, offset), Text: text, Warning: warning})
}

// addServer reads one entry, and adds it if it can be used.
func (r *reader) addServer(m member) {
	if err := mcp.CheckName(m.name); err != nil {
		r.report(m.at, err.Error()+"; it is left out", false)
		return
	}
	e := entryReader{reader: r, name: m.name, expand: newExpander(r.origin)}
	s, ok := e.read(m)
	if ok {
		r.file.Servers = append(r.file.Servers, s)
	}
}
