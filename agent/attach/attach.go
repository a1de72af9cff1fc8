// Package attach finds what goes along with a prompt: the files that its text names, and
// the image that is in the clipboard.
//
//	@src/x.go            a text file, whole; or an image, known by its bytes
//	@src/x.go:10-40      its lines 10 to 40; :10 is one line, :10- is the rest
//	@src                 what a folder has, one level deep
//	@"my file.txt":3     quotes hold blanks
//	/tmp/shot.png        an absolute path of an image needs no @
//
// [Find] reads them, each once and no further than the limits below, and says in words what
// was attached. A word that names nothing stays text; that is told only of one that looks
// like a path. [PastedImage] knows a paste that is the path of an image, as terminals write
// it of a file that is dropped on them: in quotes, or with file:// in front.
// [Clipboard.Image] asks the programs of the system for the image that was copied last, as
// it is.
//
// An image that is too large for models goes along as a smaller copy where
// [Options.ImageScale] is set; the words say both sizes.
//
// Only what a user typed is to be searched. A text from elsewhere, such as a page that was
// pasted, or one from a pipe or a project's prompt template, could name a file that is
// nobody's business.
package attach

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"pi/internal/printable"
	"pi/session/message"
)

// Limits of what is attached.
const (
	mostText     = 512 << 10 // bytes of one text; more is beyond what a model can read
	mostImage    = 5 << 20   // bytes of one image that is not scaled
	mostTogether = 16 << 20  // bytes of all that goes along with one prompt
	mostFiles    = 64        // that go along with one prompt
)

// Options say how names are understood.
type Options struct {
	Cwd  string // absolute; relative names begin there
	Home string // what ~ is; "" leaves it as it is

	ImageScale bool // images that are too large for models go along as smaller copies

	Typed  func(from, to int) bool // whether a part of the text, in bytes, was typed, all of it: only such parts name files; nil: all was
	Pasted func(from, to int) bool // whether something of a part was pasted, so that nothing is said of what it names; nil: none was
	Images []string                // paths of images that go along besides
}

// Attachment is one thing that goes along.
type Attachment struct {
	Block message.Block
	// Words say what it is, for people: "@src/x.go (1.2 kB)", "shot.png (image, 1024×768)",
	// "shot.png (image, 4000×3000, 9.1 MB, sent as 2000×1500, 412.3 kB)".
	Words string
}

// Found is what a text names.
type Found struct {
	Attached []Attachment
	Problems []string // sentences: what is there and is not attached, and what looks like a path and is none
}

// Blocks returns the content of the attachments, nil if there are none.
func (f Found) Blocks() []message.Block {
	var blocks []message.Block
	for _, a := range f.Attached {
		blocks = append(blocks, a.Block)
	}
	return blocks
}

// Words says what was attached, in one line for people; "" if nothing was.
func (f Found) Words() string {
	if len(f.Attached) == 0 {
		return ""
	}
	words := make([]string, len(f.Attached))
	for i, a := range f.Attached {
		words[i] = a.Words
	}
	return "attached " + strings.Join(words, ", ")
}

// Find reads what a text names: words that begin with @, and absolute paths of images.
func Find(text string, o Options) Found {
	s := search{Options: o, seen: map[string]bool{}}
	for _, path := range o.Images {
		t := target{name: filepath.Base(path), path: s.Path(path)}
		var err error
		if t.info, err = os.Stat(t.path); err != nil {
			s.refuse(t, err)
			continue
		}
		s.add(t)
	}
	for _, m := range mentions(text) {
		switch {
		case o.Typed == nil || o.Typed(m.from, m.to):
			s.mention(m)
		case o.Pasted == nil || !o.Pasted(m.from, m.from+1):
			// Why the file does not go along: a part behind a typed @ was pasted, or the program has
			// put the text into the line.
			if t, err := s.resolve(m); err == nil && t.info != nil {
				s.tell("untyped "+t.name, fmt.Sprintf("@%s was not typed, so it is sent as it stands", t.name))
			}
		}
	}
	s.images(text)
	return s.found
}

// search is one call of Find.
type search struct {
	Options
	found Found
	seen  map[string]bool // paths with their lines, and words that were told of
	bytes int
}

// mention attaches what a word with @ names.
func (s *search) mention(m mention) {
	t, err := s.resolve(m)
	switch {
	case err != nil:
		s.refuse(t, err)
	case t.info == nil && (m.quoted || strings.ContainsAny(strings.TrimRight(m.name, closing), "./"+string(filepath.Separator))):
		// whoever typed it meant a file
		s.tell("missing "+t.name, fmt.Sprintf("@%s is no file here, it is sent as it stands", t.name))
	case t.info != nil:
		s.add(t)
	}
}

// add reads a target and attaches it, unless it is attached already.
func (s *search) add(t target) {
	key := t.path + t.lines.String()
	if s.seen[key] {
		return
	}
	s.seen[key] = true
	if len(s.found.Attached) == mostFiles {
		s.tell("too many", fmt.Sprintf("more than %d files are not attached to one prompt", mostFiles))
		return
	}
	a, err := s.read(t)
	n := size(a.Block)
	switch {
	case err != nil:
		s.refuse(t, err)
	case s.bytes+n > mostTogether:
		s.refuse(t, fmt.Errorf("with the files before it that would be more than %s", printable.Bytes(mostTogether)))
	default:
		s.bytes += n
		s.found.Attached = append(s.found.Attached, a)
	}
}

// refuse tells that a file is there and is not attached.
func (s *search) refuse(t target, err error) {
	s.tell("refused "+t.shown(), fmt.Sprintf("%s is not attached: %v", t.shown(), plain(err)))
}

// tell adds a problem, unless one with this key was told of before.
func (s *search) tell(key, problem string) {
	if !s.seen[key] {
		s.seen[key] = true
		s.found.Problems = append(s.found.Problems, printable.VisibleLine(problem))
	}
}

// size returns how many bytes of a file a block stands for, about.
func size(b message.Block) int { return len(b.Text) + len(b.Data)/4*3 }

// plain drops operation and path of an error of the file system, which the sentence
// around it has already.
func plain(err error) error {
	if e, ok := err.(*fs.PathError); ok {
		return e.Err
	}
	return err
}

// target is a file or folder that a text names.
type target struct {
	name  string // as the user wrote it, without @ and lines
	path  string // absolute
	at    bool   // it was named with @
	lines lines
	info  os.FileInfo // nil: there is none
}

// shown returns how a target is named to people.
func (t target) shown() string {
	if t.at {
		return "@" + t.name + t.lines.String()
	}
	return t.name
}
