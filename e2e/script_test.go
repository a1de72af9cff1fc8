//go:build unix

package e2e

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"pi/cli"

	"github.com/rogpeppe/go-internal/testscript"
)

// The scripts in testdata/script drive the whole program from outside. Each has
// a HOME of its own ($WORK/home), works in $WORK/project, and sees no key of the
// user who runs it; where a script brings no settings, the model there is
// demo/tour. $AGENT is the agent directory of that HOME, $EXAMPLES the
// directory of the examples. Besides the commands of testscript:
//
//	pi ARGS…            the program
//	exits N PROG ARGS…  runs PROG and wants exit status N
//	server API FILE [NAME]
//	                    a model on loopback that answers as FILE says (see
//	                    modelServer); adds it to the settings (in place of the
//	                    demo) as the provider "local" with the key $LOCAL_KEY, and writes what it is
//	                    asked to $WORK/request1.json and so on; with a NAME, as
//	                    that provider, and to $WORK/NAME/request1.json
//	bound FILE          a server of anthropic-messages whose models bind their thoughts to
//	                    what stands before them; $WORK/bound says of each request, a line
//	                    each, what became of the thoughts in it
//	session FILE        sets $SESSION to the only session file of this HOME
//	conversation FILE PARTS…
//	                    writes a session (see scriptConversation)
//	asked N             writes the messages of request N to $WORK/asked, one a line
//	count N REGEXP FILE wants exactly N matches in a file, stdout or stderr
//	records FILE        writes the records on stdout to a file, with what differs each
//	                    time replaced (see scriptRecords)
func TestMain(m *testing.M) {
	testscript.Main(withBinary{m}, map[string]func(){"pi": asUser(func() { os.Exit(cli.Main(os.Args[1:])) }), "broken-pi": brokenWork, "leave": leave, "measure": measure,
		"mcp-server": mcpServer, "browse": browse})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		Setup:               setupScript,
		RequireExplicitExec: false,
		Cmds:                scriptCommands(),
	})
}

func scriptCommands() map[string]scriptCommand {
	return map[string]scriptCommand{
		"exits": scriptExits, "server": scriptServer, "bound": scriptBound, "session": scriptSession, "count": scriptCount,
		"conversation": scriptConversation, "asked": scriptAsked, "records": scriptRecords, "guarded": scriptGuarded, "over-http": scriptOverHTTP,
	}
}

// testKey stands where a secret does; no script may find it in an output.
const testKey = "sk-test-0123456789abcdef"

// endAtOnce spares each process of a test with the race detector the second that
// it waits before its end.
const endAtOnce = "atexit_sleep_ms=0"

func setupScript(env *testscript.Env) error {
	home, project := filepath.Join(env.WorkDir, "home"), filepath.Join(env.WorkDir, "project")
	for _, dir := range []string{home, project} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	env.Setenv("HOME", home)
	env.Setenv("LOCAL_KEY", testKey)
	env.Setenv("GORACE", endAtOnce)
	env.Setenv("AGENT", filepath.Join(home, ".pi", "agent"))
	examples, err := filepath.Abs(inModule("examples"))
	if err != nil {
		return err
	}
	env.Setenv("EXAMPLES", examples)
	env.Cd = project
	return errors.Join(chooseDemo(filepath.Join(home, ".pi", "agent", "config.toml")), asReleased(env))
}

// asReleased has scripts find the program as it is handed out, where the tests have the race
// detector: thousands of starts take a fifth of the time then. What races is looked for where the
// program does several things at a time: in a terminal, with an editor or a client. As root a script
// may want the program to be an ordinary user's, which only that of the tests can be.
func asReleased(env *testscript.Env) error {
	if !raceEnabled || os.Geteuid() == 0 {
		return nil
	}
	pi, err := binary.build()
	if err != nil {
		return err
	}
	dir := filepath.Join(env.WorkDir, "released")
	env.Setenv("PATH", dir+string(filepath.ListSeparator)+env.Getenv("PATH"))
	return errors.Join(os.Mkdir(dir, 0o755), os.Symlink(pi, filepath.Join(dir, "pi")))
}

// demoSettings are those of a HOME that brings none: nobody has a key there, and
// without a terminal the demo answers only who asks for it.
const demoSettings = "model = \"demo/tour\"\n"

// chooseDemo writes them, unless a script has settings of its own.
func chooseDemo(file string) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(file, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, os.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = f.WriteString(demoSettings)
	return errors.Join(err, f.Close())
}

// dropDemo takes them away again where there is a server to ask.
func dropDemo(file string) error {
	if b, err := os.ReadFile(file); err != nil || string(b) != demoSettings {
		return nil
	}
	return os.Remove(file)
}

func scriptExits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits N PROG ARGS…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		got = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("run %s: %v", args[1], err)
	}
	if got != want {
		ts.Fatalf("exit status %d, want %d", got, want)
	}
}

func scriptServer(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 && len(args) != 3 {
		ts.Fatalf("usage: server API FILE [NAME]")
	}
	if _, known := apiPaths()[args[0]]; !known {
		ts.Fatalf("unknown API %q", args[0])
	}
	s := newModelServer(args[0], ts.ReadFile(args[1]), ts.Getenv("WORK"))
	if len(args) == 3 {
		s.name, s.dumps = args[2], ts.MkAbs(filepath.Join(ts.Getenv("WORK"), args[2]))
		ts.Check(os.MkdirAll(s.dumps, 0o700))
	}
	addServer(ts, s)
}

func scriptBound(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: bound FILE")
	}
	s := newModelServer("anthropic-messages", ts.ReadFile(args[0]), ts.Getenv("WORK"))
	s.binds = true
	addServer(ts, s)
}

// addServer adds a server to the settings of a script, which stops it at its end.
func addServer(ts *testscript.TestScript, s *modelServer) {
	ts.Defer(s.http.Close)
	ts.Setenv("LOCAL_URL", s.baseURL())
	dir := ts.Getenv("AGENT")
	ts.Check(os.MkdirAll(dir, 0o700))
	ts.Check(dropDemo(filepath.Join(dir, "config.toml")))
	f, err := os.OpenFile(filepath.Join(dir, "config.toml"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	ts.Check(err)
	_, err = f.WriteString(s.settings())
	ts.Check(errors.Join(err, f.Close()))
}

func scriptSession(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: session")
	}
	files, err := filepath.Glob(filepath.Join(ts.Getenv("AGENT"), "sessions", "*", "*.jsonl"))
	ts.Check(err)
	if len(files) != 1 {
		ts.Fatalf("want one session file, have %q", files)
	}
	ts.Setenv("SESSION", files[0])
}

func scriptCount(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: count N REGEXP FILE")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	re, err := regexp.Compile("(?m)" + args[1])
	ts.Check(err)
	text := ts.ReadFile(args[2])
	if got := len(re.FindAllString(text, -1)); got != want {
		ts.Fatalf("%d matches of %s in %s, want %d:\n%s", got, args[1], args[2], want, text)
	}
}

func TestEveryScriptSaysWhatItClaims(t *testing.T) {
	files, err := filepath.Glob("testdata/scr*/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if first, _, _ := strings.Cut(string(b), "\n"); !strings.HasPrefix(first, "# ") {
			t.Errorf("%s does not begin with a comment that says what it claims", file)
		}
	}
}
