package app

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"pi/agent"
	"pi/agent/attach"
	"pi/agent/instructions"
	"pi/agent/prompts"
	"pi/cli/config"
	"pi/internal/printable"
)

// printPrompts returns the prompts of a run without a person: those of the command line,
// with the text from standard input behind the first, and that text. It is a usage error
// if there is nothing to send.
func (o Options) printPrompts(stdin *os.File) (prompts []string, piped string, err error) {
	piped, err = readPiped(stdin)
	if err != nil {
		return nil, "", err
	}
	prompts = o.Prompts
	if piped != "" {
		if len(prompts) == 0 {
			return []string{piped}, piped, nil
		}
		prompts = append([]string{prompts[0] + "\n\n" + piped}, prompts[1:]...)
	}
	if len(prompts) == 0 || strings.TrimSpace(strings.Join(prompts, "")) == "" {
		return nil, "", UsageError{Err: errors.New(`no prompt: pi -p "what to do", or pipe it in`)}
	}
	return prompts, piped, nil
}

// library returns the skills and templates of this place. Those of a project are data, as
// its instructions are, so nobody is asked; what a person refused, or left out of this run,
// stays out. more are the folders that hooks bring; it may be nil.
func (p *Place) library(more func() []prompts.Folder) *prompts.Library {
	return prompts.New(prompts.Options{
		AgentDir: p.AgentDir, Cwd: p.Cwd, Home: config.Home(os.Getenv), Allowed: p.Config.Instructions,
		BuiltIn: p.Hooks.None, More: more,
		NoProject: func() bool { return p.Hooks.NoApprove || p.Guard.IsRefused() },
	})
}

// attachOptions returns how the names of files are understood that a person types.
func (p *Place) attachOptions() attach.Options {
	return attach.Options{Cwd: p.Cwd, Home: config.Home(os.Getenv)}
}

const maxPiped = 64 << 20

// readPiped returns all of standard input if it is a file or a pipe; "" if it is a
// terminal.
func readPiped(f *os.File) (string, error) {
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice != 0 {
		return "", nil
	}
	b, err := io.ReadAll(io.LimitReader(f, maxPiped+1))
	if err != nil {
		return "", fmt.Errorf("read standard input: %w", err)
	}
	if len(b) > maxPiped {
		return "", fmt.Errorf("read standard input: more than %d MiB", maxPiped>>20)
	}
	return strings.TrimRight(strings.ToValidUTF8(string(b), "\uFFFD"), "\n"), nil
}

// readPromptFiles fills prompt from files: SYSTEM.md and APPEND_SYSTEM.md of the agent
// directory, unless the command line gave these texts, and the instruction files. Problems
// become warnings.
func (p *Place) readPromptFiles(prompt *agent.SystemPrompt, later *messages) {
	read := func(name string, into *string) {
		path := filepath.Join(p.AgentDir, name)
		b, err := os.ReadFile(path)
		if err == nil && *into == "" {
			*into = strings.TrimSpace(string(b))
			if found := printable.HiddenIn(string(b)); found != "" {
				err = fmt.Errorf("%s: %s", path, found)
			}
		}
		if err != nil && !os.IsNotExist(err) {
			later.warn(err.Error())
		}
	}
	read("SYSTEM.md", &prompt.Replace)
	read("APPEND_SYSTEM.md", &prompt.Append)
	files, problems := instructions.Find(instructions.Places{
		AgentDir: p.AgentDir, Cwd: p.Cwd, Home: config.Home(os.Getenv), Allowed: p.Config.Instructions})
	prompt.Files = files
	for _, err := range problems {
		later.warn(err.Error())
	}
}

// firstLines returns the lines that the interactive front end runs as if the person had
// typed them: the prompts of the command line. With a bare --resume, /resume comes first,
// then the choice of model and level, for the session brings its own.
func (o Options) firstLines() (lines []string) {
	if o.Session.Resume.Pick {
		lines = append(lines, "/resume")
		if o.Model != "" {
			lines = append(lines, "/model "+o.Model)
		}
		if o.Thinking != "" {
			lines = append(lines, "/thinking "+o.Thinking)
		}
	}
	return append(lines, o.Prompts...)
}
