package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"pi/cli/app"
	"pi/cli/config"
	"pi/internal/printable"
	"pi/luahooks/trust"

	"github.com/spf13/cobra"
)

func hooksApprove(o *app.Options) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "approve NAME...", Short: "Approve hooks of this project, or changes that wait, by name or path",
		ValidArgsFunction: approvable(o),
		Long: "Approves what `pi trust` shows, file by file: a hook or module of this project as it is now, or a file that\n" +
			"changed while the agent was at work. Look at it first, and name the modules of a hook too.",
		Args: usageOf(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, names []string) error {
			p, err := here(*o)
			if err != nil {
				return err
			}
			approved, err := approveFiles(cmd.Context(), p, names)
			if asJSON {
				return errors.Join(printJSON(approved), err)
			}
			for _, path := range approved {
				fmt.Println("approved " + printable.VisibleLine(config.InProject(p.Cwd, path)))
			}
			return err
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "as JSON: the paths that are approved now")
	return c
}

// approveFiles approves the files that names name, as they are now, and returns their
// paths. If one of the names is unknown, none is approved.
func approveFiles(ctx context.Context, p *app.Place, names []string) (approved []string, err error) {
	var files []trust.ProjectFile
	var waiting []trust.Pending
	ofProject, pending := p.Guard.ProjectFiles(p.Places()), p.Guard.ShowPending()
	for _, name := range names {
		n := len(files) + len(waiting)
		for _, f := range ofProject {
			if named(p.Cwd, name, f.Path) {
				files = append(files, f)
			}
		}
		for _, w := range pending {
			if w.Name == name || named(p.Cwd, name, w.Path) {
				waiting = append(waiting, w)
			}
		}
		if len(files)+len(waiting) == n {
			return nil, app.UsageError{Err: fmt.Errorf("no hook %q to approve; `pi trust --list` shows what there is", name)}
		}
	}
	approved = []string{}
	for _, w := range waiting {
		if err := p.Accept(ctx, w, tell); err != nil {
			return approved, err
		}
		approved = append(approved, w.Path)
	}
	for _, f := range files {
		approved = append(approved, f.Path)
	}
	if len(files) > 0 {
		for _, f := range ofProject {
			if f.Approved { // stays so
				files = append(files, f)
			}
		}
		if err = fetchNamed(ctx, p, files); err == nil {
			err = p.Guard.ApproveAlways(files)
		}
	}
	slices.Sort(approved)
	return slices.Compact(approved), err
}

// fetchNamed brings the packages that the project names and that are not here, if the file that names
// them is among files.
func fetchNamed(ctx context.Context, p *app.Place, files []trust.ProjectFile) error {
	_, wants, err := p.Guard.Team(p.Places())
	if len(wants) == 0 || !slices.ContainsFunc(files, func(f trust.ProjectFile) bool { return len(f.Packages) > 0 }) {
		return err
	}
	return p.FetchTeam(ctx, wants, tell)
}

// named reports whether name, which a user wrote, means the file at path: by the whole
// path, the path in the project, the name of the file, or that of the hook.
func named(project, name, path string) bool {
	rel := config.InProject(project, path)
	hook := strings.TrimSuffix(filepath.Base(path), ".lua")
	if hook == "init" {
		hook = filepath.Base(filepath.Dir(path))
	}
	return name == path || filepath.Clean(name) == rel || name == hook || name == filepath.Base(path)
}
