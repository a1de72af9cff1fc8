//go:build unix

package e2e

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/tools/txtar"
)

// The scripts in testdata/attack are attacks: what a model that was talked into
// something, a tool, a folder from elsewhere, a server or a hook might try
// against the user who runs the program. A script is named by what is tried
// and looks so:
//
//	# tried: a tool rewrites the gate in place
//	# promised: the gate stays in force, and the next start does not run what was written
//	LINES FOR BOTH PARTS
//	# attack: what the attacker does, and how one sees that it came to nothing
//	LINES
//	# control: the same act where it is harmless, or approved, works
//	LINES
//	-- files, as in every txtar script --
//
// The parts run as two tests, NAME,attack and NAME,control, each in a fresh
// HOME and project with the same files, so that neither depends on the other.
// Both have to run the program and to check something, and the control is there
// so that no attack fails for the mere reason that the act itself is broken: it
// is to differ from the attack in as little as can be.
//
// What is one of several acts on one of several files is in attackTable instead, and what differs
// in a line or two in alikeAttacks; these make the same scripts.
//
// To add a case, write the file, and try it with
//
//	go test ./e2e -run 'TestAttacks/^NAME,'
//
// A case is one act, 10 to 25 lines, and takes a tenth of a second: two to four
// starts of the program, no sleeps. What docs/security.md promises names its
// scripts there.
//
// $RAN is a marker file that does not exist yet. $EVIL is a hook that makes it
// when a session starts, and $GATE one that blocks every command with the word
// touch in it, so that tool 'touch $RAN' with ! ran says that the gate is shut.
// Beside the commands of testscript and those of TestScripts (exits, server,
// session, conversation, asked, count; $AGENT, $EXAMPLES, $LOCAL_KEY) there are:
//
//	ask [STATUS] [FLAGS…] PROMPT…
//	              prompts in print mode, one after the other in one run, to
//	              $MODEL, which is demo/tour (it understands run `CMD`; write FILE:
//	              TEXT; edit FILE: OLD -> NEW; read FILE; grep TEXT in DIR; list);
//	              wants the exit status (0); a flag with a value is --flag=value
//	tool [STATUS] [FLAGS…] COMMAND…
//	              the same, and the model has bash run each COMMAND
//	model FILE    from here on $MODEL is a server that answers as FILE says
//	              (see modelServer; what it is asked goes to $WORK/request1.json)
//	ran           wants the marker file $RAN and removes it; ! ran wants it missing
//	client FILE   a shell script that runs the program over RPC, and answers it
//	behind [-away] COMMAND
//	              a tool leaves a process behind, -away from its group and
//	              session, which runs COMMAND at the next
//	release       lets the process left behind do its work, and waits for it
//	pipe NAME     makes the named pipe $WORK/NAME for
//	await NAME    waits for a line in it; if that is a number, the process and the
//	              group of that id end with the script
//	signal NAME   sends a signal (TERM, QUIT, …) to what runs in the background
//	bounded SECONDS MEGABYTES PROG ARGS…
//	              wants that PROG succeeds within this processor time and memory;
//	              with STATUS in front of PROG, that it ends with it
//	fill FILE N TEXT
//	              writes TEXT N times (\n \t \\ \xHH and \uHHHH are understood)
//	many N NAME [TEXT]
//	              makes N files, with their number for the %d in NAME
//	small FILE N  wants a file of at most N bytes
//	user          the program runs as an ordinary user from here on, also where
//	              the suite runs as root; what is in $WORK is that user's
func TestAttacks(t *testing.T) {
	scripts := attackScripts(t)
	dir := t.TempDir()
	var parts []string
	for name, script := range scripts {
		c, err := splitAttack([]byte(script))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for part, text := range map[string][]byte{"attack": c.attack, "control": c.control} {
			path := filepath.Join(dir, name+","+part+".txtar")
			if err := os.WriteFile(path, text, 0o600); err != nil {
				t.Fatal(err)
			}
			parts = append(parts, path)
		}
	}
	slices.Sort(parts)
	t.Logf("%d attacks, each with its control", len(scripts))
	testscript.Run(t, testscript.Params{Files: parts, Setup: setupAttack, Cmds: attackCommands()})
}

// attackCase is a script taken apart: what runs for each of its parts, with
// empty lines where the other part was, so that the lines keep their numbers.
type attackCase struct{ attack, control []byte }

func splitAttack(text []byte) (attackCase, error) {
	archive := txtar.Parse(text)
	lines := strings.Split(strings.TrimSuffix(string(archive.Comment), "\n"), "\n")
	if len(lines) < 2 || !strings.HasPrefix(lines[0], "# tried: ") || !strings.HasPrefix(lines[1], "# promised: ") {
		return attackCase{}, errors.New("its first two lines have to be # tried: … and # promised: …")
	}
	attack, err := onlyLine(lines, "# attack: ")
	if err != nil {
		return attackCase{}, err
	}
	control, err := onlyLine(lines, "# control: ")
	if err != nil {
		return attackCase{}, err
	}
	if control < attack {
		return attackCase{}, errors.New("the attack comes before its control")
	}
	for part, of := range map[string][]string{"attack": lines[attack:control], "control": lines[control:]} {
		if err := checkPart(of); err != nil {
			return attackCase{}, fmt.Errorf("the %s %w", part, err)
		}
	}
	archive.Comment = nil
	files := txtar.Format(archive)
	part := func(own []string, before, behind int) []byte {
		blank := func(n int) []string { return make([]string, n) }
		all := slices.Concat(lines[:attack], blank(before), own, blank(behind))
		return append([]byte(strings.Join(all, "\n")+"\n"), files...)
	}
	return attackCase{
		attack:  part(lines[attack:control], 0, len(lines)-control),
		control: part(lines[control:], control-attack, 0),
	}, nil
}

func onlyLine(lines []string, prefix string) (int, error) {
	at := -1
	for i, line := range lines {
		if !strings.HasPrefix(line, prefix) {
			continue
		}
		if at >= 0 {
			return 0, fmt.Errorf("there are two parts %s", strings.TrimSpace(prefix))
		}
		at = i
	}
	if at < 0 {
		return 0, fmt.Errorf("there is no part %s", strings.TrimSpace(prefix))
	}
	return at, nil
}

var (
	runsProgram = regexp.MustCompile(`(?m)^(! )?(pi|ask|tool|behind|client|exits \d+ pi|bounded \S+ \S+ (\d+ )?pi)( |$)`)
	checks      = regexp.MustCompile(`(?m)^(! )?(ran|stdout|stderr|ttyout|exists|grep|cmp|cmpenv|count|small|bounded|exits|session)( |$)`)
)

// checkPart wants that a part of a script runs the program and checks something.
func checkPart(lines []string) error {
	text := strings.Join(lines, "\n")
	if !runsProgram.MatchString(text) {
		return errors.New("does not run the program")
	}
	if !checks.MatchString(text) {
		return errors.New("checks nothing")
	}
	return nil
}

func TestEveryAttackHasItsControl(t *testing.T) {
	for name, script := range attackScripts(t) {
		if _, err := splitAttack([]byte(script)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAScriptWithoutAControlIsNoAttack(t *testing.T) {
	const whole = "# tried: this\n# promised: that\nhead\n# attack: a\nask 'x'\n! ran\n# control: c\nask 'y'\nran\n-- f --\nx\n"
	for name, c := range map[string]struct{ old, new, want string }{
		"whole":           {"", "", ""},
		"no promise":      {"# promised: that\n", "", "its first two lines"},
		"no attack":       {"# attack: a\n", "", "no part # attack:"},
		"no control":      {"# control: c\n", "", "no part # control:"},
		"two controls":    {"ran\n-- f", "ran\n# control: d\n-- f", "two parts # control:"},
		"idle attack":     {"ask 'x'\n", "", "the attack does not run the program"},
		"idle control":    {"ask 'y'\n", "", "the control does not run the program"},
		"believed":        {"! ran\n", "", "the attack checks nothing"},
		"only in a quote": {"ask 'y'", "exec echo pi", "the control does not run the program"},
	} {
		got, err := splitAttack([]byte(strings.Replace(whole, c.old, c.new, 1)))
		if c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: the error is %v, want %q", name, err, c.want)
		}
		if c.want != "" {
			continue
		}
		const head = "# tried: this\n# promised: that\nhead\n"
		if want := head + "# attack: a\nask 'x'\n! ran\n\n\n\n-- f --\nx\n"; string(got.attack) != want {
			t.Errorf("%s: the attack is %q, %v", name, got.attack, err)
		}
		if want := head + "\n\n\n# control: c\nask 'y'\nran\n-- f --\nx\n"; string(got.control) != want {
			t.Errorf("%s: the control is %q", name, got.control)
		}
	}
}

const (
	evilHook = `pi.on("session_start", function() pi.exec("touch", { os.getenv("RAN") }) end)
`
	gateHook = `pi.on("tool_call", function(event)
  if event.tool_name == "bash" and event.input.command:find("touch", 1, true) then
    return { block = true, reason = "the gate is shut" }
  end
end)
`
)

func setupAttack(env *testscript.Env) error {
	if err := setupScript(env); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(env.Getenv("AGENT"), "hooks"), 0o700); err != nil {
		return err
	}
	env.Setenv("RAN", filepath.Join(env.WorkDir, "ran"))
	env.Setenv("MODEL", "demo/tour")
	for name, text := range map[string]string{"EVIL": evilHook, "GATE": gateHook} {
		path := filepath.Join(env.WorkDir, strings.ToLower(name)+".lua")
		env.Setenv(name, path)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

type scriptCommand = func(*testscript.TestScript, bool, []string)

func attackCommands() map[string]scriptCommand {
	own := map[string]scriptCommand{
		"ask": attackAsk, "tool": attackTool, "client": attackClient, "model": attackModel, "ran": attackRan,
		"behind": attackBehind, "release": attackRelease, "pipe": attackPipe, "await": attackAwait, "signal": attackSignal,
		"bounded": attackBounded, "fill": attackFill, "many": attackMany, "small": attackSmall, "user": attackUser,
	}
	maps.Copy(own, scriptCommands())
	return own
}
