package app

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pi/luahooks/trust"
	"pi/session"
	"pi/session/folder"
	"pi/session/message"
)

// place is one with an agent directory of its own, in which these hooks are.
func place(t testing.TB, o Options, hooks map[string]string) *Place {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("PI_CODING_AGENT_DIR", filepath.Join(root, "agent"))
	cwd := filepath.Join(root, "project")
	for _, dir := range []string{cwd, filepath.Join(root, "agent", "hooks")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, code := range hooks {
		if err := os.WriteFile(filepath.Join(root, "agent", "hooks", name), []byte(code), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p, err := New(o, cwd)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestTheFolderThatAHookNamesIsThatOfOneRun(t *testing.T) {
	p := place(t, Options{}, map[string]string{"dir.lua": `pi.on("session_directory", function() return { dir = "elsewhere" } end)`})
	usual := filepath.Join(p.AgentDir, "sessions")
	one, two := p.newRun(), p.newRun()
	one.chain = p.Chain(p.Places(), nil)
	two.chain = p.Chain(trust.Places{AgentDir: p.AgentDir, Cwd: p.Cwd, NoHooks: true}, nil)
	for _, r := range []*run{one, two} {
		r.chain.Load(t.Context())
		defer r.chain.Close(t.Context())
		if err := r.beforeSession(t.Context()); err != nil || len(r.later.warnings) > 0 {
			t.Fatal(err, r.later)
		}
	}
	if want := filepath.Join(p.Cwd, "elsewhere"); one.sessions.Root != want || one.sessions.Options().Dir != want {
		t.Errorf("the first run keeps its sessions in %q", one.sessions.Root)
	}
	if two.sessions.Root != usual || p.Sessions().Root != usual || p.Options.Session.Dir != "" {
		t.Errorf("the second run keeps its sessions in %q, the place in %q", two.sessions.Root, p.Sessions().Root)
	}
}

func TestASessionIsOpenedAsTheCommandLineSays(t *testing.T) {
	sessions := place(t, Options{}, nil).Sessions()
	s := session.New(sessions.Options())
	for _, role := range []message.Role{message.RoleUser, message.RoleAssistant} {
		if _, err := s.AppendMessage(&message.Message{Role: role, Content: []message.Block{message.TextBlock("hello")}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(s.Flush(), s.Close()); err != nil {
		t.Fatal(err)
	}
	id := s.ID()
	for _, tt := range []struct {
		name           string
		flags          SessionFlags
		same, readOnly bool
		said           string // the first warning or notice
	}{
		{"nothing", SessionFlags{}, false, false, ""},
		{"the last", SessionFlags{Last: true}, true, false, ""},
		{"by its id", SessionFlags{Ref: id[:13]}, true, false, ""},
		{"to look at", SessionFlags{Resume: Resume{Ref: id}, ReadOnly: true}, true, true, "the session is open for reading only"},
		{"a copy", SessionFlags{Ref: id, Fork: true}, false, false, "going on in a copy, session "},
	} {
		later := &messages{}
		got, err := opening{sessions: sessions, flags: tt.flags, later: later}.open(t.Context())
		if err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		text := strings.Join(append(later.warnings, later.notices...), "\n")
		if (got.ID() == id) != tt.same || got.ReadOnly() != tt.readOnly || !strings.HasPrefix(text, tt.said) || tt.said == "" && text != "" {
			t.Errorf("%s: session %s, read only %v, said %q", tt.name, got.ID(), got.ReadOnly(), text)
		}
		if err := got.Close(); err != nil {
			t.Error(err)
		}
	}
	var missing *folder.NotFoundError
	if _, err := (opening{sessions: sessions, flags: SessionFlags{Resume: Resume{Ref: "0000"}}, later: &messages{}}).open(t.Context()); !errors.As(err, &missing) || !errors.As(err, new(SessionError)) {
		t.Errorf("a session that is not there: %v", err)
	}
	for _, ref := range []string{"0000", "/nowhere/x.jsonl", "nowhere.jsonl"} {
		if path, err := sessions.forResume().Find(ref); path != "" || !errors.As(err, &missing) {
			t.Errorf("/resume %s: %q, %v", ref, path, err)
		}
	}
	empty := sessions
	empty.Cwd = t.TempDir()
	if _, err := (opening{sessions: empty, flags: SessionFlags{Last: true, ReadOnly: true}, later: &messages{}}).open(t.Context()); err == nil || !strings.Contains(err.Error(), "none to look at") {
		t.Error(err)
	}
}

func TestAProgramNamesASessionByItsPath(t *testing.T) {
	p := place(t, Options{}, nil)
	s := p.Sessions()
	t.Setenv("HOME", filepath.Dir(p.Cwd))
	for argument, want := range map[string]string{
		"~/a.jsonl": filepath.Join(filepath.Dir(p.Cwd), "a.jsonl"), "a.jsonl": filepath.Join(p.Cwd, "a.jsonl"), "0198ab": filepath.Join(p.Cwd, "0198ab"), "/x/../a": "/a",
	} {
		if got := s.Path(argument); got != want {
			t.Errorf("%s is %s, want %s", argument, got, want)
		}
	}
	there := s.Path("there.jsonl")
	held, err := session.Open(there, s.Options())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := held.AppendMessage(&message.Message{Role: message.RoleUser, Content: []message.Block{message.TextBlock("hi")}}); err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	for name, text := range map[string]string{"empty.jsonl": "", "empty.txt": "", "notes.txt": "notes\n", "notes.jsonl": "notes\n"} {
		if err := os.WriteFile(s.Path(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, refused := range map[string]string{
		"new.jsonl": "", "further/down/new.jsonl": "", "empty.jsonl": "", "empty.txt": "not a session file", "new.txt": "does not exist",
		"notes.txt": "not a session file", "notes.jsonl": "not a session file", "there.jsonl": "in use by process",
	} {
		opened, err := s.OpenOrBegin(s.Path(name))
		if refused != "" {
			if err == nil || !strings.Contains(err.Error(), refused) || !strings.Contains(err.Error(), name) {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if err := opened.Flush(); err != nil || opened.File() != s.Path(name) {
			t.Errorf("%s: %s, %v", name, opened.File(), err)
		}
		opened.Close()
	}
	if text, _ := os.ReadFile(s.Path("notes.txt")); string(text) != "notes\n" {
		t.Errorf("a file that is no session says %q now", text)
	}
}
