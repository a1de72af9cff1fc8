package app

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"pi/agent"
	"pi/cli/config"
	"pi/internal/printable"
	"pi/internal/process"
	"pi/internal/safefile"
	"pi/luahooks/trust"
)

// Commands end with a program that is killed, because a watcher ends them. Where none can be
// started, the program notes their groups in a file, which it has locked. A later program that
// finds such a file without a lock names what goes on, and offers to end it.

// NewWatcher returns the watcher of a program.
func NewWatcher() *process.Watcher {
	notes := &orphanNotes{}
	return &process.Watcher{Instead: notes.write}
}

// orphanNotes is the file of this program, which is made when there is something to note.
type orphanNotes struct{ file *os.File }

// orphanDir is where such files are.
func orphanDir(agentDir string) string { return filepath.Join(agentDir, "orphans") }

// write notes the groups that there are in place of those before. What cannot be noted is not
// known to the next program, and that is all.
func (n *orphanNotes) write(groups []int) {
	if n.file == nil && (len(groups) == 0 || n.make() != nil) {
		return
	}
	text := trust.BootID() + "\n"
	for _, group := range groups {
		text += strconv.Itoa(group) + "\n"
	}
	_, _ = n.file.WriteAt([]byte(text), 0)
	_ = n.file.Truncate(int64(len(text)))
	if len(groups) == 0 {
		_ = os.Remove(n.file.Name())
		_ = n.file.Close()
		n.file = nil
	}
}

func (n *orphanNotes) make() error {
	agentDir, err := config.AgentDir(os.Getenv)
	if err != nil {
		return err
	}
	dir := orphanDir(agentDir)
	if _, err := safefile.MakeDirs(dir); err != nil {
		return err
	}
	if n.file, err = os.CreateTemp(dir, "*"); err != nil {
		return err
	}
	_ = safefile.Lock(n.file) // without locks its groups may be named while their program lives
	return nil
}

// takeOrphans returns the groups of programs that have ended of which something lives, and
// removes the files that name them, unless keep is set and there are some.
func takeOrphans(agentDir string, keep bool) (groups []int) {
	files, _ := os.ReadDir(orphanDir(agentDir))
	for _, file := range files {
		path := filepath.Join(orphanDir(agentDir), file.Name())
		f, err := safefile.Open(path, os.O_RDONLY)
		if err != nil {
			continue
		}
		living, ended := readOrphans(f)
		_ = f.Close()
		if groups = append(groups, living...); ended && !(keep && len(living) > 0) {
			_ = os.Remove(path)
		}
	}
	return groups
}

// readOrphans returns the groups of a file of which something lives, and whether the program
// that wrote it has ended.
func readOrphans(f *os.File) (living []int, ended bool) {
	if safefile.Lock(f) == safefile.ErrLocked {
		return nil, false
	}
	const most = 64 << 10
	text := make([]byte, most)
	n, _ := f.Read(text)
	boot, lines, ok := strings.Cut(string(text[:n]), "\n")
	switch {
	case !ok: // it is being made
		return nil, false
	case boot != trust.BootID(): // the numbers are those of others
		return nil, true
	}
	for line := range strings.Lines(lines) {
		if group, err := strconv.Atoi(strings.TrimSuffix(line, "\n")); err == nil && process.Alive(group) {
			living = append(living, group)
		}
	}
	return living, true
}

// askOrphans names the commands that go on though their program was killed, and asks the
// user whether to end them.
func (r *run) askOrphans(ctx context.Context) {
	attended := r.place.Attended()
	for _, group := range takeOrphans(r.place.AgentDir, !attended) {
		text := strings.TrimSpace(fmt.Sprintf("%d %s", group, printable.VisibleLine(process.CommandOf(group))))
		if !attended {
			r.later.warn(fmt.Sprintf("a command goes on though pi was killed: %s; `kill -- -%d` ends it", text, group))
			continue
		}
		user := r.startUser()
		user.begin("A command goes on though pi was killed: " + text)
		if user.confirm(ctx, "End it?") {
			process.Stop(group, process.Grace)
		}
	}
}

// lookAtTheEnd is the listener that has the watcher look, at the end of each prompt, at what
// programs have left behind.
type lookAtTheEnd struct{ watcher *process.Watcher }

// Wants reports whether k is the end of a prompt.
func (lookAtTheEnd) Wants(k agent.Kind) bool { return k == agent.KindAgentSettled }

// Handle never fails.
func (l lookAtTheEnd) Handle(context.Context, agent.Event) error {
	l.watcher.Look()
	return nil
}
