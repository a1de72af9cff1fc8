//go:build unix

package instructions

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestInstructionsThatAreNoFileAreReported(t *testing.T) {
	for name, put := range map[string]func(path string) error{
		"a named pipe": func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"endless":      func(path string) error { return os.Symlink("/proc/self/pagemap", path) },
		"a directory":  func(path string) error { return os.Mkdir(path, 0o700) },
		"too much":     func(path string) error { return os.WriteFile(path, make([]byte, maxInstructions+1), 0o600) },
	} {
		dir := t.TempDir()
		if err := put(filepath.Join(dir, "AGENTS.md")); err != nil {
			t.Fatal(err)
		}
		files, problems := Find(Places{AgentDir: dir, Cwd: dir})
		if len(files) != 0 || len(problems) == 0 || !strings.Contains(problems[0].Error(), "AGENTS.md") {
			t.Errorf("%s: %v, %v", name, files, problems)
		}
	}
}

// projectOf makes a tree of folders, files and links below a fresh directory: a
// value that begins with -> is a link.
func projectOf(t *testing.T, tree map[string]string) (root string) {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range tree {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if to, link := strings.CutPrefix(text, "->"); link {
			err = os.Symlink(strings.ReplaceAll(to, "ROOT", root), path)
		} else {
			err = os.WriteFile(path, []byte(text), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestInstructionsStayInTheProject(t *testing.T) {
	for _, c := range []struct {
		name          string
		tree          map[string]string
		cwd, home     string
		allowed       string
		texts, refuse string
	}{
		{"a link out", map[string]string{"secret": "key", "p/.git/x": "", "p/AGENTS.md": "->../secret"}, "p", "", "", "",
			"p/AGENTS.md is left out: a link leads out of the project, to ROOT/secret; instructions = [\"ROOT/secret\"] in your own config.toml allows it"},
		{"a link out by its full name", map[string]string{"secret": "key", "p/AGENTS.md": "->ROOT/secret"}, "p", "", "", "", "a link leads out"},
		{"by way of a folder", map[string]string{"s/AGENTS.md": "key", "p/.git/x": "", "p/sub": "->../s"}, "p/sub", "", "", "", "a link leads out"},
		{"by way of another link", map[string]string{"secret": "key", "p/x": "->../secret", "p/AGENTS.md": "->x"}, "p", "", "", "", "a link leads out"},
		{"CLAUDE.md too, and it does not take the place of the other", map[string]string{"secret": "key", "p/AGENTS.md": "->../secret", "p/CLAUDE.md": "->../secret"},
			"p", "", "", "", "p/AGENTS.md is left out"},
		{"a name that begins like the project's", map[string]string{"pp/secret": "key", "p/AGENTS.md": "->../pp/secret"}, "p", "", "", "", "a link leads out"},
		{"a home that is a repository is no project", map[string]string{".git/x": "", "secret": "key", "p/AGENTS.md": "->../secret"}, "p", ".", "", "", "a link leads out"},
		{"inside of the repository", map[string]string{"p/.git/x": "", "p/AGENTS.md": "ours", "p/a/b/AGENTS.md": "->../../AGENTS.md"}, "p/a/b", "", "", "ours ours", ""},
		{"one name for two", map[string]string{"p/CLAUDE.md": "ours", "p/AGENTS.md": "->CLAUDE.md"}, "p", "", "", "ours", ""},
		{"the project is reached by a link", map[string]string{"real/AGENTS.md": "ours", "p": "->real"}, "p", "", "", "ours", ""},
		{"a link that leads nowhere", map[string]string{"p/AGENTS.md": "->nowhere", "p/CLAUDE.md": "ours"}, "p", "", "", "ours", ""},
		{"above the project, one's own link", map[string]string{"dotfiles/all.md": "mine", "w/AGENTS.md": "->../dotfiles/all.md", "w/p/.git/x": ""}, "w/p", "", "", "mine", ""},
		{"allowed by its real name", map[string]string{"team.md": "team", "p/AGENTS.md": "->../team.md"}, "p", "", "team.md", "team", ""},
		{"what is allowed is the file, not the link", map[string]string{"secret": "key", "p/AGENTS.md": "->../secret"}, "p", "", "p/other.md", "", "a link leads out"},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := projectOf(t, c.tree)
			at := Places{Cwd: filepath.Join(root, c.cwd), Allowed: []string{filepath.Join(root, c.allowed)}}
			if c.home != "" {
				at.Home = filepath.Join(root, c.home)
			}
			files, problems := Find(at)
			var texts []string
			for _, f := range files {
				texts = append(texts, f.Text)
			}
			if got := strings.Join(texts, " "); got != c.texts {
				t.Errorf("files %q, want %q", got, c.texts)
			}
			said := ""
			if len(problems) > 0 {
				said = strings.ReplaceAll(problems[0].Error(), root, "ROOT")
			}
			if len(problems) > 1 || (c.refuse == "") != (said == "") || !strings.Contains(said, c.refuse) {
				t.Errorf("said %q, want %q", said, c.refuse)
			}
		})
	}
}

// Whose a file is can be tried only by root, who may give it away.
func TestInstructionsOfAnotherUserDoNotCountAboveTheProjectAsRoot(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can make a file of another user")
	}
	const nobody = 65534
	for _, c := range []struct {
		name, given string
		tree        map[string]string
		count       bool
	}{
		{"a file", "AGENTS.md", map[string]string{"AGENTS.md": "theirs", "p/.git/x": ""}, false},
		{"a link to what is one's own", "AGENTS.md", map[string]string{"AGENTS.md": "->mine", "mine": "key", "p/.git/x": ""}, false},
		{"a file behind one's own link", "theirs", map[string]string{"AGENTS.md": "->theirs", "theirs": "x", "p/.git/x": ""}, false},
		{"one's own", "p/.git/x", map[string]string{"AGENTS.md": "mine", "p/.git/x": ""}, true},
		{"in the project", "p/AGENTS.md", map[string]string{"p/AGENTS.md": "theirs", "p/.git/x": ""}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := projectOf(t, c.tree)
			if err := os.Lchown(filepath.Join(root, c.given), nobody, nobody); err != nil {
				t.Fatal(err)
			}
			at := Places{Cwd: filepath.Join(root, "p")}
			files, problems := Find(at)
			if (len(files) == 1) != c.count || (len(problems) == 0) != c.count {
				t.Fatalf("files %v, problems %v", files, problems)
			}
			if c.count {
				return
			}
			if !strings.Contains(problems[0].Error(), "it lies above the project and belongs to another user") {
				t.Errorf("said %v", problems[0])
			}
			real, err := filepath.EvalSymlinks(filepath.Join(root, "AGENTS.md"))
			if err != nil {
				t.Fatal(err)
			}
			at.Allowed = []string{real}
			if files, problems := Find(at); len(files) != 1 || len(problems) != 0 {
				t.Errorf("allowed: %v, %v", files, problems)
			}
		})
	}
}
