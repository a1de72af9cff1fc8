package repl

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pi/session/message"
)

func TestWordsWithAtSignNameFiles(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"see @a.go and @b/c.go", "a.go|b/c.go"},
		{`in quotes @"my file.txt" too`, "my file.txt"},
		{"(@a.go)", "a.go)"},
		{"mail me@example.com", ""},
		{"@", ""}, {"a @ b", ""}, {`@"open`, ""}, {"x\n@y", "y"},
	} {
		if got := strings.Join(mentioned(c.text), "|"); got != c.want {
			t.Errorf("%q names %q, want %q", c.text, got, c.want)
		}
	}
}

func TestFilesAreTakenAlongByWhatTheyAre(t *testing.T) {
	dir := t.TempDir()
	for name, data := range map[string]string{
		"a.txt": "hello\n", "p.dat": "\x89PNG\r\n\x1a\n0000", "bin": "\x7fELF\x00\xff", "my file": "spaces", "big": strings.Repeat("x", attachLimit+1),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name, text string
		want       []message.Block
		problem    string
	}{
		{"text names its file", "@a.txt", []message.Block{message.TextBlock("<file name=\"a.txt\">\nhello\n</file>")}, ""},
		{"the end of a sentence is no name", "look at @a.txt.", []message.Block{message.TextBlock("<file name=\"a.txt\">\nhello\n</file>")}, ""},
		{"once is enough", "@a.txt @./a.txt", []message.Block{message.TextBlock("<file name=\"a.txt\">\nhello\n</file>")}, ""},
		{"an image is known by its bytes", "@p.dat", []message.Block{{Type: message.BlockImage, MimeType: "image/png", Data: "iVBORw0KGgowMDAw"}}, ""},
		{"quotes hold spaces", `@"my file"`, []message.Block{message.TextBlock("<file name=\"my file\">\nspaces\n</file>")}, ""},
		{"a word that is no file stays a word", "@nobody", nil, ""},
		{"a directory stays a word", "@.", nil, ""},
		{"a program is not sent", "@bin", nil, "neither text"},
		{"a huge file is not sent", "@big", nil, "more than"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, problems := attach(c.text, dir)
			if !slices.EqualFunc(got, c.want, sameBlock) {
				t.Errorf("blocks %+v, want %+v", got, c.want)
			}
			if !strings.Contains(strings.Join(problems, "\n"), c.problem) || (c.problem == "") != (len(problems) == 0) {
				t.Errorf("problems %q, want %q", problems, c.problem)
			}
		})
	}
}

func sameBlock(a, b message.Block) bool {
	return a.Type == b.Type && a.Text == b.Text && a.MimeType == b.MimeType && a.Data == b.Data
}
