package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"pi/cli/app"
	"pi/internal/printable"
	"pi/session/export"

	"github.com/spf13/cobra"
)

func sessionsExport(o *app.Options) *cobra.Command {
	var file string
	var force bool
	c := &cobra.Command{
		Use: "export ID|FILE [jsonl|md|html]", Short: "Write a session elsewhere: whole (jsonl), its branch to read (md), or a page (html)",
		ValidArgsFunction: argumentsBy(orFiles(sessionValues(o)), among(exportForms)),
		Args:              usageOf(cobra.RangeArgs(1, 2)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if file == "-" {
				file = ""
			}
			r, err := export.Choose(strings.Join(args[1:], ""), file)
			if err != nil {
				return app.UsageError{Err: fmt.Errorf("sessions export: %w", err)}
			}
			return exportNamed(*o, args[0], r, force)
		},
	}
	c.Flags().StringVarP(&file, "output", "o", "", "into this `FILE`; standard output if there is none")
	c.Flags().BoolVar(&force, "force", false, "write over the file if it is there")
	return c
}

// exportNamed writes the session that ref names to the file of r, or to standard output if
// r has none.
func exportNamed(o app.Options, ref string, r export.Request, force bool) error {
	s, err := readNamed(o, ref)
	if err != nil {
		return err
	}
	if r.File == "" {
		out := io.Writer(os.Stdout)
		if r.Format.Name == "jsonl" {
			out = forPrograms()
		}
		w := bufio.NewWriter(out)
		return errors.Join(r.Format.Write(w, s), w.Flush())
	}
	if err := export.ToFile(r.File, r.Format, s, force); err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "session %s is in %s\n", s.ID(), printable.Short(r.File))
	return nil
}

// exportForms are the names of what a session can be written as.
func exportForms() (names []string) {
	for _, f := range export.Formats() {
		names = append(names, f.Name)
	}
	return names
}
