package trust

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"pi/internal/printable"
	"pi/internal/safefile"
)

// What else a tool may write to have its way: commands that print keys run without
// a question, and instructions of the agent directory speak in every session.

// errCommand is why a command that prints a key does not run.
var errCommand = errors.New("it was added to auth.json while the agent was at work")

// MayRunCommand reports whether a command in auth.json may run: it does not if tools could
// have put it there, until a person approved it. What a person put there counts at
// once, and logins are renewed as they like.
func (g *Guard) MayRunCommand(command string) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	s := &g.state
	if changes := s.ledger.changed(map[string]Scope{s.home.keys: ""}, s.window); len(changes) > 0 {
		s.decide(changes)
	}
	commands := strings.Split(string(s.readLocked(s.home.keys).Code), "\n")
	if slices.Contains(commands, commandLine(command)) {
		return nil
	}
	return fmt.Errorf("the command of the key is %w: %w; `pi trust` shows it", ErrNotApproved, errCommand)
}

// maxKeys is how long auth.json may be.
const maxKeys = 1 << 20

// commandsIn is auth.json reduced to its commands, in order; without any it is
// like no file.
func commandsIn(path string) Version {
	raw, err := safefile.Read(path, maxKeys)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Version{Err: err}
	case err != nil:
		return Version{Err: err, Sum: Unreadable}
	}
	var commands []string
	for d := json.NewDecoder(bytes.NewReader(raw)); ; {
		token, err := d.Token()
		if err != nil { // what follows is not read by anybody
			break
		}
		if text, ok := token.(string); ok && strings.HasPrefix(strings.TrimSpace(text), "!") {
			commands = append(commands, commandLine(strings.TrimSpace(text)[1:]))
		}
	}
	if len(commands) == 0 {
		return Version{Err: fs.ErrNotExist}
	}
	slices.Sort(commands)
	code := []byte(strings.Join(slices.Compact(commands), "\n"))
	return Version{Code: code, Sum: Sum(code), real: path}
}

// commandLine is a command as one line.
func commandLine(command string) string {
	return "!" + strings.NewReplacer("\\", `\\`, "\n", `\n`).Replace(strings.TrimSpace(command))
}

// scopeInstructions is of files that a model reads and that nobody runs: a change is told,
// not held back.
const scopeInstructions Scope = "instructions"

// noteInstructions tells of a change now and at the next start.
func (n *news) noteInstructions(path string) {
	if _, told := n.spoken[path]; told {
		return
	}
	n.spoken[path] = time.Now().UTC()
	n.lines = append(n.lines, printable.VisibleLine(path)+" was changed while the agent was at work: a model reads it at the start of every session")
}

// TakeChangedInstructions tells once of instructions that changed while the agent was at work in
// a program before this one.
func (g *Guard) TakeChangedInstructions() (lines []string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	s := &g.state
	if s.home.store == nil || s.doubt != nil {
		return nil
	}
	changed := s.home.store.ChangedInstructions()
	for _, path := range s.home.instructions {
		if at, ok := changed[path]; ok {
			lines = append(lines, fmt.Sprintf("%s was changed on %s while the agent was at work: a model reads it at the start of every session",
				printable.VisibleLine(path), at.Local().Format("2006-01-02 15:04")))
		}
	}
	if len(changed) > 0 {
		s.news.spoken = map[string]time.Time{}
		_ = s.change(func(d *Data) { clear(d.Spoken) })
	}
	return lines
}

// masked is the text of a file without keys, to be kept or shown.
func (h *home) masked(path string, code []byte) (text []byte, ok bool) {
	if h.mask == nil || code == nil || !slices.Contains(h.configs, path) {
		return code, code != nil
	}
	return h.mask(code)
}
