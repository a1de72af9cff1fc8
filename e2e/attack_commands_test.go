//go:build unix

package e2e

import (
	"bufio"
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// status takes an exit status off the arguments of a command; without one it is 0.
func status(args []string) (string, []string) {
	if len(args) > 1 {
		if _, err := strconv.Atoi(args[0]); err == nil {
			return args[0], args[1:]
		}
	}
	return "0", args
}

func attackAsk(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: ask [STATUS] [FLAGS…] PROMPT…")
	}
	want, args := status(args)
	line := []string{want, "pi", "--model", ts.Getenv("MODEL")}
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		line, args = append(line, args[0]), args[1:]
	}
	scriptExits(ts, false, slices.Concat(line, []string{"-p"}, args))
}

func attackTool(ts *testscript.TestScript, neg bool, args []string) {
	want, args := status(args)
	line := []string{want}
	for _, arg := range args {
		if strings.Contains(arg, "`") {
			ts.Fatalf("the model takes no command with backquotes")
		}
		if !strings.HasPrefix(arg, "-") {
			arg = "run `" + arg + "`"
		}
		line = append(line, arg)
	}
	attackAsk(ts, neg, line)
}

func attackClient(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: client FILE")
	}
	ts.Check(ts.Exec("sh", args[0]))
}

func attackModel(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: model FILE")
	}
	scriptServer(ts, false, []string{"openai-completions", args[0]})
	ts.Setenv("MODEL", "local/small")
}

func attackRan(ts *testscript.TestScript, neg bool, args []string) {
	err := os.Remove(ts.Getenv("RAN"))
	if neg && err == nil {
		ts.Fatalf("it ran")
	}
	if !neg && err != nil {
		ts.Fatalf("it did not run: %v", err)
	}
}

// attackBehind leaves a process behind, out of its session by way of the program
// leave (see TestMain), since not every system has a command for that.
func attackBehind(ts *testscript.TestScript, neg bool, args []string) {
	away := len(args) == 2 && args[0] == "-away"
	if away {
		args = args[1:]
	}
	if neg || len(args) != 1 {
		ts.Fatalf("usage: behind [-away] COMMAND")
	}
	makePipe(ts, "left")
	makePipe(ts, "go")
	makePipe(ts, "done")
	const script = "echo $$ > $WORK/left; read x < $WORK/go; %s\necho done > $WORK/done\n"
	file := filepath.Join(ts.Getenv("WORK"), "behind.sh")
	ts.Check(os.WriteFile(file, fmt.Appendf(nil, script, args[0]), 0o644))
	start := "sh " + file + " </dev/null >/dev/null 2>&1 &"
	if away {
		start = "leave sh " + file
	}
	attackTool(ts, false, []string{start})
	ts.Setenv("LEFT", awaitLine(ts, "left"))
	ts.Defer(func() { endGroup(ts.Getenv("LEFT")) })
}

func attackRelease(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: release")
	}
	f, err := os.OpenFile(filepath.Join(ts.Getenv("WORK"), "go"), os.O_RDWR, 0)
	ts.Check(err)
	defer f.Close()
	_, err = f.WriteString("go\n")
	ts.Check(err)
	awaitLine(ts, "done")
	ts.Setenv("LEFT", "") // it has ended, and its number may be another's
}

func attackPipe(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: pipe NAME")
	}
	makePipe(ts, args[0])
}

func makePipe(ts *testscript.TestScript, name string) {
	path := filepath.Join(ts.Getenv("WORK"), name)
	ts.Check(syscall.Mkfifo(path, 0o666))
	ts.Check(os.Chmod(path, 0o666))
}

func attackAwait(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: await NAME")
	}
	line := awaitLine(ts, args[0])
	ts.Defer(func() { endGroup(line) })
}

// awaitLine opens a pipe for writing too, so that it does not end before a line
// has come.
func awaitLine(ts *testscript.TestScript, pipe string) string {
	f, err := os.OpenFile(filepath.Join(ts.Getenv("WORK"), pipe), os.O_RDWR, 0)
	ts.Check(err)
	defer f.Close()
	ts.Check(f.SetReadDeadline(time.Now().Add(patience)))
	line, err := bufio.NewReader(f).ReadString('\n')
	if err != nil {
		ts.Fatalf("nothing was written to %s: %v", pipe, err)
	}
	return strings.TrimSpace(line)
}

// endGroup kills the process with this id, and its group if it leads one.
func endGroup(id string) {
	if pid, err := strconv.Atoi(id); err == nil && pid > 1 {
		_ = syscall.Kill(-pid, syscall.SIGKILL)
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

func attackSignal(ts *testscript.TestScript, neg bool, args []string) {
	signals := map[string]syscall.Signal{"INT": syscall.SIGINT, "TERM": syscall.SIGTERM, "HUP": syscall.SIGHUP,
		"QUIT": syscall.SIGQUIT, "ABRT": syscall.SIGABRT, "STOP": syscall.SIGSTOP, "CONT": syscall.SIGCONT, "KILL": syscall.SIGKILL}
	if neg || len(args) != 1 || signals[args[0]] == 0 {
		ts.Fatalf("usage: signal NAME")
	}
	for _, cmd := range ts.BackgroundCmds() {
		ts.Check(cmd.Process.Signal(signals[args[0]]))
	}
}

// attackBounded runs a program by way of the program measure (see TestMain),
// which says what it took: the peak that the system tells of a child of this
// process includes what this process had when it made the child.
func attackBounded(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: bounded SECONDS MEGABYTES [STATUS] PROG ARGS…")
	}
	seconds, err := strconv.ParseFloat(args[0], 64)
	ts.Check(err)
	megabytes, err := strconv.ParseFloat(args[1], 64)
	ts.Check(err)
	want, args := status(args[2:])
	follows := raceEnabled
	if follows && args[0] == "pi" && ts.Getenv("AS_USER") == "" {
		follows = false
		args[0], err = binary.build()
		ts.Check(err)
	}
	file := filepath.Join(ts.Getenv("WORK"), "measured")
	scriptExits(ts, false, append([]string{want, "measure", file}, args...))
	var tookSeconds, tookMegabytes float64
	if _, err := fmt.Sscan(ts.ReadFile(file), &tookSeconds, &tookMegabytes); err != nil {
		ts.Fatalf("%s: %v", file, err)
	}
	ts.Logf("%.2f s, %.0f MB", tookSeconds, tookMegabytes)
	if follows { // what the race detector follows takes about this much more
		seconds, megabytes = seconds*10, megabytes*8
	}
	if tookSeconds > seconds || tookMegabytes > megabytes {
		ts.Fatalf("it took %.2f s and %.0f MB, want at most %v s and %v MB", tookSeconds, tookMegabytes, seconds, megabytes)
	}
}

// measure runs a program and writes into a file what processor time and memory
// it took, in seconds and megabytes.
func measure() {
	cmd := exec.Command(os.Args[2], os.Args[3:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	_ = cmd.Run()
	if cmd.ProcessState == nil {
		os.Exit(127)
	}
	usage := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	took := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	text := fmt.Sprintf("%f %f\n", took.Seconds(), float64(usage.Maxrss)*maxrssUnit()/1e6)
	if err := os.WriteFile(os.Args[1], []byte(text), 0o600); err != nil {
		os.Exit(127)
	}
	os.Exit(cmd.ProcessState.ExitCode())
}

func maxrssUnit() float64 {
	if runtime.GOOS == "darwin" {
		return 1
	}
	return 1024
}

// leave starts a program in a session of its own, with nothing of this one's
// input and output, and ends.
func leave() {
	cmd := exec.Command(os.Args[1], os.Args[2:]...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		os.Exit(127)
	}
}

func attackFill(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: fill FILE N TEXT")
	}
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	text, err := strconv.Unquote(`"` + strings.ReplaceAll(args[2], `"`, `\"`) + `"`)
	ts.Check(err)
	writeScriptFile(ts, args[0], strings.Repeat(text, n))
}

func attackMany(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 && len(args) != 3 || !strings.Contains(args[1], "%d") {
		ts.Fatalf("usage: many N NAME [TEXT], with %%d in NAME")
	}
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	text := strings.Join(args[2:], "")
	for i := range n {
		writeScriptFile(ts, strings.ReplaceAll(args[1], "%d", strconv.Itoa(i)), text)
	}
}

func writeScriptFile(ts *testscript.TestScript, name, text string) {
	path := ts.MkAbs(name)
	ts.Check(os.MkdirAll(filepath.Dir(path), 0o700))
	ts.Check(os.WriteFile(path, []byte(text), 0o600))
}

func attackSmall(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: [!] small FILE N")
	}
	most, err := strconv.ParseInt(args[1], 10, 64)
	ts.Check(err)
	info, err := os.Stat(ts.MkAbs(args[0]))
	ts.Check(err)
	if small := info.Size() <= most; small == neg {
		ts.Fatalf("%s has %d bytes", args[0], info.Size())
	}
}

// nobody is the ordinary user of attackUser.
const nobody = 65534

// attackUser gives everything in $WORK to an ordinary user and has the program
// become that user when it starts (see asUser).
func attackUser(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: user")
	}
	if os.Geteuid() != 0 {
		return
	}
	work := ts.Getenv("WORK")
	ts.Check(filepath.WalkDir(work, func(path string, _ fs.DirEntry, err error) error {
		return cmp.Or(err, os.Lchown(path, nobody, nobody))
	}))
	for _, dir := range []string{filepath.Dir(work), programs(ts)} {
		ts.Check(os.Chmod(dir, 0o711))
	}
	ts.Setenv("AS_USER", strconv.Itoa(nobody))
}

// programs is the directory above the one where the scripts find the program.
func programs(ts *testscript.TestScript) string {
	path, err := exec.LookPath("pi")
	ts.Check(err)
	return filepath.Dir(filepath.Dir(path))
}

// asUser runs the program as the user that a script asked for.
func asUser(program func()) func() {
	return func() {
		if id, err := strconv.Atoi(os.Getenv("AS_USER")); err == nil && os.Geteuid() == 0 {
			_ = syscall.Setgroups(nil)
			if err := cmp.Or(syscall.Setgid(id), syscall.Setuid(id)); err != nil {
				fmt.Fprintln(os.Stderr, "become an ordinary user:", err)
				os.Exit(127)
			}
		}
		program()
	}
}
