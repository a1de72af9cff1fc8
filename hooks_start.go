package main

import (
	"context"
	"fmt"
	"os"

	"pi/agent"
	"pi/cli/config"
)

// beforeSession lets hooks have their say while there is no session yet.
func (r *run) beforeSession(ctx context.Context) error {
	if r.chain.Wants(agent.KindAppStart) {
		_ = r.chain.Handle(ctx, &agent.AppStart{})
	}
	if r.Session.Dir != "" || r.Session.None || !r.chain.Wants(agent.KindSessionDirectory) {
		return ctx.Err()
	}
	e := &agent.SessionDirectory{Cwd: r.Cwd}
	_ = r.chain.Handle(ctx, e)
	dir, err := r.sessionDirectory(e.Dir)
	if err != nil {
		r.warnings = append(r.warnings, err.Error())
	} else if dir != "" {
		r.Session.Dir = dir
	}
	return ctx.Err()
}

// sessionDirectory is a directory that a hook named; it must be one, or be
// possible to make.
func (p *Place) sessionDirectory(dir string) (string, error) {
	if dir == "" {
		return "", nil
	}
	dir = p.abs(config.Expand(dir, config.Home(os.Getenv)))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("the session directory that a hook wants: %w; the usual one is used", err)
	}
	return dir, nil
}
