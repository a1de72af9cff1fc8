package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"pi/session"
)

// sessionRoot is where sessions are kept; "" when they are not.
func (a *app) sessionRoot() string {
	switch {
	case a.noSession:
		return ""
	case a.sessionDir != "":
		if abs, err := filepath.Abs(a.sessionDir); err == nil { // tools and hooks are told of it, wherever they are
			return abs
		}
		return a.sessionDir
	case a.hookDir != "":
		return a.hookDir
	case a.cfg.Session.Dir != "":
		return a.cfg.Session.Dir
	}
	return filepath.Join(a.agentDir, "sessions")
}

func (a *app) sessionOptions() session.Options {
	o := session.Options{Dir: a.sessionRoot(), Cwd: a.cwd, SyncEach: a.cfg.Session.Durability == "entry"}
	if o.Dir != "" {
		o.LockDir = filepath.Join(a.agentDir, "locks")
	}
	return o
}

// openSession opens the session that the command line names, or begins one.
func (a *app) openSession() (*session.Session, error) {
	if a.noSession && (a.session != "" || a.resume) {
		return nil, usageError{errors.New("--no-session does not go with --session or --continue")}
	}
	path := ""
	var err error
	switch {
	case a.session != "":
		path, err = findSession(a.session, a.sessionRoot())
	case a.resume:
		path, err = a.lastSession()
	}
	if err != nil {
		return nil, err
	}
	if path == "" {
		return session.New(a.sessionOptions()), nil
	}
	s, err := session.Open(path, a.sessionOptions())
	if err != nil {
		return nil, err
	}
	a.warnings = append(a.warnings, s.Problems()...)
	if line := s.UnknownTypes(); line != "" {
		a.warnings = append(a.warnings, line)
	}
	return s, nil
}

// findSession turns what a person wrote into a path: with a separator or the
// ending .jsonl it is one, else the beginning of an id.
func findSession(ref, root string) (string, error) {
	if strings.ContainsAny(ref, "/"+string(filepath.Separator)) || strings.HasSuffix(ref, ".jsonl") {
		return filepath.Abs(expandHome(ref, homeDir(os.Getenv)))
	}
	return session.Find(root, ref)
}

// lastSession is the newest session of this directory; "" if there is none.
func (a *app) lastSession() (string, error) {
	path, err := session.Latest(a.sessionRoot(), a.cwd)
	if err == nil && path == "" {
		a.warnings = append(a.warnings, "no session in this directory yet; this is a new one")
	}
	return path, err
}

func sessionsCommand(o *options) *cobra.Command {
	c := &cobra.Command{Use: "sessions", Short: "List and show sessions", Args: subcommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	c.AddCommand(sessionsList(o), sessionsShow(o))
	return c
}

func sessionsList(o *options) *cobra.Command {
	var all, asJSON bool
	c := &cobra.Command{
		Use: "list", Short: "List the sessions of this directory, newest first", Args: exactly(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			a, err := newApp(*o)
			if err != nil {
				return err
			}
			cwd := a.cwd
			if all {
				cwd = ""
			}
			infos, err := session.List(a.sessionRoot(), cwd)
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(listed(infos))
			}
			printList(infos, all)
			return nil
		},
	}
	c.Flags().BoolVar(&all, "all", false, "of all directories")
	c.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	return c
}

// listedSession is a session in the JSON of a listing.
type listedSession struct {
	ID          string    `json:"id"`
	Path        string    `json:"path"`
	Cwd         string    `json:"cwd"`
	Name        string    `json:"name,omitempty"`
	FirstPrompt string    `json:"first_prompt"`
	Created     time.Time `json:"created"`
	Modified    time.Time `json:"modified"`
	Messages    int       `json:"messages"`
	Entries     int       `json:"entries"`
	Size        int64     `json:"size"`
}

func listed(infos []session.Info) []listedSession {
	out := make([]listedSession, 0, len(infos))
	for _, i := range infos {
		out = append(out, listedSession{i.ID, i.Path, i.Cwd, i.Name, i.FirstPrompt, i.Created, i.Modified, i.Messages, i.Entries, i.Size})
	}
	return out
}

func printList(infos []session.Info, all bool) {
	if len(infos) == 0 {
		fmt.Fprintln(os.Stderr, "no sessions here; --all lists those of other directories")
		return
	}
	for _, i := range infos {
		title := i.Name
		if title == "" {
			title = i.FirstPrompt
		}
		where := ""
		if all {
			where = "  " + printable(i.Cwd)
		}
		fmt.Printf("%s  %s  %4d messages%s  %s\n", shortID(i.ID), i.Modified.Local().Format("2006-01-02 15:04"), i.Messages, where, firstLine(title))
	}
}

func shortID(id string) string { return id[:min(len(id), 13)] }

// firstLine is the beginning of a text that others wrote, safe for a terminal.
func firstLine(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	r := []rune(printable(s))
	if len(r) > 60 {
		return string(r[:59]) + "…"
	}
	return string(r)
}

func sessionsShow(o *options) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "show FILE|ID", Short: "Show a session without changing it", Args: exactly(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			a, err := newApp(*o)
			if err != nil {
				return err
			}
			path, err := findSession(args[0], a.sessionRoot())
			if err != nil {
				return err
			}
			s, err := session.Read(path)
			if errors.Is(err, os.ErrNotExist) {
				return &session.NotFoundError{Prefix: args[0]}
			}
			if err != nil {
				return err
			}
			for _, p := range s.Problems() {
				fmt.Fprintln(os.Stderr, harmless(p))
			}
			if asJSON {
				return printRaw(s.Show())
			}
			return printSession(s)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "as JSON: what a model would see, before hooks")
	return c
}

func printRaw(raw []byte, err error) error {
	if err == nil {
		_, err = fmt.Printf("%s\n", raw)
	}
	return err
}

func printJSON(v any) error {
	e := json.NewEncoder(os.Stdout)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// printSession writes the conversation for a person.
func printSession(s *session.Session) error {
	provider, id := s.Model()
	fmt.Printf("session %s\ncwd     %s\nmodel   %s/%s\nentries %d\n", s.ID(), harmless(s.Cwd()), harmless(provider), harmless(id), len(s.Entries()))
	if line := s.UnknownTypes(); line != "" {
		fmt.Fprintln(os.Stderr, harmless(line))
	}
	for _, item := range s.Context() {
		fmt.Printf("\n[%s]\n%s\n", item.Message.Role, harmless(shownText(item.Message)))
	}
	return nil
}

func shownText(m *session.Message) string {
	switch m.Role {
	case session.RoleBashExecution:
		return "$ " + m.Command + "\n" + m.Output
	case session.RoleBranchSummary, session.RoleCompactionSummary:
		return m.Summary
	}
	var parts []string
	for _, b := range m.Content {
		switch b.Type {
		case session.BlockText:
			parts = append(parts, b.Text)
		case session.BlockToolCall:
			parts = append(parts, fmt.Sprintf("→ %s %s", b.Name, b.Arguments))
		case session.BlockImage:
			parts = append(parts, "[image "+b.MimeType+"]")
		}
	}
	if m.ErrorMessage != "" {
		parts = append(parts, "("+m.ErrorMessage+")")
	}
	return strings.Join(parts, "\n")
}
