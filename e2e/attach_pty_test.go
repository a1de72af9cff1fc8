//go:build unix

package e2e

import (
	"encoding/base64"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
)

// dot is a PNG of one pixel.
const dot = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

// pasted is a text as a terminal sends it when it is pasted.
func pasted(text string) string {
	return "\x1b[200~" + strings.ReplaceAll(text, "\n", "\r") + "\x1b[201~"
}

// lastAsked returns the last message of the last request, as JSON.
func lastAsked(t *testing.T, m *modelServer) string {
	t.Helper()
	asked := m.asked()
	var request struct{ Messages []json.RawMessage }
	if err := json.Unmarshal(asked[len(asked)-1].body, &request); err != nil {
		t.Fatal(err)
	}
	return string(request.Messages[len(request.Messages)-1])
}

func TestPathsTracebacksAndImagesReachTheModel(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := w.model("text Answer 1.\n---\ntext Answer 2.\n---\ntext Answer 3.\n---\ntext Answer 4.")
	picture, err := base64.StdEncoding.DecodeString(dot)
	if err != nil {
		t.Fatal(err)
	}
	shot := filepath.Join(w.project, "my shot.png")
	w.write(shot, string(picture))
	s := w.inTerminal()
	traceback := "/srv/app/main.py:3: SyntaxError\n  def f(:\n\tat @once.there"
	for _, c := range []struct{ name, keys, answer, asked, told string }{
		{"a path", "/tmp/x is a file", "Answer 1.", `/tmp/x is a file`, ""},
		{"a pasted traceback", pasted(traceback), "Answer 2.", `/srv/app/main.py:3: SyntaxError\n  def f(:\n\tat @once.there`, ""},
		{"a pasted path of an image", pasted(strings.ReplaceAll(shot, " ", `\ `)), "Answer 3.", "data:image/png;base64," + dot, "attached my shot.png (image, 1×1)"},
		{"lines of a file", "look at @a.txt:2 and @no/file", "Answer 4.", `lines=\"2\"\u003e\nbeta\n`, "attached @a.txt:2 (5 B)"},
	} {
		s.prompt()
		s.keys(c.keys)
		s.keys("\r")
		s.see(1, c.answer)
		if c.told != "" {
			s.see(1, c.told)
		}
		asked := lastAsked(t, m)
		if !strings.Contains(asked, c.asked) && !strings.Contains(asked, strings.ReplaceAll(strings.ReplaceAll(c.asked, `\u003e`, ">"), `\u003c`, "<")) {
			t.Errorf("%s: the model was asked %s, want %s", c.name, asked, c.asked)
		}
	}
	s.see(1, "@no/file is no file here, it is sent as it stands")
	s.enter("/modle")
	s.see(1, "unknown command /modle")
	s.see(1, "did you mean /model or /mode?")
	s.stands("/modle")
	s.keys(clearLine)
	s.enter("/quit")
	s.leave(statusDone)
	if n := len(m.asked()); n != 4 {
		t.Errorf("the model was asked %d times, want 4", n)
	}
}

// A paste that is the path of an image is a token, and the Enter with it the consent; nothing
// else that was pasted names a file that goes along, now or when it is recalled.
func TestOfWhatIsPastedOnlyAnImageGoesAlong(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := w.model("text Answer 1.\n---\ntext Answer 2.\n---\ntext Answer 3.\n---\ntext Answer 4.\n---\ntext Answer 5.")
	picture, err := base64.StdEncoding.DecodeString(dot)
	if err != nil {
		t.Fatal(err)
	}
	shot := filepath.Join(w.project, "my shot.png")
	w.write(shot, string(picture))
	s := w.inTerminal()
	sent := func(what, shown, answer string, has map[string]bool) {
		t.Helper()
		s.stands(shown)
		s.keys("\r")
		s.see(1, answer)
		s.prompt()
		for text, want := range has {
			if asked := lastAsked(t, m); strings.Contains(asked, text) != want {
				t.Errorf("%s: the model was asked %s, and %q is in it: %v", what, asked, text, !want)
			}
		}
	}
	const image, file = "data:image/png;base64,", "beta"
	s.prompt()
	s.keys("look at " + pasted(shot))
	sent("an image", "look at [my shot.png (image, 1×1)]", "Answer 1.", map[string]bool{image: true, "my shot.png": true})
	s.keys("look at " + pasted(shot) + "\x7fit")
	sent("one that was removed", "look at it", "Answer 2.", map[string]bool{image: false, "shot.png": false})
	s.keys("look: " + pasted("see @a.txt and "+shot))
	sent("a pasted text", "look: see @a.txt and "+shot, "Answer 3.", map[string]bool{image: false, file: false, "@a.txt": true})
	s.Press("up")
	sent("recalled", "look: see @a.txt and "+shot, "Answer 4.", map[string]bool{image: false, file: false})
	s.keys("read @a.txt")
	s.stands("read @a.txt")
	s.Press("ctrl+c")
	s.prompt()
	s.Press("ctrl+_")
	sent("typed, and brought back", "read @a.txt", "Answer 5.", map[string]bool{file: true})
	s.enter("/quit")
	s.leave(statusDone)
}
