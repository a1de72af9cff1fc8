package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pi/internal/suggest"
	"pi/session"
	"pi/session/message"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// offered are the words that fit, without what is said of them.
func offered(t *testing.T, words ...string) (all []string) {
	t.Helper()
	for _, w := range complete(context.Background(), words, "test").words {
		all = append(all, w.text)
	}
	return all
}

// completionHome is a home directory with nothing but an empty agent directory, in which the test is.
func completionHome(t testing.TB) (agentDir string) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	t.Chdir(home)
	agentDir = filepath.Join(home, ".pi", "agent")
	if err := os.MkdirAll(agentDir, 0o700); err != nil {
		t.Fatal(err)
	}
	return agentDir
}

func TestWhatFitsBehindWords(t *testing.T) {
	completionHome(t)
	for _, c := range []struct{ typed, want string }{
		{"mod", "models"},
		{"sessions s", "show"},
		{"hooks pub", "publish"},
		{"config set think", "thinking"},
		{"config set thinking med", "medium"},
		{"--mode=js", "--mode=json"},
		{"--thinking xh", "xhigh"},
		{"--no-bui", "--no-builtin-tools"},
		{"--color al", "always"},
		{"models --color al", "always"},
		{"-m demo/to", "demo/tour"},
		{"--models demo/tour,demo/to", "demo/tour,demo/tour"},
		{"-t +rea", "+read"},
		{"-t read,bas", "read,bash"},
		{"--unknown-of-a-hook=1 --no-sess", "--no-session"},
		{"-nt --no-sess", "--no-session"},
		{"hooks add example:snak", "example:snake"},
		{"docs ref", "reference"},
		{"docs hooks --section \"In bri", ""},
		{"sessions export x ht", "html"},
		{"completion fi", "fish"},
		{"man rp", "rpc"},
		{"help sess", "sessions"},
		{"-p mod", ""},      // a prompt
		{"say -- --no", ""}, // behind --
		{"--offl", ""},      // without an effect
	} {
		if got := strings.Join(offered(t, strings.Split(c.typed, " ")...), " "); got != c.want {
			t.Errorf("pi %s: %q, want %q", c.typed, got, c.want)
		}
	}
	for typed, want := range map[string]string{
		"--hook ": "files ", "--hook=x": "files --hook=", "--session-dir ": "folders ", "--resume ": "files ", "-p ": "words", "--name ": "words",
		"hooks check ": "files ", "hooks types ": "folders ", "-t ": "open", "sessions export x -o ": "files ", "--append-system-prompt ": "files ",
	} {
		if got := complete(context.Background(), strings.Split(typed, " "), "test").kind(); got != want {
			t.Errorf("pi %s: the shell is told %q, want %q", typed, got, want)
		}
	}
}

// A flag that takes a value says what completes it, or its value has a name that is not completed.
func TestEveryFlagOfAKnownKindIsCompleted(t *testing.T) {
	root := manualRoot()
	nameFiles(root)
	free := []string{"KEY", "TEXT", "NAME", "HASH", "URL", "NUMBER", "TIME", "DOLLARS", "EXPRESSION", "NAME=VALUE"}
	var check func(c *cobra.Command)
	check = func(c *cobra.Command) {
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			value, about := pflag.UnquoteUsage(f)
			if _, ok := c.GetFlagCompletionFunc(f.Name); ok || value == "" || slices.Contains(free, value) || strings.HasPrefix(about, nothing) || f.Value.Type() == "bool" {
				return
			}
			t.Errorf("%s --%s %s: nothing completes it%s", c.CommandPath(), f.Name, value, suggest.Hint(value, free))
		})
		for _, below := range c.Commands() {
			check(below)
		}
	}
	check(root)
}

// BenchmarkTab is a Tab with a thousand sessions, and with the whole catalogue.
func BenchmarkTab(b *testing.B) {
	agentDir := completionHome(b)
	cwd, err := os.Getwd()
	if err != nil {
		b.Fatal(err)
	}
	folder := filepath.Join(agentDir, "sessions", session.FolderName(cwd))
	if err := os.MkdirAll(folder, 0o700); err != nil {
		b.Fatal(err)
	}
	for i := range 1000 {
		s := session.New(session.Options{Cwd: cwd, Now: func() time.Time { return time.Unix(int64(1e9+i), 0) }})
		var file []byte
		for range 40 {
			if _, err := s.AppendMessage(&message.Message{Role: message.RoleUser, Content: []message.Block{message.TextBlock(strings.Repeat("a prompt of some length ", 100))}, Timestamp: 1}); err != nil {
				b.Fatal(err)
			}
		}
		for line := range s.Lines() {
			file = append(append(file, line...), '\n')
		}
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("%d_%s.jsonl", i, s.ID())), file, 0o600); err != nil {
			b.Fatal(err)
		}
	}
	for name, words := range map[string][]string{"commands": {""}, "flags": {"--"}, "sessions": {"--resume", ""}, "models": {"-m", ""}, "catalogue": {"-m", "openrouter/"}, "providers": {"--provider", ""}} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if found := complete(context.Background(), words, "test"); len(found.words) == 0 {
					b.Fatal("nothing fits")
				}
			}
		})
	}
}
