package app

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"pi/agent"
	"pi/agent/mcp"
	"pi/cli/config"
	"pi/cli/mcpfile"
	"pi/internal/printable"
)

// readServersAgain reads the files of servers again, and makes what they say by now that of the
// session: of all servers, or with a name of that one. It asks the user about those of the project that
// are not approved as they are. The rows say what has changed and what is wrong.
func (r *run) readServersAgain(ctx context.Context, ui agent.UI, only string) (rows []string) {
	if r.script != nil { // see loadServers
		return nil
	}
	p := r.place
	s := p.MCPServers(r.client)
	if len(s.Unapproved()) > 0 {
		var user *User
		if agent.HasUser(ui) {
			user = &User{Out: &notices{ui: ui}, dialogs: ui}
		}
		s = r.askServers(ctx, user, s)
	}
	r.servers = s
	var later messages
	if err := p.reportUnapproved(s.Unapproved(), &later); err != nil { // with --require-hooks: the session goes on
		later.warn(err.Error())
	}
	for _, path := range append([]string{mcpfile.UserFile(p.AgentDir)}, mcpfile.ProjectFiles(p.Cwd)...) {
		if p.Guard.IsPending(path) {
			later.warn(fmt.Sprintf("%s was changed and waits for approval, so what it was counts; /hooks approve %s shows the difference", printable.VisibleLine(config.Tilde(config.InProject(p.Cwd, path))), filepath.Base(path)))
		}
	}
	adopted := r.mcp.Adopt(s.Entries, only)
	for _, what := range []struct {
		done  string
		names []string
	}{{"new", adopted.Added}, {"configured anew", adopted.Changed}, {"gone", adopted.Removed}} {
		// Which values a command prints is known at a start only: that is nothing to be told.
		if names := slices.DeleteFunc(what.names, func(name string) bool { return what.done == "configured anew" && hasSecrets(s.Entries, name) }); len(names) > 0 {
			rows = append(rows, what.done+": "+strings.Join(names, ", "))
		}
	}
	rows = append(append(rows, adopted.Taken...), later.warnings...)
	for _, problem := range s.Problems {
		rows = append(rows, config.Tilde(problem.File)+strings.TrimPrefix(problem.String(), problem.File))
	}
	return rows
}

// hasSecrets reports whether an entry has values that are known only when it is started.
func hasSecrets(entries []mcp.Entry, name string) bool {
	return slices.ContainsFunc(entries, func(e mcp.Entry) bool { return e.Name == name && e.Secrets != nil })
}

// notices is a writer that tells a user each of what is written to it.
type notices struct{ ui agent.UI }

// Write is that of [io.Writer].
func (n *notices) Write(text []byte) (int, error) {
	n.ui.Notify(string(bytes.TrimRight(text, "\n")), agent.LevelInfo)
	return len(text), nil
}
