package instructions

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func TestInstructionFilesComeFromTheRootDown(t *testing.T) {
	root := t.TempDir()
	for path, text := range map[string]string{
		"home/.pi/agent/AGENTS.md": "global",
		"work/AGENTS.md":           "outer", "work/CLAUDE.md": "not read",
		"work/repo/CLAUDE.md":    "\uFEFFinner\xff",
		"work/repo/a/AGENTS.md":  "  \n",
		"work/repo/a/CLAUDE.md":  "not read",
		"work/repo/ab/AGENTS.md": "not on the way",
	} {
		path = filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	texts := func(agentDir, cwd string) (texts []string) {
		files, problems := Find(Places{AgentDir: filepath.Join(root, agentDir), Cwd: filepath.Join(root, cwd)})
		for _, f := range files {
			if strings.HasPrefix(f.Path, root) {
				texts = append(texts, f.Text)
			}
		}
		if len(problems) != 0 {
			t.Errorf("problems %v", problems)
		}
		return texts
	}
	if got, want := texts("home/.pi/agent", "work/repo/a"), []string{"global", "outer", "inner\uFFFD"}; !reflect.DeepEqual(got, want) {
		t.Errorf("files %q, want %q", got, want)
	}
	if got, want := texts("work", "work/repo"), []string{"outer", "inner\uFFFD"}; !reflect.DeepEqual(got, want) {
		t.Errorf("from the agent directory itself: %q, want %q", got, want)
	}
}

func TestUnreadableInstructionsAndHiddenCharactersAreReported(t *testing.T) {
	dir := t.TempDir()
	sub := filepath.Join(dir, "sub")
	if err := os.MkdirAll(filepath.Join(sub, "AGENTS.md"), 0o700); err != nil { // a directory of that name
		t.Fatal(err)
	}
	text := "fine: \t é 👩‍💻\r\nnot\u202E fine\n"
	if err := os.WriteFile(filepath.Join(dir, "AGENTS.md"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	files, problems := Find(Places{AgentDir: dir, Cwd: sub})
	if len(files) == 0 || files[0].Text != text {
		t.Errorf("files %q", files)
	}
	if len(problems) != 2 || !strings.HasSuffix(problems[0].Error(), "AGENTS.md: hidden character U+202E in line 2") || !strings.HasPrefix(problems[1].Error(), "read instructions: ") {
		t.Errorf("problems %v", problems)
	}
}
