package stdlib

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// Bash is the oracle here, in a sandbox (bubblewrap) whose only programs are bash, sh and
// markers that say that they ran: those of the PATH by their names, those in /evil as m.
// What they say goes to file 9, which is not what a line reads or writes.

// sandbox runs lines in bash, each in a shell of its own.
type sandbox struct{ args []string }

// newSandbox makes one, or skips the test where that cannot be done.
func newSandbox(t testing.TB, programs []string) *sandbox {
	t.Helper()
	bwrap, err := exec.LookPath("bwrap")
	if err != nil {
		t.Skip("there is no bwrap (bubblewrap) in which bash could run lines")
	}
	dir := t.TempDir()
	args := []string{"--unshare-all", "--die-with-parent", "--clearenv", "--setenv", "PATH", "/p", "--setenv", "HOME", "/tmp", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--chdir", "/tmp",
		"--ro-bind", "/usr/lib", "/usr/lib", "--ro-bind", "/lib", "/lib", "--ro-bind-try", "/lib64", "/lib64", "--ro-bind-try", "/usr/lib64", "/usr/lib64", "--ro-bind", dir, "/box", "--symlink", "/box/p", "/p", "--symlink", "/box/evil", "/evil"}
	for _, program := range []string{"bash", "sh", "timeout"} {
		file, err := exec.LookPath(program)
		if err != nil {
			t.Skipf("there is no %s to run lines with", program)
		}
		args = append(args, "--ro-bind", file, "/bin/"+program)
	}
	for _, folder := range []string{"p", "evil"} {
		if err := os.Mkdir(filepath.Join(dir, folder), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, program := range programs {
		status := "0"
		if program[0] == 'f' {
			status = "1"
		}
		write("p/"+program, "#!/bin/bash\necho "+program+" >&9\nexit "+status+"\n")
		write("evil/"+program, "#!/bin/bash\necho m >&9\n")
	}
	write("evil/script", "/evil/m\n")
	for _, shell := range []string{"bash", "sh"} {
		if err := os.Symlink("/bin/"+shell, filepath.Join(dir, "p", shell)); err != nil {
			t.Fatal(err)
		}
	}
	box := &sandbox{append([]string{bwrap}, args...)}
	if out, err := box.command(t.Context(), "printf yes").CombinedOutput(); string(out) != "yes" {
		t.Skipf("bwrap (bubblewrap) cannot make a sandbox here: %v %s", err, out)
	}
	return box
}

// command runs a script, which takes minutes only if a line in it goes on for ever.
func (b *sandbox) command(ctx context.Context, script string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, b.args[0], append(b.args[1:len(b.args):len(b.args)], "/bin/bash", "-s")...)
	cmd.Stdin = strings.NewReader(script)
	return cmd
}

// ran returns for each line the programs that ran.
func (b *sandbox) ran(t testing.TB, lines []string) [][]string {
	t.Helper()
	var script strings.Builder
	for _, line := range lines { // a loop whose end was taken out is stopped
		fmt.Fprintf(&script, "ran=$(/bin/timeout -s KILL 5 /bin/bash -c %s 9>&1 > /dev/null 2>&1 < /dev/null)\nprintf '%%s\\0' \"$ran\"\n", quoteWord(line))
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := b.command(ctx, script.String())
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	answers := strings.Split(string(out), "\x00")
	if err != nil || len(answers) != len(lines)+1 {
		t.Fatalf("%d answers for %d lines: %v %s", len(answers)-1, len(lines), err, said.Bytes())
	}
	ran := make([][]string, len(lines))
	for i := range ran {
		ran[i] = strings.Fields(answers[i])
	}
	return ran
}

// unnamed returns the first program that ran and is not among the commands of the line.
func unnamed(line string, ran []string) string {
	commands, _, _ := readShell(line)
	for _, program := range ran {
		if !slices.ContainsFunc(commands, func(c *shellCommand) bool { return c.name() == program }) {
			return program
		}
	}
	return ""
}

func TestBashRunsWhatEvasionsHide(t *testing.T) {
	t.Parallel()
	box := newSandbox(t, []string{"p", "m"})
	var lines, controls []string
	for _, row := range evasions {
		lines, controls = append(lines, row[0]), append(controls, row[1])
	}
	for i, ran := range box.ran(t, lines) {
		if !slices.Contains(ran, "m") {
			t.Errorf("%s\nis no evasion: %q ran", lines[i], ran)
		}
	}
	for i, ran := range box.ran(t, controls) {
		if program := unnamed(controls[i], ran); program != "" {
			t.Errorf("%s\nruns %s, which is not named", controls[i], program)
		}
	}
}
