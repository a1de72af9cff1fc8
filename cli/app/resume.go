package app

import (
	"cmp"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"pi/session"
)

// resumeCommand is the command that goes on with a session from the working directory; ""
// if it has no file. The id is enough where sessions of this directory are found without
// flags; anywhere else it is the file.
func (p *Place) resumeCommand(file, id string) string {
	if file == "" {
		return ""
	}
	if _, err := os.Stat(file); err != nil {
		return ""
	}
	root := cmp.Or(p.Config.Session.Dir, filepath.Join(p.AgentDir, "sessions"))
	if filepath.Dir(file) == filepath.Join(root, session.FolderName(p.Cwd)) {
		return "pi --resume " + id
	}
	return "pi --resume " + shellWord(file)
}

// shellWord is a text as one word of a shell.
func shellWord(text string) string {
	if regexp.MustCompile(`^[\w./:=@%+,-]+$`).MatchString(text) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
