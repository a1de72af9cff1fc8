package cli

import (
	"strings"
	"testing"

	"pi/cli/app"
)

func TestArgumentsArePreparedForTheFlagLibrary(t *testing.T) {
	for _, tt := range []struct {
		args, want string
		prints     bool
	}{
		{"-na fix it", "--no-approve fix it", false},
		{"-p hello", "-p hello", true},
		{"--print hooks", "--print hooks", true},
		{"--resume 0a1b", "--resume=0a1b", false},
		{"-r 0a1b -p", "--resume=0a1b -p", true},
		{"--resume -p hello", "--resume -p hello", true},
		{"--resume", "--resume", false},
		{"--resume my,session.jsonl x", "--resume=my session.jsonl x", false}, // a comma is a blank here
		{"--resume two,words", "--resume two words", false},
		{"-- -na -p --resume 0a1b", "-- -na -p --resume 0a1b", false},
		{"-ne -nt -nbt -ns -np -nc", "--no-hooks --no-tools --no-builtin-tools --no-skills --no-prompt-templates --no-context-files", false},
		{"-xt bash -xt=edit -ns", "--exclude-tools bash --exclude-tools=edit --no-skills", false},
		{"-t -nt", "-t -nt", false}, // the value of a flag is no flag
		{"-t=-nt -ns", "-t=-nt --no-skills", false},
		{"-mnt -nt", "-mnt --no-tools", false}, // the model nt
		{"--name -na -na", "--name -na --no-approve", false},
		{"--mode json hooks", "--mode json hooks", true},
		{"--mode=rpc hooks", "--mode=rpc hooks", true},
		{"--fork 0a1b", "--fork=0a1b", false},
		{"--fork 0a1b --session-id x", "--fork=0a1b --session-id x", false},
		{"--continue --fork hello", "--continue --fork hello", false},
		{"--fork hello -c", "--fork hello -c", false},
		{"--fork two,words", "--fork two words", false},
	} {
		var args []string
		for _, word := range strings.Fields(tt.args) {
			args = append(args, strings.ReplaceAll(word, ",", " "))
		}
		got, prints := prepareArgs(newRoot(&app.Options{}), args)
		if strings.Join(got, " ") != tt.want || prints != tt.prints {
			t.Errorf("%s: %q, %v", tt.args, got, prints)
		}
	}
}

func TestWhoIsStartedByAnEditor(t *testing.T) {
	for _, c := range []struct {
		args string
		want bool
	}{
		{"--mode acp", true}, {"--mode=acp --bogus", true}, {"--bogus --mode acp", true}, {"--name acp --mode acp", true},
		{"", false}, {"acp", false}, {"--mode", false}, {"--mode rpc acp", false}, {"-- --mode acp", false}, {"--mode acp --login", false},
	} {
		if got := isForEditor(strings.Fields(c.args)); got != c.want {
			t.Errorf("%q: %v", c.args, got)
		}
	}
}
