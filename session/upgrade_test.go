package session

import (
	"strings"
	"testing"

	"pi/session/message"
)

var versionOne = []string{
	`{"type":"session","id":"old","timestamp":"2024-01-02T03:04:05.006Z","cwd":"/w","provider":"p"}`,
	`{"type":"message","timestamp":"t","message":{"role":"user","content":"1","timestamp":1}}`,
	`{"type":"message","timestamp":"t","message":{"role":"assistant","content":[{"type":"text","text":"2"}],"provider":"p","model":"m","timestamp":1}}`,
	`{"type":"message","timestamp":"t","message":{"role":"user","content":"3","timestamp":1}}`,
	`{"type":"compaction","timestamp":"t","summary":"sum","firstKeptEntryIndex":3,"tokensBefore":5}`,
	`{"type":"message","timestamp":"t","message":{"role":"hookMessage","content":"5","customType":"h","display":true,"timestamp":1}}`,
}

func TestVersionOneIsReadAndMigratedOnlyBesideABackup(t *testing.T) {
	path := write(t, versionOne...)
	before := contents(t, path)
	if got := gist(read(t, path).Context()); got != "sum 3 5" {
		t.Errorf("context %q", got)
	}
	s := open(t, path, Options{})
	if contents(t, path) != before {
		t.Error("opening changed the file")
	}
	say(t, s, "6")
	say(t, s, "7")
	if got := contents(t, path+".v1.bak"); got != before {
		t.Errorf("backup:\n%s", got)
	}
	r := read(t, path)
	if got := gist(r.Context()); got != "sum 3 5 6 7" || r.Header().Version != Version || r.ID() != "old" || r.Problems() != nil {
		t.Errorf("context %q of version %d", got, r.Header().Version)
	}
	if !strings.Contains(contents(t, path), `"provider":"p"`) || strings.Contains(contents(t, path), "firstKeptEntryIndex") {
		t.Errorf("migrated:\n%s", contents(t, path))
	}
	if _, err := Open(path, Options{}); err == nil {
		t.Error("the new file is not locked")
	}
}

func TestVersionTwoIsReadAndAppendedTo(t *testing.T) {
	hook := strings.Replace(line("u2"), `"role":"user"`, `"role":"hookMessage"`, 1)
	path := write(t, strings.Replace(headerLine, `"version":3`, `"version":2`, 1), line("u1"), hook)
	before := contents(t, path)
	s := open(t, path, Options{})
	if m := s.Context()[1].Message; m.Role != message.RoleCustom || m.Text() != "2" {
		t.Errorf("role %q", m.Role)
	}
	say(t, s, "3")
	if !strings.HasPrefix(contents(t, path), before) {
		t.Error("what was there has changed")
	}
	if got := gist(read(t, path).Context()); got != "1 2 3" {
		t.Errorf("context %q", got)
	}
}

func TestVersionOneIsALineWhateverParentsItNames(t *testing.T) {
	text := strings.Replace(headerLine, `"version":3,`, "", 1) + "\n" + line("u1") + "\n" + line("u2^0") + "\n" + line("u3^1") + "\n"
	if got := gist(read(t, writeRaw(t, text)).Context()); got != "1 2 3" {
		t.Errorf("context %q", got)
	}
}
