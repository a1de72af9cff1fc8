package cli

import (
	"fmt"
	"io"
	"strings"

	"pi/cli/app"
	"pi/cli/packages"
	"pi/internal/printable"
	"pi/luahooks/text"
	"pi/luahooks/trust"
	"pi/luavm"
)

// packageListing is all that a user is shown of a package before the question.
type packageListing struct {
	Name        string            `json:"name"`
	Version     string            `json:"version,omitempty"`
	Description string            `json:"description,omitempty"`
	License     string            `json:"license,omitempty"`
	Source      string            `json:"source"`
	Commit      string            `json:"commit,omitempty"`
	Said        []string          `json:"said,omitempty"` // of its source: a tag that was moved, and so on
	Files       []packages.Listed `json:"files"`
	Changes     []packages.Change `json:"changes,omitempty"` // to what is there
	Needs       []string          `json:"needs,omitempty"`
	Missing     []string          `json:"missing,omitempty"` // of what it needs
	Others      []string          `json:"others,omitempty"`  // what comes along and is not taken
	Sum         string            `json:"sum"`
}

// list puts together what is shown of the package.
func (o *offering) list() packageListing {
	p := o.pack
	var there []string
	for _, pack := range o.place.Guard.Packages(o.place.Places()) {
		if !pack.OfProject {
			there = append(there, pack.Name)
		}
	}
	l := packageListing{Name: p.Name, Version: p.Manifest.Version, Description: p.Manifest.Description, License: p.Manifest.License,
		Source: p.Source.String(), Commit: p.Commit, Said: o.said, Files: p.List(o.place.Registered(p.Name)), Changes: o.changes,
		Needs: p.Manifest.Needs, Missing: p.Missing(there), Others: p.Others, Sum: p.Sum()}
	if o.edited {
		l.Said = append(l.Said, "what is there was changed since it came, and this takes its place")
	}
	return l
}

// print writes the list for people. What others wrote in it commands no terminal.
func (l packageListing) print(out io.Writer) {
	line := func(format string, args ...any) {
		fmt.Fprintln(out, printable.VisibleLine(fmt.Sprintf(format, args...)))
	}
	title := "package " + l.Name
	for _, more := range []string{l.Version, l.License} {
		if more != "" {
			title += ", " + more
		}
	}
	line("%s", title)
	if l.Description != "" {
		line("  %s", l.Description)
	}
	from := "  from " + l.Source
	if l.Commit != "" {
		from += ", commit " + l.Commit
	}
	line("%s", from)
	for _, said := range l.Said {
		line("  %s", said)
	}
	for _, f := range l.Files {
		line("  %-32s %7d bytes  %.12s  %s", f.Path, f.Size, f.SHA256, whatItDoes(f))
	}
	for _, other := range l.Others {
		line("  %s", other)
	}
	if len(l.Needs) > 0 {
		line("  needs %s", strings.Join(l.Needs, ", "))
	}
	if len(l.Missing) > 0 {
		line("  missing: %s", strings.Join(l.Missing, ", "))
	}
	for _, c := range l.Changes {
		fmt.Fprint(out, c.Diff)
	}
	line("  sum %s", l.Sum)
}

// whatItDoes says what a file is, and what it registers as far as its text says so.
func whatItDoes(f packages.Listed) string {
	parts := []string{f.Kind}
	if f.Executable {
		parts[0] += ", executable"
	}
	if len(f.Events) > 0 {
		parts = append(parts, "listens to "+strings.Join(f.Events, ", "))
	}
	parts = append(parts, registered("tool ", f.Tools)...)
	parts = append(parts, registered("command /", f.Commands)...)
	switch {
	case f.Problem != "":
		parts = append(parts, f.Problem)
	case f.CannotTell:
		parts = append(parts, "cannot tell what else: names are computed")
	}
	return strings.Join(parts, "; ")
}

// registered lists tools or commands, and marks those that stand where another one is.
func registered(what string, list []packages.Registered) (parts []string) {
	for _, r := range list {
		text := what + r.Name
		if r.Replaces != "" {
			text += " (REPLACES that of " + r.Replaces + ")"
			if strings.HasPrefix(what, "command") {
				text = what + r.Name + " (there is one of " + r.Replaces + ")"
			}
		}
		parts = append(parts, text)
	}
	return parts
}

// check is pi hooks check of a package that is not there yet: its hooks are compiled and read, and not run.
func (o *offering) check() error {
	checker, err := text.NewChecker()
	if err != nil {
		return err
	}
	var checked []checkedHook
	for _, path := range o.pack.Hooks() {
		f, _ := o.pack.Files.Find(path)
		h := checkedHook{Name: packages.HookName(o.pack.Name, path), Path: path, Scope: trust.ScopePackage, State: "compiles"}
		if _, err := luavm.Compile(path, f.Code); err != nil {
			h.State, h.Error = "failed", err.Error()
		} else if h.Text, err = checker.File(path, f.Code, o.moduleOf(path)); err != nil {
			h.State, h.Error = "failed", err.Error()
		}
		checked = append(checked, h)
	}
	forgiveModules(checked)
	printChecked(checked, true)
	for _, h := range checked {
		if h.State == "failed" || h.Text != nil && len(h.Text.Problems) > 0 {
			return app.ErrReported
		}
	}
	return nil
}

// moduleOf returns the function that finds the modules of a hook in its package.
func (o *offering) moduleOf(hook string) func(name string) (string, []byte, bool) {
	return func(name string) (string, []byte, bool) {
		dir := ""
		if own, ok := strings.CutPrefix(name, o.pack.Name+"."); ok {
			name = own
		} else if i := strings.LastIndexByte(hook, '/'); i >= 0 {
			dir = hook[:i+1]
		}
		for _, file := range trust.ModuleFiles(name) {
			if f, ok := o.pack.Files.Find(dir + strings.ReplaceAll(file, `\`, "/")); ok {
				return f.Path, f.Code, true
			}
		}
		return "", nil, false
	}
}
