package mcpfile

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"pi/agent/mcp"
	"pi/cli/config"
)

// What a server of a project runs is more than its command line: `node server.js` is the file.
// So an approval covers the files of the project that the entry names, as they are.

// maxFiles bounds how many files the servers of a project name.
const maxFiles = 200

// Files lists the files of the project that its servers are made of: programs, and what is named in
// arguments and variables. They are absolute paths, in order, each once. A file that an argument
// names and that is not there is none; it is looked for again whenever this is asked.
func (f File) Files(project string) []string {
	var files []string
	for _, s := range f.Servers {
		for _, path := range s.named() {
			if isFileOf(project, path) {
				files = append(files, path)
			}
		}
	}
	files = slices.Compact(slices.Sorted(slices.Values(files)))
	return files[:min(len(files), maxFiles)]
}

// named are the paths that a server may mean, whether they are files or not.
func (s Server) named() (paths []string) {
	if s.IsHTTP() || s.Command == "" {
		return nil
	}
	add := func(text string) {
		if text != "" {
			paths = append(paths, inDir(s.Cwd, text))
		}
	}
	if filepath.Base(s.Command) != s.Command {
		add(s.Command)
	}
	for _, arg := range s.Args {
		add(arg)
		if _, value, has := strings.Cut(arg, "="); has {
			add(value)
		}
	}
	for _, value := range s.Env {
		for _, word := range strings.FieldsFunc(value, func(r rune) bool { return r == ' ' || r == '=' || r == filepath.ListSeparator }) {
			add(word)
		}
	}
	return paths
}

// isFileOf reports whether a path is a regular file of a project, by its name or by where links
// lead.
func isFileOf(project, path string) bool {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	return isIn(project, path) || isIn(real(project), real(path))
}

func isIn(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// real is a path with links followed, or as it is where that cannot be.
func real(path string) string {
	if followed, err := filepath.EvalSymlinks(path); err == nil {
		return followed
	}
	return path
}

// Rows describe a server before it is approved, as it stands in the file: what is run or reached, the
// variables that it gets, and those that it reads. The first row begins with the name.
func (s Server) Rows() []string {
	what := s.written.url
	switch {
	case s.Narrows:
		what = "(narrows the one of yours)"
	case !s.IsHTTP() && s.written.url == "":
		what = CommandLine(append([]string{s.written.command}, s.written.args...))
	}
	rows := []string{s.Name + "  " + what}
	if s.written.cwd != "" {
		rows = append(rows, "in "+s.written.cwd)
	}
	for _, v := range s.written.env {
		rows = append(rows, "gets "+v.name+"="+v.value)
	}
	for _, v := range s.written.headers {
		rows = append(rows, "sends "+v.name+": "+v.value)
	}
	if len(s.Variables) > 0 {
		rows = append(rows, "reads "+strings.Join(s.Variables, ", "))
	}
	if s.Disabled {
		rows = append(rows, "is turned off")
	}
	return rows
}

// CommandLine writes a command as people write it in a shell.
func CommandLine(words []string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = word
		if word == "" || strings.ContainsAny(word, " \t\n'\"\\;&|<>()*?[]#~`!") {
			quoted[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
	}
	return strings.Join(quoted, " ")
}

// Line is what a configured server is, in one line, with … for its secrets.
func Line(e *mcp.Entry) string {
	line := maskedAddress(e.URL)
	if !e.IsHTTP() {
		line = CommandLine(append([]string{e.Command}, maskedArgs(e.Args)...))
	}
	return regexp.MustCompile(config.MaskedVariable+"_[0-9a-f]+").ReplaceAllString(line, "…")
}

// maskedArgs returns arguments without their secrets.
func maskedArgs(args []string) []string {
	nodes := make([]*node, len(args))
	for i, arg := range args {
		nodes[i] = &node{kind: kindText, text: arg}
	}
	for _, n := range secretArgs(nodes) {
		n.text = maskedText(n)
	}
	masked := make([]string, len(args))
	for i, n := range nodes {
		masked[i] = n.text
	}
	return masked
}

// Unapproved returns an error for a server of a project that is made of a file which is not
// approved as it is now.
func (s Server) Unapproved(project string, isApproved func(path string) bool) error {
	for _, path := range s.named() {
		if isFileOf(project, path) && !isApproved(path) {
			rel, err := filepath.Rel(project, path)
			if err != nil {
				rel = path
			}
			return fmt.Errorf("%s is not approved as it is now; `pi trust` shows it and asks", rel)
		}
	}
	return nil
}
