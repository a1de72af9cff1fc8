package app

import (
	"os"
	"path/filepath"
	"testing"

	"pi/session"
)

func TestTheCommandThatGoesOnFindsTheSession(t *testing.T) {
	p := place(t, Options{}, nil)
	here := filepath.Join(p.AgentDir, "sessions", session.FolderName(p.Cwd), "a.jsonl")
	other, odd := filepath.Join(t.TempDir(), "b.jsonl"), filepath.Join(t.TempDir(), "it's mine.jsonl")
	for _, file := range []string{here, other, odd} {
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for file, want := range map[string]string{
		here: "pi --resume id", other: "pi --resume " + other, odd: "pi --resume '" + filepath.Dir(odd) + `/it'\''s mine.jsonl'`,
		"": "", filepath.Join(t.TempDir(), "none"): "",
	} {
		if got := p.resumeCommand(file, "id"); got != want {
			t.Errorf("%s: %s, want %s", file, got, want)
		}
	}
}
