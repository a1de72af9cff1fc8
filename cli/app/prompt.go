package app

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"pi/agent"
	"pi/agent/instructions"
	"pi/cli/config"
)

// printPrompts joins what stands on the command line with what is piped in.
func (r *run) printPrompts(stdin *os.File) ([]string, error) {
	piped, err := readPiped(stdin)
	if err != nil {
		return nil, err
	}
	prompts := r.Prompts
	if piped != "" {
		if len(prompts) == 0 {
			return []string{piped}, nil
		}
		prompts = append([]string{prompts[0] + "\n\n" + piped}, prompts[1:]...)
	}
	if len(prompts) == 0 || strings.TrimSpace(strings.Join(prompts, "")) == "" {
		return nil, UsageError{Err: errors.New(`no prompt: pi -p "what to do", or pipe it in`)}
	}
	return prompts, nil
}

const maxPiped = 64 << 20

// readPiped reads standard input where it cannot be a person.
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

// readPromptFile reads a file of the agent directory, unless the command line
// said something else.
func (r *run) readPromptFile(name string, into *string) {
	path := filepath.Join(r.AgentDir, name)
	b, err := os.ReadFile(path)
	if err == nil && *into == "" {
		*into = strings.TrimSpace(string(b))
		if err := instructions.HiddenIn(path, string(b)); err != nil {
			r.warnings = append(r.warnings, err.Error())
		}
	} else if err != nil && !os.IsNotExist(err) {
		r.warnings = append(r.warnings, err.Error())
	}
}

// readPromptFiles adds what stands in files: SYSTEM.md and APPEND_SYSTEM.md of
// the agent directory, and the instructions of the directories.
func (r *run) readPromptFiles(p *agent.SystemPrompt) {
	r.readPromptFile("SYSTEM.md", &p.Replace)
	r.readPromptFile("APPEND_SYSTEM.md", &p.Append)
	files, problems := instructions.Find(instructions.Places{
		AgentDir: r.AgentDir, Cwd: r.Cwd, Home: config.Home(os.Getenv), Allowed: r.Config.Instructions})
	p.Files, r.files = files, files
	for _, err := range problems {
		r.warnings = append(r.warnings, err.Error())
	}
}
