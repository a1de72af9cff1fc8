package app

import (
	"fmt"
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
