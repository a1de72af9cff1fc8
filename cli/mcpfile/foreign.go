package mcpfile

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"pi/agent/mcp"
	"pi/internal/printable"
	"pi/internal/safefile"
)

// ForeignPlaces say where other programs keep what they have configured.
type ForeignPlaces struct {
	Home    string
	Cwd     string
	Configs string // where programs of the user keep settings: ~/.config, ~/Library/Application Support, %APPDATA%
	Codex   string // "": .codex in Home
}

// Found is a server that another program has configured.
type Found struct {
	Name    string // as it can be here
	Path    string // of the file
	Line    string // command or address, with … for secrets
	Rows    []string
	Entry   New
	Problem string // why it cannot be taken; "": it can
}

// maxForeign bounds files of other programs, some of which keep whole histories in them.
const maxForeign = 64 << 20

// Foreign lists the servers that other programs have configured for the user and for this
// directory. What cannot be read is left out: nothing of it is ours to judge.
func Foreign(p ForeignPlaces) (found []Found) {
	if p.Codex == "" {
		p.Codex = filepath.Join(p.Home, ".codex")
	}
	for _, source := range []struct {
		path string
		of   string // the directory that its servers belong to; "": the user
		read func(data []byte, p ForeignPlaces) map[string]json.RawMessage
	}{
		{filepath.Join(p.Home, ".claude.json"), "", serversOfClaude},
		{filepath.Join(p.Cwd, ".mcp.json"), p.Cwd, serversOf("mcpServers")},
		{filepath.Join(p.Home, ".cursor", "mcp.json"), "", serversOf("mcpServers")},
		{filepath.Join(p.Cwd, ".vscode", "mcp.json"), p.Cwd, serversOf("servers")},
		{filepath.Join(p.Configs, "Code", "User", "mcp.json"), "", serversOf("servers")},
		{filepath.Join(p.Codex, "config.toml"), "", serversOfCodex},
	} {
		data, err := safefile.Read(source.path, maxForeign)
		if err != nil {
			if !errors.Is(err, fs.ErrNotExist) {
				found = append(found, Found{Name: filepath.Base(source.path), Path: source.path, Problem: "the file cannot be read"})
			}
			continue
		}
		servers := source.read(data, p)
		for _, name := range slices.Sorted(maps.Keys(servers)) {
			f := foundServer(name, source.path, servers[name])
			if source.of != "" && f.Entry.Command != "" {
				f.Entry = f.Entry.in(source.of)
				f.Rows = append(f.Rows, "in "+f.Entry.Cwd)
			}
			found = append(found, f)
		}
	}
	return found
}

// serversOf reads files in which servers stand below a name. Comments may stand in them.
func serversOf(group string) func([]byte, ForeignPlaces) map[string]json.RawMessage {
	return func(data []byte, _ ForeignPlaces) map[string]json.RawMessage {
		var file map[string]json.RawMessage
		var servers map[string]json.RawMessage
		if json.Unmarshal(withoutComments(data), &file) == nil {
			_ = json.Unmarshal(file[group], &servers) // of another kind there are none
		}
		return servers
	}
}

// serversOfClaude reads those of the user and of this directory.
func serversOfClaude(data []byte, p ForeignPlaces) map[string]json.RawMessage {
	type group struct {
		Servers map[string]json.RawMessage `json:"mcpServers"`
	}
	var file struct {
		group
		Projects map[string]group `json:"projects"`
	}
	if json.Unmarshal(data, &file) != nil {
		return nil
	}
	all := map[string]json.RawMessage{}
	maps.Copy(all, file.Servers)
	maps.Copy(all, file.Projects[p.Cwd].Servers)
	return all
}

// foundServer makes an entry of what another program has.
func foundServer(name, path string, raw json.RawMessage) Found {
	f := Found{Name: mcp.CleanName(name), Path: path}
	text := slices.Concat([]byte(`{"mcpServers": {`), encoded(f.Name), []byte(": "), raw, []byte("}}"))
	ran := false
	file := Parse(text, Origin{Kind: mcp.FromUser, Base: "/", Workspace: "/", Getenv: func(string) string { return "" }})
	for _, problem := range file.Problems {
		said := strings.TrimPrefix(strings.TrimPrefix(problem.Text, fmt.Sprintf("server %q", f.Name)), " is left out")
		said = strings.TrimPrefix(said, ": ")
		if problem.Warning {
			f.Rows = append(f.Rows, said)
			continue
		}
		if f.Problem == "" {
			f.Problem = said
		}
		ran = ran || strings.Contains(problem.Text, `"!" runs a command`)
	}
	if ran {
		f.Problem = `a value begins with !, which would run a command here`
	}
	if len(file.Servers) == 0 {
		f.Problem = printable.Line(f.Problem)
		return f
	}
	s := file.Servers[0]
	f.Entry = s.asNew()
	words := mcp.Entry{Command: s.written.command, Args: s.written.args, URL: s.written.url}
	f.Line = Line(&words)
	for _, v := range s.written.env {
		f.Rows = append(f.Rows, "gets "+v.name+"="+covered(v.value))
	}
	for _, v := range s.written.headers {
		f.Rows = append(f.Rows, "sends "+v.name+": "+covered(v.value))
	}
	if f.Name != name {
		f.Rows = append(f.Rows, fmt.Sprintf("is called %q there", printable.Short(printable.Line(name))))
	}
	return f
}

// in is a server that belongs to a directory: where it runs, and what its entry names, is there
// wherever the user is. Else the same words would start the program of somebody else.
func (n New) in(dir string) New {
	at := func(text string) string { return strings.ReplaceAll(text, "${workspaceFolder}", dir) }
	n.Command, n.Cwd, n.Args = at(n.Command), inDir(dir, at(n.Cwd)), slices.Clone(n.Args)
	if filepath.Base(n.Command) != n.Command && !strings.HasPrefix(n.Command, "~") && !strings.HasPrefix(n.Command, "${") {
		n.Command = inDir(dir, n.Command)
	}
	for i := range n.Args {
		n.Args[i] = at(n.Args[i])
	}
	for name, value := range n.Env {
		n.Env[name] = at(value)
	}
	return n
}

// covered is a value as it may be shown: where a secret is, not the secret.
func covered(value string) string {
	if isVariablesOnly(value) {
		return value
	}
	return "…"
}

// asNew is a server as it is written into a file, with nothing filled in.
func (s Server) asNew() New {
	n := New{Command: s.written.command, Args: s.written.args, Cwd: s.written.cwd, URL: s.written.url, Description: s.Description, Timeout: s.Timeout.Seconds(),
		Env: map[string]string{}, Headers: map[string]string{}, Tools: map[string]string{}}
	if s.written.url != "" {
		n.Type = "http"
	}
	for _, v := range s.written.env {
		n.Env[v.name] = v.value
	}
	for _, v := range s.written.headers {
		n.Headers[v.name] = v.value
	}
	for pattern, x := range s.Tools {
		n.Tools[pattern] = string(x)
	}
	if s.Disabled {
		n.Enabled = new(bool)
	}
	return n
}

// withoutComments returns a text of JSON in which blanks stand for comments, and for commas
// behind the last of a list.
func withoutComments(data []byte) []byte {
	out := slices.Clone(data)
	blank := func(from, to int) {
		for i := from; i < to && i < len(out); i++ {
			if out[i] != '\n' {
				out[i] = ' '
			}
		}
	}
	comma := -1 // a comma behind which there was nothing yet
	for i := 0; i < len(out); i++ {
		switch c := out[i]; {
		case c == '"':
			comma = -1
			for i++; i < len(out) && out[i] != '"'; i++ {
				if out[i] == '\\' {
					i++
				}
			}
		case c == '/' && i+1 < len(out) && out[i+1] == '/':
			end := i
			for end < len(out) && out[end] != '\n' {
				end++
			}
			blank(i, end)
		case c == '/' && i+1 < len(out) && out[i+1] == '*':
			end := len(out)
			if n := strings.Index(string(out[i+2:]), "*/"); n >= 0 {
				end = i + 2 + n + 2
			}
			blank(i, end)
			i = end - 1
		case c == ',':
			comma = i
		case c == '}' || c == ']':
			if comma >= 0 {
				out[comma] = ' '
			}
			comma = -1
		case c != ' ' && c != '\t' && c != '\r' && c != '\n':
			comma = -1
		}
	}
	return out
}
