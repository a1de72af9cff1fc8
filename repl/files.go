package repl

import (
	"context"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"pi/agent"
	"pi/agent/attach"
	"pi/internal/edit"
	"pi/repl/terminal"
)

// withFiles attaches the files that a prompt names, and says in words what was attached.
// What could not be is told. Of a line that was edited only what was typed names files, and
// the images that are tokens in it go along.
func (r *REPL) withFiles(p agent.Prompt, d edit.Draft, isDraft bool) (agent.Prompt, []string) {
	home, _ := os.UserHomeDir()
	o := attach.Options{Cwd: r.agent.Cwd(), Home: home, ImageScale: r.agent.Settings().ImageScale}
	if d.Text != "" && isDraft {
		o.Typed, o.Pasted = d.IsTyped, d.IsPasted
	}
	for _, t := range d.Tokens {
		if t.Label != "" {
			o.Images = append(o.Images, d.Text[t.From:t.To])
		}
	}
	found := attach.Find(p.Text, o)
	p.Attachments = append(slices.Clip(p.Attachments), found.Blocks()...)
	for _, problem := range found.Problems {
		r.user.Notify(problem, agent.LevelWarning)
	}
	if words := found.Words(); words != "" {
		return p, []string{words}
	}
	return p, nil
}

// paste puts a paste into the line: as a token if it is the path of an image, which then
// goes along with the line.
func (k *keyboard) paste(x terminal.Key) {
	home, _ := os.UserHomeDir()
	path, words, isImage := attach.PastedImage(x.Text, attach.Options{Home: home})
	var then after
	k.screen.key(func() {
		if l := k.screen.line; isImage {
			l.token(words, path)
		} else {
			l.edit(x, "")
		}
		then = k.completeSoon(x, meaning{})
	})
	if then != nil {
		then()
	}
}

// pasteImage puts the path of the image that is in the clipboard into the line. The image
// is kept in a file of its own until the program ends.
func (k *keyboard) pasteImage() {
	path, words, err := k.clipboardImage()
	if err != nil {
		k.user.Notify("paste an image: "+err.Error(), agent.LevelWarning)
		return
	}
	k.screen.change(func() { k.screen.line.token(words, path) })
}

// clipboardImage stores the image of the clipboard in a file that nobody else can read.
func (k *keyboard) clipboardImage() (path, words string, err error) {
	image, err := attach.SystemClipboard().Image(context.Background())
	if err != nil {
		return "", "", err
	}
	data, err := base64.StdEncoding.DecodeString(image.Block.Data)
	if err != nil {
		return "", "", fmt.Errorf("read the image: %w", err)
	}
	_, ending, _ := strings.Cut(image.Block.MimeType, "/")
	path, err = k.scratch.store(data, "."+ending)
	return path, image.Words, err
}

// scratch is a folder for files that are needed until the program ends.
type scratch struct {
	mu    sync.Mutex
	dir   string
	files int
}

// store writes a file that nobody else can read.
func (s *scratch) store(data []byte, ending string) (path string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dir == "" {
		if s.dir, err = os.MkdirTemp("", "pi-"); err != nil {
			return "", fmt.Errorf("store the image: %w", err)
		}
	}
	s.files++
	path = filepath.Join(s.dir, fmt.Sprintf("pasted-%d%s", s.files, ending))
	if err := os.WriteFile(path, data, 0o600); err != nil {
		return "", fmt.Errorf("store the image: %w", err)
	}
	return path, nil
}

// remove removes all files.
func (s *scratch) remove() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dir != "" {
		_ = os.RemoveAll(s.dir) // what is left is in the system's temporary folder
	}
	s.dir = ""
}
