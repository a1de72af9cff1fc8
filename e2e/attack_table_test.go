package e2e

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The attacks that are alike: a tool does something to a file that decides what is allowed, and
// then goes for what was not. Each act on each of these files makes a script as those in
// testdata/attack are, by the name tool-ACT-TARGET, such as tool-removes-the-gate.

// attackAct is what a tool does to a file.
type attackAct struct {
	name    string // in the name of the script
	tried   string // in its first line
	command string // to FILE; $WORK/tame.lua decides nothing
}

func attackActs() []attackAct {
	return []attackAct{
		{"empties", "truncates", `: > FILE`},
		{"overwrites", "overwrites in place, byte for byte as long as it was,",
			`head -c $(wc -c < FILE) /dev/zero | tr "\0" - > $WORK/dashes; dd if=$WORK/dashes of=FILE conv=notrunc 2> /dev/null`},
		{"removes", "removes", `rm FILE`},
		{"links", "puts a symbolic link to its own file in the place of", `ln -sf $WORK/tame.lua FILE`},
		{"replaces", "renames a file of its own onto", `cp $WORK/tame.lua $WORK/new.lua; mv $WORK/new.lua FILE`},
	}
}

// attackTarget is a file by which a gate is in force.
type attackTarget struct {
	name     string // in the name of the script
	what     string // in its first line
	file     string
	prepared string // the lines that make it so
	flags    string // with which the program starts
	tame     string // such a file that decides nothing
	files    string // others of the script
	// The control is the same act by a user. Where that waits for an approval as well, it is
	// approved; where nothing would start after it, it is done by the tool to another file.
	approved bool
	breaking []string // the acts after which nothing would start
}

// agreeToPack is how a person adds the package pack, who has looked at its list.
const agreeToPack = "exec sh -c 'pi hooks add ./pack --yes --sum $(pi hooks add ./pack --dry-run | grep -oE \"[0-9a-f]{64}\" | tail -1)'\n"

func attackTargets() []attackTarget {
	const nothing = "-- nothing\n"
	return []attackTarget{
		{name: "the-gate", what: "the gate", file: "$AGENT/hooks/gate.lua", tame: nothing,
			prepared: "cp $GATE $AGENT/hooks/gate.lua\n"},
		{name: "the-gate-that-is-a-folder", what: "init.lua of a gate that is a folder", file: "$AGENT/hooks/gate/init.lua", tame: nothing,
			prepared: "mkdir $AGENT/hooks/gate\ncp $GATE $AGENT/hooks/gate/init.lua\n", breaking: []string{"removes"}},
		{name: "the-file-that-the-gate-is-a-link-to", what: "the file to which the gate is a person's symbolic link", file: "$WORK/mine/gate.lua", tame: nothing,
			prepared: "mkdir $WORK/mine\ncp $GATE $WORK/mine/gate.lua\nsymlink $AGENT/hooks/gate.lua -> $WORK/mine/gate.lua\n", breaking: []string{"removes"}},
		{name: "the-gate-of-the-command-line", what: "a gate that --hook names", file: "$WORK/gate.lua", tame: nothing,
			flags: " --hook=../gate.lua", breaking: []string{"removes"}},
		{name: "the-gate-named-in-the-settings", what: "a gate that config.toml names, outside of the hooks folder", file: "$WORK/gate.lua", tame: nothing,
			files: "-- home/.pi/agent/config.toml --\nhooks = [\"../../../gate.lua\"]\n", breaking: []string{"removes"}},
		{name: "the-settings-that-name-the-gate", what: "the config.toml by which the gate is loaded", file: "$AGENT/config.toml",
			files: "-- home/.pi/agent/config.toml --\nhooks = [\"../../../gate.lua\"]\n", breaking: []string{"overwrites"}},
		{name: "the-approved-gate-of-the-project", what: "a gate of the project, which a person approved", file: ".pi/hooks/gate.lua", tame: nothing,
			prepared: "mkdir .pi/hooks\ncp $GATE .pi/hooks/gate.lua\npi trust --yes\n", approved: true},
		{name: "the-gate-of-a-package", what: "a gate of a package, which a person agreed to", file: "$AGENT/packages/pack/hooks/gate.lua", tame: nothing,
			prepared: "mkdir pack/hooks\ncp $GATE pack/hooks/gate.lua\n" + agreeToPack, approved: true},
		{name: "a-module-of-the-gate-of-a-package", what: "the module that decides for the gate of a package", file: "$AGENT/packages/pack/rule.lua", tame: "return function() return false end\n",
			prepared: agreeToPack, approved: true, breaking: []string{"empties", "overwrites", "removes"}, files: `-- project/pack/rule.lua --
return function(command) return command:find("touch", 1, true) end
-- project/pack/hooks/gate.lua --
local forbidden = require "pack.rule"
pi.on("tool_call", function(event)
  if event.tool_name == "bash" and forbidden(event.input.command) then return { block = true } end
end)
`},
		{name: "a-module-of-the-gate", what: "the module that decides for the gate", file: "$AGENT/hooks/lib/rule.lua", tame: "return function() return false end\n",
			files: `-- home/.pi/agent/hooks/lib/rule.lua --
return function(command) return command:find("touch", 1, true) end
-- home/.pi/agent/hooks/gate.lua --
local forbidden = require "rule"
pi.on("tool_call", function(event)
  if event.tool_name == "bash" and forbidden(event.input.command) then return { block = true } end
end)
`, breaking: []string{"empties", "overwrites", "removes"}},
	}
}

// harmedRecord is something done to what says what was in force, by a tool that also empties the
// gate. The control is the same and an approval.
type harmedRecord struct {
	name    string // in the name of the script
	tried   string // in its first line
	command string
	user    string // the line for an ordinary user, whom rights keep out; else empty
	mended  string // what a user has to do before an approval
}

func harmedRecords() []harmedRecord {
	const ordinary = "user\n"
	var all []harmedRecord
	for _, file := range []struct{ name, what, path string }{
		{"the-store", "the file with what was approved", "$AGENT/trust.json"},
		{"the-window", "the file that says that tools are at work", "$AGENT/trust/running-*"},
	} {
		for _, act := range []harmedRecord{
			{name: "empties", tried: "truncates", command: ": > $(echo FILE)"},
			{name: "overwrites", tried: "overwrites, byte for byte as long as it was,",
				command: "f=$(echo FILE); head -c $(wc -c < $f) /dev/zero > $WORK/zeros; dd if=$WORK/zeros of=$f conv=notrunc 2> /dev/null"},
			{name: "removes", tried: "removes", command: "rm FILE"},
			{name: "links", tried: "puts a link to /dev/null in the place of", command: "ln -sf /dev/null $(echo FILE)"},
			{name: "locks-up", tried: "takes all rights away from", command: "chmod 000 FILE", user: ordinary,
				mended: "exec sh -c 'chmod 600 FILE 2> /dev/null || true'\n"},
			{name: "makes-a-folder-of", tried: "puts a folder in the place of", command: "f=$(echo FILE); rm $f; mkdir $f"},
			{name: "makes-a-pipe-of", tried: "puts a named pipe in the place of", command: "f=$(echo FILE); rm $f; mkfifo $f"},
		} {
			at := strings.NewReplacer("FILE", file.path)
			all = append(all, harmedRecord{act.name + "-" + file.name, act.tried + " " + file.what, at.Replace(act.command), act.user, at.Replace(act.mended)})
		}
	}
	const folder = "the folder with the kept versions and the windows"
	return append(all,
		harmedRecord{name: "links-the-folder-of-the-store", tried: "puts a link to a folder of its own in the place of the one with the kept versions and the windows",
			command: "cp -a $AGENT/trust $WORK/mine; rm -r $AGENT/trust; ln -s $WORK/mine $AGENT/trust; rm -r $WORK/mine/kept"},
		harmedRecord{name: "locks-up-the-folder-of-the-store", tried: "takes all rights away from " + folder,
			command: "chmod 000 $AGENT/trust", user: ordinary, mended: "exec sh -c 'chmod 700 $AGENT/trust'\n"},
		harmedRecord{name: "makes-the-folder-of-the-store-read-only", tried: "takes the right to write into " + folder + " away",
			command: "chmod 500 $AGENT/trust", user: ordinary, mended: "exec sh -c 'chmod 700 $AGENT/trust'\n"},
		harmedRecord{name: "moves-the-folder-of-the-store", tried: "moves " + folder + " away", command: "mv $AGENT/trust $WORK/old"},
		harmedRecord{name: "removes-the-folder-of-the-store", tried: "removes " + folder, command: "rm -r $AGENT/trust"},
		harmedRecord{name: "removes-what-was-kept-of-the-gate", tried: "removes the copies of the files that are in force", command: "rm -r $AGENT/trust/kept"},
		harmedRecord{name: "makes-a-folder-of-the-lock-of-the-store", tried: "puts a folder in the place of the lock of the store", command: "mkdir $AGENT/.trust.json.lock"},
	)
}

const harmedScript = `# tried: a tool empties the gate and TRIED
# promised: what cannot be read, or is not what was written, holds everything back until a person approved it
cp $GATE $AGENT/hooks/gate.lua
USER
# attack: all that, the call, and the call at the next start
tool 'ACT' 'touch $RAN'
! ran
tool 7 'touch $RAN'
! ran
# control: a person approves what there is
tool 'ACT'
MENDED
pi trust --yes
tool 'touch $RAN'
ran
`

// harmedAndKilledScript has ^ for a backquote.
const harmedAndKilledScript = `# tried: a tool empties the gate and TRIED, then kills the program
# promised: what cannot be read, or is not what was written, holds everything back until a person approved it
cp $GATE $AGENT/hooks/gate.lua
USER
# attack: all that, then the call at the next start
! pi --model demo/tour -p 'run ^ACT; kill -9 $PPID^'
! pi --model demo/tour -p 'run ^touch $RAN^'
! ran
# control: a person approves what there is
! pi --model demo/tour -p 'run ^ACT; kill -9 $PPID^'
MENDED
pi trust --yes
tool 'touch $RAN'
ran
`

// attackScripts are all attacks by their names: the files of testdata/attack, and those of
// the tables.
func attackScripts(t *testing.T) map[string]string {
	t.Helper()
	scripts := attackTable()
	maps.Copy(scripts, alikeAttacks())
	maps.Copy(scripts, serverAttacks())
	files, err := filepath.Glob("testdata/attack/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no attacks: %v", err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txtar")
		if scripts[name] != "" {
			t.Errorf("%s is in a table, too", file)
		}
		scripts[name] = mustRead(t, file)
	}
	return scripts
}

func attackTable() map[string]string {
	scripts := map[string]string{}
	for _, target := range attackTargets() {
		for _, act := range attackActs() {
			scripts["tool-"+act.name+"-"+target.name] = target.attackedBy(act)
		}
	}
	for _, harmed := range harmedRecords() {
		replaced := []string{"TRIED", harmed.tried, "USER\n", harmed.user, "ACT", ": > $AGENT/hooks/gate.lua; " + harmed.command, "MENDED\n", harmed.mended, "^", "`"}
		scripts["tool-"+harmed.name] = likeness(harmedScript, replaced...)
		scripts["tool-"+harmed.name+"-and-kills-the-program"] = likeness(harmedAndKilledScript, replaced...)
	}
	return scripts
}

func (target attackTarget) attackedBy(act attackAct) string {
	on := func(file string) string { return strings.ReplaceAll(act.command, "FILE", file) }
	var script strings.Builder
	fmt.Fprintf(&script, "# tried: a tool %s %s, then goes for what it blocked\n", act.tried, target.what)
	script.WriteString("# promised: the version before stays in force for the run, and the next start asks a person\n")
	script.WriteString(target.prepared)
	script.WriteString("# attack: the act, the call, and the call at the next start\n")
	fmt.Fprintf(&script, "tool%s '%s' 'touch $RAN'\n! ran\n", target.flags, on(target.file))
	fmt.Fprintf(&script, "tool 7%s 'touch $RAN'\n! ran\n", target.flags)
	if slices.Contains(target.breaking, act.name) {
		script.WriteString("# control: the same with another file changes nothing\n")
		fmt.Fprintf(&script, "tool%s '%s' 'echo it works' 'touch $RAN'\nstdout 'it works'\n! ran\n", target.flags, on("$WORK/other.lua"))
	} else {
		script.WriteString("# control: the same by a person\n")
		fmt.Fprintf(&script, "exec sh -c '%s'\n", on(target.file))
		if target.approved {
			script.WriteString("pi trust --yes\n")
		}
		fmt.Fprintf(&script, "tool%s 'touch $RAN'\nran\n", target.flags)
	}
	fmt.Fprintf(&script, "-- tame.lua --\n%s-- other.lua --\n-- nothing\n%s", target.tame, target.files)
	return script.String()
}
