package app

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"pi/agent/command"
	"pi/agent/definitions"
	"pi/agent/mcp"
	"pi/cli/config"
	"pi/internal/printable"
	"pi/luahooks/api"
	"pi/luahooks/trust"
)

// Agents are files: what the user, hooks and the project have of them is read when somebody asks
// for one, in the versions that are in force.

// definitions are the agents that hooks of the run can use by their names. A child has those of the
// user's own session, whatever directory it works in.
func (r *run) definitions(ctx context.Context) definitions.Set {
	root := r.root()
	return definitions.New(root.definitionFiles(ctx), definitions.Checks{
		Tools: append(root.chain.ToolNames(), mcp.ToolName),
		Model: func(ref string) error {
			_, _, err := root.models.Match(ref)
			return err
		},
	})
}

// definitionFiles are the files that define agents: those of the user, those that hooks and packages
// bring, and those of the project with its packages.
func (r *run) definitionFiles(ctx context.Context) []definitions.File {
	p := r.place
	if r.chain == nil {
		return nil
	}
	owners, out := r.noteAgentFolders(), p.outOfProject()
	var own, ofProject []definitions.File
	for _, f := range r.chain.Agents(ctx, false) {
		if file := p.definitionFile(f, owners, out); f.Scope == trust.ScopeProject {
			ofProject = append(ofProject, file)
		} else {
			own = append(own, file)
		}
	}
	for _, text := range p.packageAgents() {
		if file := p.definitionInPackage(text); text.Package.OfProject {
			ofProject = append(ofProject, file)
		} else {
			own = append(own, file)
		}
	}
	return append(own, ofProject...)
}

// packageAgents are the agents of the packages in force, none where hooks are left out.
func (p *Place) packageAgents() []PackageText {
	if p.Hooks.None {
		return nil
	}
	return p.PackageAgents()
}

// definitionInPackage is a file of a package, as definitions are read from it.
func (p *Place) definitionInPackage(text PackageText) definitions.File {
	d := definitions.File{Path: text.Path, Shown: printable.VisibleLine(config.InProject(p.Cwd, text.Path)), Text: string(text.Code),
		Owner: text.Package.Label, From: "package " + text.Package.Label}
	if text.Err != nil {
		d.Text, d.Err = "", text.Err // it says which file that is
	}
	return d
}

// definitionFile is a file that defines an agent, as definitions are read from it. out is why nothing
// of the project counts; nil: it does.
func (p *Place) definitionFile(f trust.AgentFile, owners map[string]string, out error) definitions.File {
	shown := printable.VisibleLine(config.InProject(p.Cwd, f.Path))
	d := definitions.File{Path: f.Path, Shown: shown, Text: string(f.Code), Err: f.Err, From: "yours"}
	switch owner := owners[filepath.Dir(f.Path)]; {
	case f.Scope == trust.ScopeProject:
		d.Owner, d.From = definitions.Project, "project"
		if out != nil {
			d.Err = out
		}
	case owner != "":
		d.Owner, d.From = owner, "hook "+owner
	}
	if d.Err != nil {
		d.Text, d.Err = "", fmt.Errorf("%s: %w", shown, d.Err)
	}
	return d
}

// outOfProject is why nothing that the project brings counts; nil: what is approved does.
func (p *Place) outOfProject() error {
	switch {
	case p.Hooks.NoApprove:
		return errors.New("it is left out: --no-approve")
	case p.Guard.IsRefused():
		return errors.New("it is left out: you said that nothing of this project is to run; `pi trust` asks again")
	}
	return nil
}

// noteAgentFolders has the folders of agents that hooks bring looked at like those of the user, and
// returns the hook of each. One that is there already stays what it is.
func (r *run) noteAgentFolders() (owners map[string]string) {
	owners = map[string]string{}
	found, hooks := r.chain.Resources()
	for i, f := range found {
		if f.Agents != "" {
			r.place.Guard.NoteAgents(f.Agents, trust.ScopeGlobal)
			owners[f.Agents] = hooks[i]
		}
	}
	delete(owners, filepath.Join(r.place.AgentDir, "agents")) // it stays the user's
	return owners
}

// inUse are the agents of the run as /agents shows them.
func (r *run) inUse() *command.Agents {
	return &command.Agents{Working: r.family.Children, Defined: r.definitions}
}

// withDefinition fills in what a hook leaves to the definition of the agent that it wants. mayHave
// reports which tools the definition leaves to it.
func (r *run) withDefinition(ctx context.Context, request api.AgentRequest) (filled api.AgentRequest, mayHave func(tool string) bool, err error) {
	if request.Agent == "" {
		return request, func(string) bool { return true }, nil
	}
	d, err := r.definitions(ctx).Find(request.Agent)
	if err != nil {
		return request, nil, err
	}
	for at, text := range map[*string]string{&request.Name: d.Name, &request.SystemPrompt: d.Role, &request.Model: d.Model, &request.Thinking: d.Thinking} {
		if *at == "" {
			*at = text
		}
	}
	if d.MaxTurns > 0 && (request.MaxTurns == 0 || d.MaxTurns < request.MaxTurns) {
		request.MaxTurns = d.MaxTurns
	}
	if d.MaxCost > 0 && (request.MaxCost == 0 || d.MaxCost < request.MaxCost) {
		request.MaxCost = d.MaxCost
	}
	return request, d.MayHave, nil
}

// agentDoes says what a file defines, for the question whether it counts.
func agentDoes(f trust.ProjectFile) string {
	d := definitions.New([]definitions.File{{Path: f.Path, Shown: filepath.Base(f.Path), Text: string(f.Code)}}, definitions.Checks{}).All[0]
	text := "agent " + d.Name
	switch {
	case !d.HasTools:
		text += ", all tools"
	case len(d.Tools) == 0:
		text += ", no tools"
	default:
		text += ", tools " + strings.Join(d.Tools, ", ")
	}
	if d.Model != "" {
		text += ", model " + d.Model
	}
	return printable.VisibleLine(text)
}

// reportAgents leaves a warning about agents of the project that are not used because nobody approved
// them, unless the user has decided so. With --require-hooks it is an error.
func (r *run) reportAgents(ctx context.Context) error {
	p := r.place
	if p.Hooks.None || p.outOfProject() != nil {
		return nil
	}
	var names []string
	for _, f := range r.chain.Agents(ctx, false) {
		if f.Scope == trust.ScopeProject && errors.Is(f.Err, trust.ErrNotApproved) && !p.Guard.IsPending(f.Path) {
			names = append(names, config.InProject(p.Cwd, f.Path))
		}
	}
	if len(names) == 0 {
		return nil
	}
	slices.Sort(names)
	text := fmt.Sprintf("%s of this project not used, not approved: %s", printable.Count(len(names), "agent"), printable.VisibleLine(strings.Join(names, ", ")))
	if p.Hooks.Require {
		return &UntrustedError{Text: text}
	}
	r.later.warn(text + "; `pi trust` shows and approves them, --approve uses them this once")
	return nil
}
