package command

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"pi/agent"
	"pi/session/export"
)

const forceWord = "--force"

func exportCommand(a *agent.Agent) Command {
	return Command{
		Name: "export", Topic: TopicSession, Args: "[jsonl|md|html] [file] [--force]", Help: "write the session to a file: all of it (jsonl), its branch to read (md), or a page for a browser (html)",
		More: "/export              all of it, as session-ID.jsonl in this directory\n" +
			"/export md           its branch to read, as session-ID.md\n" +
			"/export html         all of it as one page for a browser, as session-ID.html\n" +
			"/export notes/it.md  to that file; the ending says the format\n" +
			"A file that is there is not written over without --force, and another session not even then.\n" +
			"What could not be saved is written too.",
		Complete: func(prefix string) []string {
			var names []string
			for _, f := range export.Formats() {
				names = append(names, f.Name)
			}
			return withPrefix(names, prefix)
		},
		Run: func(_ context.Context, args string) (Outcome, error) {
			args, force := cutForce(args)
			r, err := export.Parse(args)
			if err != nil {
				return Outcome{}, err
			}
			s := a.Session()
			path := exportPath(a.Cwd(), r.File, r.Name(s))
			if err := export.ToFile(path, r.Format, s, force); err != nil {
				return Outcome{}, err
			}
			return Outcome{Status: "session " + s.ID() + " is in " + path}, nil
		},
	}
}

// cutForce removes the word --force from the end or the beginning of args, and reports
// whether it was there.
func cutForce(args string) (rest string, force bool) {
	if rest, force = strings.CutSuffix(args, " "+forceWord); force {
		return strings.TrimSpace(rest), true
	}
	if args == forceWord {
		return "", true
	}
	rest, force = strings.CutPrefix(args, forceWord+" ")
	return strings.TrimSpace(rest), force
}

// exportPath returns the file to write a session to. A relative file is in cwd, and if
// file is empty or a directory, the file in it has the usual name.
func exportPath(cwd, file, usual string) string {
	if file == "" {
		return filepath.Join(cwd, usual)
	}
	if rest, ok := strings.CutPrefix(file, "~/"); ok {
		if home, err := os.UserHomeDir(); err == nil {
			file = filepath.Join(home, rest)
		}
	}
	if !filepath.IsAbs(file) {
		file = filepath.Join(cwd, file)
	}
	if stat, err := os.Stat(file); err == nil && stat.IsDir() {
		file = filepath.Join(file, usual)
	}
	return file
}
