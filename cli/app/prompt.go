package app

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"pi/agent"
	"pi/agent/attach"
	"pi/agent/instructions"
	"pi/agent/prompts"
	"pi/cli/config"
	"pi/internal/printable"
	"pi/internal/safefile"
	"pi/session/message"
)

// library returns the skills and templates of this place. Those of a project are data, as
// its instructions are, so nobody is asked; what a user refused, or left out of this run,
// stays out. more are the folders that hooks bring; it may be nil.
func (p *Place) library(more func() []prompts.Folder) *prompts.Library {
	const from = "command line"
	var named []prompts.Folder
	for _, path := range p.Texts.Skills {
		named = append(named, prompts.Folder{Skills: p.namedPath(path), From: from})
	}
	for _, path := range p.Texts.Templates {
		named = append(named, prompts.Folder{Templates: p.namedPath(path), From: from})
	}
	return prompts.New(prompts.Options{
		AgentDir: p.AgentDir, Cwd: p.Cwd, Home: p.Env.home(), Allowed: p.Config.Instructions,
		Named: named, BuiltIn: p.Hooks.None, NoSkills: p.Texts.NoSkills, NoPrompts: p.Texts.NoTemplates, Packages: func() []prompts.Folder { return p.packageTexts(false) },
		More: func() (folders []prompts.Folder) {
			if folders = p.packageTexts(true); more != nil {
				folders = append(folders, more()...)
			}
			return folders
		},
		NoProject: func() bool { return p.Hooks.NoApprove || p.Guard.IsRefused() },
	})
}

// namedPath is a path of the command line as an absolute one.
func (p *Place) namedPath(path string) string {
	return absolute(p.Cwd, config.Expand(path, p.Env.home()))
}

// checkNamedPrompts returns a usage error if --skill or --prompt-template names what is not
// there.
func (p *Place) checkNamedPrompts() error {
	for flag, paths := range map[string][]string{"--skill": p.Texts.Skills, "--prompt-template": p.Texts.Templates} {
		for _, path := range paths {
			if _, err := os.Stat(p.namedPath(path)); err != nil {
				return UsageError{Err: fmt.Errorf("%s: %w", flag, err)}
			}
		}
	}
	return nil
}

// attachedTo returns what goes along with a text that a user typed. There has to be an
// agent.
func (r *run) attachedTo(text string) attach.Found {
	return attach.Find(text, attach.Options{Cwd: r.place.Cwd, Home: r.place.Env.home(), ImageScale: r.agent.Settings().ImageScale})
}

// readPromptFiles fills prompt from files: SYSTEM.md and APPEND_SYSTEM.md of the agent
// directory, unless the command line gave these texts, and the instruction files, unless it
// leaves them out. Problems become warnings.
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
	p.readInstructions(prompt, later)
}

// readInstructions fills prompt from the instruction files of the directory, unless the command
// line leaves them out.
func (p *Place) readInstructions(prompt *agent.SystemPrompt, later *messages) {
	if p.Texts.NoContext {
		return
	}
	files, problems := instructions.Find(instructions.Places{
		AgentDir: p.AgentDir, Cwd: p.Cwd, Home: p.Env.home(), Allowed: p.Config.Instructions})
	prompt.Files = files
	for _, err := range problems {
		later.warn(err.Error())
	}
}

// mostAppended is the most that a file has which the command line adds to the system prompt.
const mostAppended = 1 << 20

// appended is what the command line adds to the system prompt: a text as it stands, or what is
// in the file that it names.
func (p *Place) appended() (string, error) {
	var texts []string
	for _, text := range p.Texts.AppendPrompt {
		path := text
		if !filepath.IsAbs(path) {
			path = filepath.Join(p.Cwd, path)
		}
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			b, err := safefile.Read(path, mostAppended)
			if err != nil {
				return "", fmt.Errorf("read the file of --append-system-prompt, %s (of at most %s): %w", printable.VisibleLine(text), printable.Bytes(mostAppended), err)
			}
			text = strings.TrimSpace(string(b))
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, "\n\n"), nil
}

// docsLine is what the system prompt says of hooks: where they are, and how to read the guide.
// It is empty where hooks are left out.
func (p *Place) docsLine() string {
	if p.Hooks.None {
		return ""
	}
	return fmt.Sprintf("You can change how pi, this program, works: Lua hooks in %s (gates, commands, tools). When asked for one, first run `%s docs hooks --section brief`.",
		config.Tilde(filepath.Join(p.AgentDir, "hooks")), programName())
}

// programName is how a shell command calls this program: by its name if that is found, else
// by its path.
func programName() string {
	self, err := os.Executable()
	if err != nil {
		return "pi"
	}
	info, err := os.Stat(self)
	if found, findErr := exec.LookPath("pi"); findErr == nil && err == nil {
		if other, err := os.Stat(found); err == nil && os.SameFile(info, other) {
			return "pi"
		}
	}
	return shellWord(self)
}

// firstLines returns the lines that the interactive front end runs as if the user had
// typed them: the prompts of the command line. With a bare --resume, /resume comes first,
// then the choice of model and level, for the session brings its own.
func (o Options) firstLines() (lines []string) {
	if o.Session.Resume.Pick {
		lines = append(lines, "/resume")
		if ref := o.modelRef(); ref != "" {
			lines = append(lines, "/model "+ref)
		}
		if o.Thinking != "" {
			lines = append(lines, "/thinking "+o.Thinking)
		}
	}
	return append(lines, o.Prompts...)
}

// input is what a run without a user is to do.
type input struct {
	texts []string           // never none
	piped string             // what of the first came from standard input, at its end
	image *attach.Attachment // that came from there instead; nil: none did
}

// readInput returns the prompts of the command line, with what standard input holds behind the
// first. It is a usage error if there is nothing to send, or what is piped in cannot be sent.
func (p *Place) readInput(ctx context.Context, stdin *os.File) (input, error) {
	in, err := readPiped(ctx, stdin, p.Config.UI.ImageScale)
	if err != nil {
		return input{}, err
	}
	in.texts = p.Prompts
	switch {
	case in.piped == "":
	case len(in.texts) == 0:
		in.texts = []string{in.piped}
		return in, nil
	default:
		in.texts = append([]string{in.texts[0] + "\n\n" + in.piped}, in.texts[1:]...)
	}
	if strings.TrimSpace(strings.Join(in.texts, "")) == "" {
		return input{}, UsageError{Err: errors.New(`no prompt: pi -p "what to do", or pipe it in`)}
	}
	return in, nil
}

func (in input) prompts() (all []agent.Prompt) {
	for _, text := range in.texts {
		all = append(all, agent.Prompt{Text: text})
	}
	if in.image != nil {
		all[0].Attachments = []message.Block{in.image.Block}
	}
	return all
}

// typed returns what a user typed of a text of in. What was piped in may be from
// anywhere, and names no files.
func (in input) typed(text string) string { return strings.TrimSuffix(text, in.piped) }

// maxPiped is how much text of standard input a prompt may have: a model could not read more.
const maxPiped = 1 << 20

// readPiped returns what standard input holds if it is a file or a pipe: a text or an image;
// nothing if it is a terminal. The end of ctx ends the waiting, not the reading, which ends with
// the program.
func readPiped(ctx context.Context, f *os.File, scaled bool) (input, error) {
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice != 0 {
		return input{}, nil
	}
	type outcome struct {
		in  input
		err error
	}
	read := make(chan outcome, 1)
	go func() {
		in, err := decodePiped(f, scaled)
		read <- outcome{in, err}
	}()
	select {
	case <-ctx.Done():
		return input{}, ctx.Err()
	case got := <-read:
		return got.in, got.err
	}
}

// decodePiped reads a text or an image. Something else is a usage error that says what to do.
func decodePiped(r io.Reader, scaled bool) (input, error) {
	refused := func(what, todo string) (input, error) {
		return input{}, UsageError{Err: &unattendedError{"standard input " + what, todo}}
	}
	start := make([]byte, 12)
	n, err := io.ReadFull(r, start)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return input{}, fmt.Errorf("read standard input: %w", err)
	}
	switch image, is, err := attach.Image("standard input", start[:n], r, scaled); {
	case err != nil:
		return refused("cannot be attached: "+err.Error(), "")
	case is:
		return input{image: &image}, nil
	}
	rest, err := io.ReadAll(io.LimitReader(r, maxPiped+1-int64(n)))
	text := append(start[:n], rest...)
	switch {
	case err != nil:
		return input{}, fmt.Errorf("read standard input: %w", err)
	case bytes.IndexByte(text, 0) >= 0:
		return refused("is neither text nor an image that models can see (PNG, JPEG, GIF, WebP): it has a NUL byte",
			"make text of it first (UTF-16: iconv -f UTF-16 -t UTF-8), or name the file in the prompt, so that the model looks at it with its tools")
	case len(text) > maxPiped:
		return refused("has more than "+printable.Bytes(maxPiped),
			`pipe in the part that matters, such as "… | tail -n 1000 | pi -p …", or name the file in the prompt, so that the model reads what it needs of it`)
	}
	return input{piped: strings.TrimRight(strings.ToValidUTF8(string(text), "\uFFFD"), "\n")}, nil
}
