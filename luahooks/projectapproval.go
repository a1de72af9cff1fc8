package luahooks

import (
	"context"
	"fmt"
	"slices"

	"pi/agent"
	"pi/internal/printable"
	"pi/luahooks/trust"
)

// projectApproval decides whether hooks of the project may run.
type projectApproval struct {
	guard    *trust.Guard
	places   *trust.Places
	events   *dispatcher
	audience *audience
	approve  bool // they run as they are now
	// ask asks whether hooks of the project may run; nil: nobody is asked.
	ask func(context.Context, trust.Question) trust.Answer
	// fetch brings packages that the project names; nil: nobody can.
	fetch func(context.Context, []trust.TeamPackage) error
}

// decide finds out which files of the project may run, before any of them
// does: flags first, then what the store says, then hooks that are not of the
// project, then the user. It reports whether anything of the project may. While a package is
// not here that the project names and that may run, nothing may.
func (p *projectApproval) decide(ctx context.Context) bool {
	if !p.mayRun(ctx) {
		return false
	}
	named, wants, err := p.guard.Team(*p.places)
	switch {
	case len(named) == 0 || err != nil || !p.guard.MayUseTeam():
		return true
	case len(wants) == 0:
		return true
	case p.ask != nil && !p.approve: // the user, or a hook in their place, agreed to these bytes
		err = p.fetchTeam(ctx)
	default:
		err = fmt.Errorf("package %s of this project is not here: `pi trust` fetches it", printable.VisibleLine(wants[0].Name))
	}
	return p.tellWaiting(ctx, err)
}

// fetchTeam brings the packages that the project names and that are not here.
func (p *projectApproval) fetchTeam(ctx context.Context) error {
	_, wants, err := p.guard.Team(*p.places)
	if err != nil {
		return err
	}
	return fetchAll(ctx, p.fetch, wants)
}

// fetchAll brings packages by fetch, which may be nil.
func fetchAll(ctx context.Context, fetch func(context.Context, []trust.TeamPackage) error, wants []trust.TeamPackage) error {
	switch {
	case len(wants) == 0:
		return nil
	case fetch == nil:
		return fmt.Errorf("package %s is not here, and nothing is fetched in this run", printable.VisibleLine(wants[0].Name))
	}
	return fetch(ctx, wants)
}

// tellWaiting tells the user that the hooks of the project wait, unless err is nil, and returns whether
// it is.
func (p *projectApproval) tellWaiting(ctx context.Context, err error) bool {
	if err != nil {
		p.audience.notify(ctx, agent.LevelError, "the hooks of this project wait: "+err.Error())
	}
	return err == nil
}

// mayRun is decide, but for packages that are not here.
func (p *projectApproval) mayRun(ctx context.Context) bool {
	g := p.guard
	files := g.ProjectFiles(*p.places)
	switch {
	case p.approve:
		g.ApproveRun(files)
		return true
	case g.IsRefused():
		return false
	case !slices.ContainsFunc(files, func(f trust.ProjectFile) bool { return !f.Approved }):
		return true
	case p.places.NoProject:
		return false
	}
	if decided, yes := p.askHooks(ctx, files); decided {
		return yes
	}
	if p.ask == nil {
		return g.HasApprovals()
	}
	answer := p.ask(ctx, trust.Question{Project: p.places.Cwd, Files: files})
	if (answer == trust.AnswerOnce || answer == trust.AnswerAlways) && !p.tellWaiting(ctx, p.fetchTeam(ctx)) {
		return false
	}
	switch answer {
	case trust.AnswerOnce:
		g.ApproveRun(files)
	case trust.AnswerAlways:
		if err := g.ApproveAlways(files); err != nil {
			p.audience.notify(ctx, agent.LevelError, "the approval holds for this run only: "+err.Error())
		}
	case trust.AnswerNever:
		if err := g.Refuse(); err != nil {
			p.audience.notify(ctx, agent.LevelError, err.Error())
		}
		return false
	}
	return g.HasApprovals()
}

// askHooks asks the handlers of project_trust, which only the user's own hooks have, and
// approves for this run what they trust. decided is false if none had an opinion; yes says
// whether anything of the project may run.
func (p *projectApproval) askHooks(ctx context.Context, files []trust.ProjectFile) (decided, yes bool) {
	if !p.events.Wants(agent.KindProjectTrust) {
		return false, false
	}
	e := &agent.ProjectTrust{Cwd: p.places.Cwd}
	for _, f := range files {
		e.Files = append(e.Files, agent.TrustFile{Path: f.Path, SHA256: f.SHA256, Size: f.Size, Kind: kindOf(f), Servers: f.Servers, Packages: f.Packages})
	}
	if err := p.events.Handle(ctx, e); err != nil || e.Refused {
		return true, false
	}
	if e.Trusted == nil {
		return false, false
	}
	accepted := slices.DeleteFunc(slices.Clone(files), func(f trust.ProjectFile) bool { return !e.Trusted[f.SHA256] })
	if e.Remember && len(accepted) > 0 {
		p.remember(ctx, accepted, e.By)
	} else {
		p.guard.ApproveRun(accepted)
	}
	return true, p.guard.HasApprovals()
}

// remember approves for later runs too what a hook has accepted, and tells of it.
func (p *projectApproval) remember(ctx context.Context, accepted []trust.ProjectFile, hook string) {
	if err := p.guard.ApproveAlwaysBy(accepted, hook); err != nil {
		p.guard.ApproveRun(accepted)
		p.audience.notify(ctx, agent.LevelError, fmt.Sprintf("what hook %s trusts of this project holds for this run only: %v", hook, err))
		return
	}
	p.audience.notify(ctx, agent.LevelInfo, fmt.Sprintf("hook %s trusts %s of this project from now on: `pi trust --list` shows them, `pi trust --revoke` takes it back",
		hook, printable.Count(len(accepted), "file")))
}

// kindOf is what a file of a project is, for hooks.
func kindOf(f trust.ProjectFile) agent.TrustKind {
	switch {
	case f.Entries:
		return agent.TrustEntries
	case f.Program:
		return agent.TrustProgram
	case f.Agent:
		return agent.TrustAgent
	case len(f.Servers) > 0:
		return agent.TrustServers
	case len(f.Packages) > 0:
		return agent.TrustPackages
	}
	return agent.TrustHook
}

// errUnapproved is why a version of a file does not run; path is how it is shown, project
// another one that it belongs to.
func errUnapproved(path string, v trust.Version, project string) error {
	others := ""
	switch {
	case v.Others != "":
		others = ", and " + printable.VisibleLine(v.Others)
	case project != "":
		others = ", and belongs to the project " + printable.VisibleLine(project)
	}
	return fmt.Errorf("%s is %w%s: `pi trust` shows and approves it", printable.VisibleLine(path), trust.ErrNotApproved, others)
}
