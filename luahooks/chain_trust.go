package luahooks

import (
	"context"
	"fmt"
	"slices"

	"pi/agent"
	"pi/internal/printable"
	"pi/luahooks/trust"
)

// Whether hooks of the project may run: who decides that, in which order.

// decideProject finds out which files of the project may run, before any of them
// does: flags first, then what the store says, then hooks that are not of the
// project, then the person. It reports whether anything of the project may.
func (c *Chain) decideProject(ctx context.Context) bool {
	g := c.guard
	files := g.ProjectFiles(c.opts.Places)
	switch {
	case c.opts.ApproveProject:
		g.ApproveRun(files)
		return true
	case g.IsRefused():
		return false
	case allApproved(files):
		return true
	}
	if decided, yes := c.askTrustHooks(ctx, files); decided {
		return yes
	}
	if c.opts.AskProject == nil {
		return g.HasApprovals()
	}
	switch c.opts.AskProject(ctx, trust.Question{Project: c.opts.Places.Cwd, Files: files}) {
	case trust.AnswerOnce:
		g.ApproveRun(files)
	case trust.AnswerAlways:
		if err := g.ApproveAlways(files); err != nil {
			c.audience.notify(ctx, agent.LevelError, "the approval holds for this run only: "+err.Error())
		}
	case trust.AnswerNever:
		if err := g.Refuse(); err != nil {
			c.audience.notify(ctx, agent.LevelError, err.Error())
		}
		return false
	}
	return g.HasApprovals()
}

// askTrustHooks asks the hooks that do not come from the project.
func (c *Chain) askTrustHooks(ctx context.Context, files []trust.ProjectFile) (decided, yes bool) {
	if !c.Wants(agent.KindProjectTrust) {
		return false, false
	}
	e := &agent.ProjectTrust{Cwd: c.opts.Places.Cwd}
	for _, f := range files {
		e.Files = append(e.Files, agent.TrustFile{Path: f.Path, SHA256: f.SHA256, Size: f.Size})
	}
	if err := c.Handle(ctx, e); err != nil || e.Refused {
		return true, false
	}
	if e.Trusted == nil {
		return false, false
	}
	accepted := slices.DeleteFunc(slices.Clone(files), func(f trust.ProjectFile) bool { return !e.Trusted[f.SHA256] })
	c.guard.ApproveRun(accepted)
	return true, c.guard.HasApprovals()
}

func allApproved(files []trust.ProjectFile) bool {
	return !slices.ContainsFunc(files, func(f trust.ProjectFile) bool { return !f.Approved })
}

// errUnapproved is why a version of a file does not run.
func (c *Chain) errUnapproved(path string, v trust.Version) error {
	if v.Others != "" {
		return fmt.Errorf("%s is %w, and %s: `pi trust` shows and approves it", printable.VisibleLine(c.dir.shown(path)), trust.ErrNotApproved, printable.VisibleLine(v.Others))
	}
	return fmt.Errorf("%s is %w: `pi trust` shows and approves it", printable.VisibleLine(c.dir.shown(path)), trust.ErrNotApproved)
}
