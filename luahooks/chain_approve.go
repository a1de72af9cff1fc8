package luahooks

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"pi/agent"
	"pi/internal/printable"
	"pi/luahooks/trust"
)

// What a person says to files that wait for approval.

// Pending lists the files of the chain that wait for approval.
func (c *Chain) Pending() []trust.Pending { return c.guard.ShowPending() }

// Approve puts what waits under a name, a path or the end of one in force, as it
// was when [Chain.Pending] listed it last, and loads what is made of it.
func (c *Chain) Approve(ctx context.Context, name string) error {
	path, err := c.findPending(name)
	if err != nil {
		return err
	}
	return c.reloadApproved(ctx, c.guard.Accept(path))
}

func (c *Chain) reloadApproved(ctx context.Context, err error) error {
	if err == nil {
		c.Reload(ctx, false)
	}
	return err
}

// ApproveShown is Approve for exactly what p describes: a person answered a
// question about it, while others may have listed what waits.
func (c *Chain) ApproveShown(ctx context.Context, p trust.Pending) error {
	if _, err := c.findPending(p.Path); err != nil {
		return err
	}
	return c.reloadApproved(ctx, c.guard.AcceptExactly(&p))
}

func (c *Chain) findPending(name string) (path string, err error) {
	var found, all []string
	list := c.guard.ListPending()
	for _, p := range list {
		all = append(all, p.Name)
		switch {
		case p.Path == name:
			return p.Path, nil
		case p.Name == name, c.dir.shown(p.Path) == name, strings.HasSuffix(p.Path, string(filepath.Separator)+name):
			found = append(found, p.Path)
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return "", fmt.Errorf("%q may be %s: give the path", name, strings.Join(found, " or "))
	case len(all) == 0:
		return "", errors.New("nothing waits for approval")
	}
	return "", fmt.Errorf("%q does not wait for approval; there are %s", name, strings.Join(all, ", "))
}

// askEdits asks the person about changes that are held, all of them at once, and
// does not wait for the answer.
func (c *Chain) askEdits(ctx context.Context, list []*trust.Pending) {
	ui := c.audience.person()
	if ui == nil {
		for _, p := range list {
			c.audience.notify(ctx, agent.LevelWarning, fmt.Sprintf("%s was %s and is not approved: %s", printable.VisibleLine(c.dir.shown(p.Path)), p.Change, p.Effect()))
		}
		return
	}
	c.guard.NoteAsking(list, true)
	began := c.behind.run(func() {
		ctx, cancel := c.behind.detach(ctx)
		defer cancel()
		yes, err := ui.Confirm(ctx, c.editTitle(list), editText(list), agent.DialogOptions{})
		c.guard.NoteAsking(list, false)
		if err == nil {
			c.answered(ctx, list, yes)
		}
	})
	if !began {
		c.guard.NoteAsking(list, false)
	}
}

func (c *Chain) editTitle(list []*trust.Pending) string {
	var names []string
	for _, p := range list {
		names = append(names, printable.VisibleLine(c.dir.shown(p.Path))+" was "+p.Change)
	}
	return strings.Join(names, ", ") + ". Run it like this from now on?"
}

func editText(list []*trust.Pending) string {
	var b strings.Builder
	for _, p := range list {
		b.WriteString(p.Diff)
	}
	return b.String()
}

// answered carries out what the person said to list.
func (c *Chain) answered(ctx context.Context, list []*trust.Pending, yes bool) {
	for _, p := range list {
		if !yes {
			c.audience.notify(ctx, agent.LevelInfo, fmt.Sprintf("%s: %s; /hooks approve %s asks again", printable.VisibleLine(c.dir.shown(p.Path)), p.Effect(), printable.VisibleLine(p.Name)))
			continue
		}
		if err := c.guard.AcceptExactly(p); err != nil && !errors.Is(err, trust.ErrChangedAgain) {
			c.audience.notify(ctx, agent.LevelError, err.Error())
		}
	}
	// This asks again about what changed meanwhile. A file that is being saved at
	// this moment may be empty; only one that was shown so is sure to be.
	sure := slices.ContainsFunc(list, (*trust.Pending).IsGoneOrEmpty)
	fresh, _ := c.update(ctx, false, sure)
	c.welcome(ctx, fresh)
}
