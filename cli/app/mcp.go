package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"pi/agent/mcp"
	"pi/agent/provider"
	"pi/cli/config"
	"pi/cli/mcpfile"
	"pi/cli/mcplogin"
	"pi/cli/providers"
	"pi/internal/printable"
	"pi/luahooks/trust"
)

// MCPServers are the servers that are configured in a place.
type MCPServers struct {
	Entries  []mcp.Entry // that may be used; some say why they cannot be started
	Problems []config.Problem
	// Project are the files of the project that decide about its servers. Those that are not
	// approved have no effect.
	Project []trust.ProjectFile
}

// Unapproved are the files of the project without an approval.
func (s MCPServers) Unapproved() []trust.ProjectFile {
	return slices.DeleteFunc(slices.Clone(s.Project), func(f trust.ProjectFile) bool { return f.Approved })
}

// MCPServers reads which servers the user and the project have configured, as far as that is in
// force and approved, and puts those of a client before others of their name. Nobody is asked, and
// nothing is started.
func (p *Place) MCPServers(client []mcp.Entry) MCPServers {
	var s MCPServers
	var user, project mcpfile.File
	if !p.NoMCP && p.Config.MCP.Enabled {
		user = p.userServers()
		if !p.Hooks.NoApprove && !p.Guard.IsRefused() {
			project, s.Project = p.projectServers(p.Guard.Current)
		}
	}
	s.Problems = append(user.Problems, project.Problems...)
	project.Servers = slices.DeleteFunc(project.Servers, func(mcpfile.Server) bool { return len(s.Project) == 0 || !s.Project[0].Approved })
	p.withholdChanged(&project, s.Project)
	var merging []config.Problem
	s.Entries, merging = mcpfile.Merge(user, project, client)
	s.Problems = append(s.Problems, merging...)
	return s
}

// ServersAtStart is MCPServers when a run begins, which is what --approve is about: what comes or
// changes while it runs is approved like everything else.
func (p *Place) ServersAtStart(client []mcp.Entry) MCPServers {
	s := p.MCPServers(client)
	if !p.Hooks.Approve || len(s.Unapproved()) == 0 {
		return s
	}
	p.Guard.ApproveRun(s.Project)
	return p.MCPServers(client)
}

// userServers reads the user's mcp.json as it is in force.
func (p *Place) userServers() mcpfile.File {
	path := mcpfile.UserFile(p.AgentDir)
	v := p.Guard.Current(path)
	switch {
	case !v.Exists() && v.Code == nil:
		return mcpfile.File{}
	case v.Others != "":
		return mcpfile.File{Problems: []config.Problem{{File: path, Text: v.Others + ", so nothing of it is used; `chmod go-w` mends that", Unread: true}}}
	case v.Err != nil || v.Code == nil:
		return mcpfile.File{Problems: []config.Problem{{File: path, Text: "cannot be read, or what was in force is lost; `pi trust` shows what waits", Unread: true}}}
	}
	o := p.originOf(mcp.FromUser, path)
	o.Run = func(ctx context.Context, command string) (string, error) { return p.Keys.Resolve(ctx, "!"+command) }
	return mcpfile.Parse(v.Code, o)
}

// projectServers reads the file of the project, whether it is approved or not, and describes what
// an approval covers: that file first.
func (p *Place) projectServers(read func(path string) trust.Version) (mcpfile.File, []trust.ProjectFile) {
	naming := mcpfile.ProjectFiles(p.Cwd)
	p.Guard.NoteServers(naming, nil)
	for _, path := range naming {
		v := read(path)
		if !v.Exists() {
			continue
		}
		file := mcpfile.Parse(v.Code, p.originOf(mcp.FromProject, path))
		programs := file.Files(p.Cwd)
		p.Guard.NoteServers(nil, programs)
		for _, program := range programs {
			read(program)
		}
		files := p.Guard.Describe(append([]string{path}, programs...))
		if len(files) == 0 {
			return file, nil
		}
		for _, s := range file.Servers {
			files[0].Servers = append(files[0].Servers, s.Rows()...)
		}
		if len(file.Servers) == 0 {
			files[0].Servers = []string{"no server that can be used"}
		}
		for i := range files {
			files[i].Program = i > 0
		}
		return file, files
	}
	return mcpfile.File{}, nil
}

// withholdChanged lets no server start that is made of a file which is not approved as it is, now
// or whenever it is started: tools may change the file meanwhile, and no copy of it is run.
func (p *Place) withholdChanged(project *mcpfile.File, files []trust.ProjectFile) {
	approved := map[string]bool{}
	for _, f := range files {
		approved[f.Path] = f.Approved
	}
	for i := range project.Servers {
		s := &project.Servers[i]
		s.Problem = cmp.Or(s.Problem, s.Unapproved(p.Cwd, func(path string) bool { return approved[path] }))
		s.Check = func() error { return s.Unapproved(p.Cwd, p.isApprovedNow) }
	}
}

// isApprovedNow reports whether a file of the project is approved as it is on the disk, which may be
// long after it was read first: servers are started when they are needed.
func (p *Place) isApprovedNow(path string) bool {
	return !p.Guard.IsPending(path) && p.Guard.MayStart(path)
}

// originOf is what the entries of a file refer to.
func (p *Place) originOf(kind mcp.SourceKind, path string) mcpfile.Origin {
	return mcpfile.Origin{Kind: kind, Path: path, Base: p.Cwd, Workspace: p.Cwd, Home: p.Env.home(), Getenv: p.Env.getenv,
		Keys: providers.KeyVariables(p.Config)}
}

// serverFiles are the files that decide which servers the project has, and those that they are made
// of, for the watch over what tools do.
func (p *Place) serverFiles() (naming, programs []string) {
	naming = mcpfile.ProjectFiles(p.Cwd)
	_, files := p.projectServers(p.Guard.Read)
	for _, f := range files {
		if f.Program {
			programs = append(programs, f.Path)
		}
	}
	return naming, programs
}

// ProjectFiles are the files of the project that an approval covers: hooks with their modules, and
// what decides about MCP servers.
func (p *Place) ProjectFiles() []trust.ProjectFile {
	_, servers := p.projectServers(p.Guard.Read)
	return append(p.Guard.ProjectFiles(p.Places()), servers...)
}

// loadServers reads the servers of a run, and asks the user about those of the project that are not
// approved. The error is that of --require-hooks.
func (r *run) loadServers(ctx context.Context) error {
	p := r.place
	if r.script != nil { // what is configured here is no business of a test
		if p.Config.MCP.Enabled {
			r.servers.Entries = r.script.Servers
		}
		return nil
	}
	s := p.ServersAtStart(r.client)
	if len(s.Unapproved()) > 0 {
		var user *User
		if p.Attended() {
			at := r.startUser()
			user = &at
		}
		s = r.askServers(ctx, user, s)
	}
	for _, problem := range s.Problems {
		r.later.warn(config.Tilde(problem.File) + strings.TrimPrefix(problem.String(), problem.File))
	}
	r.servers = s
	return p.reportUnapproved(s.Unapproved(), &r.later)
}

// askServers has hooks of the user, or else the user, decide about servers of the project that are
// not approved. user is nil where nobody is. It returns the servers as they are then.
func (r *run) askServers(ctx context.Context, user *User, s MCPServers) MCPServers {
	if !r.chain.AskTrust(ctx, s.Project) && (user == nil || !user.approveServers(ctx, r.place, s.Project)) {
		return s
	}
	return r.place.MCPServers(r.client)
}

// approveServers asks about the servers of the project, and reports whether something is approved
// now that was not.
func (u User) approveServers(ctx context.Context, p *Place, files []trust.ProjectFile) bool {
	switch u.AskProject(ctx, trust.Question{Project: p.Cwd, Files: files}) {
	case trust.AnswerOnce:
		p.Guard.ApproveRun(files)
		return true
	case trust.AnswerAlways:
		if err := p.Guard.ApproveAlways(files); err != nil {
			fmt.Fprintln(u.Out, printable.Text("the approval holds for this run only: "+err.Error()))
		}
		return true
	case trust.AnswerNever:
		if err := p.Guard.Refuse(); err != nil {
			fmt.Fprintln(u.Out, printable.Text(err.Error()))
		}
	}
	return false
}

// reportUnapproved leaves a warning about servers of the project that are not used because nobody
// approved them, unless the user has decided so. With --require-hooks it is an error.
func (p *Place) reportUnapproved(files []trust.ProjectFile, later *messages) error {
	if len(files) == 0 {
		return nil
	}
	var names []string
	for _, f := range files {
		names = append(names, config.InProject(p.Cwd, f.Path))
	}
	text := "MCP servers of this project not used, not approved: " + printable.VisibleLine(strings.Join(names, ", "))
	if p.Hooks.Require {
		return &UntrustedError{Text: text}
	}
	if !p.Guard.Store().IsRefused(p.Cwd) {
		later.warn(text + "; `pi trust` shows and approves them, --approve uses them this once")
	}
	return nil
}

// CheckServer returns an error if a server in the text of a file could not be used.
func (p *Place) CheckServer(text []byte, name string, kind mcp.SourceKind, path string) error {
	o := p.originOf(kind, path)
	if kind == mcp.FromUser {
		o.Run = func(context.Context, string) (string, error) { return "", nil } // it is not asked
	}
	file := mcpfile.Parse(text, o)
	if slices.ContainsFunc(file.Servers, func(s mcpfile.Server) bool { return s.Name == name }) {
		return nil
	}
	var wrong []string
	for _, problem := range file.Problems {
		if !problem.Warning && strings.Contains(problem.Text, fmt.Sprintf("%q", name)) {
			wrong = append(wrong, problem.Text)
		}
	}
	return errors.New(strings.Join(wrong, "; "))
}

// Logins are the logins to servers, and what signs the requests to them.
func (p *Place) Logins(command string) *mcplogin.Logins {
	return mcplogin.New(mcplogin.Options{AgentDir: p.AgentDir, HTTP: provider.NewClient().Transport, Command: command})
}
