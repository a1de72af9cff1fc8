package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"pi/agent"
)

// beforeSession lets hooks have their say while there is no session yet.
func (a *app) beforeSession(ctx context.Context) error {
	if a.chain.Wants(agent.KindAppStart) {
		_ = a.chain.Handle(ctx, &agent.AppStart{})
	}
	if a.sessionDir != "" || a.noSession || !a.chain.Wants(agent.KindSessionDirectory) {
		return ctx.Err()
	}
	e := &agent.SessionDirectory{Cwd: a.cwd}
	_ = a.chain.Handle(ctx, e)
	dir, err := a.sessionDirectory(e.Dir)
	if err != nil {
		a.warnings = append(a.warnings, err.Error())
		return ctx.Err()
	}
	a.hookDir = dir
	return ctx.Err()
}

// sessionDirectory is a directory that a hook named; it must be one, or be
// possible to make.
func (a *app) sessionDirectory(dir string) (string, error) {
	if dir == "" {
		return "", nil
	}
	dir = expandHome(dir, homeDir(os.Getenv))
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(a.cwd, dir)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("the session directory that a hook wants: %w; the usual one is used", err)
	}
	return dir, nil
}
