package cli

import (
	"strings"
	"testing"
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
	} {
		var args []string
		for _, word := range strings.Fields(tt.args) {
			args = append(args, strings.ReplaceAll(word, ",", " "))
		}
		got, prints := prepareArgs(args)
		if strings.Join(got, " ") != tt.want || prints != tt.prints {
			t.Errorf("%s: %q, %v", tt.args, got, prints)
		}
	}
}
