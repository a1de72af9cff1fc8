package attach

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"pi/internal/picture"
	"pi/internal/printable"
	"pi/internal/safefile"
	"pi/session/message"
)

// read returns the content of a target. The error says why it cannot go along.
func (s *search) read(t target) (Attachment, error) {
	switch {
	case t.info.IsDir() && t.lines != (lines{}):
		return Attachment{}, errors.New("a folder has no lines")
	case t.info.IsDir():
		return t.listing()
	case !t.info.Mode().IsRegular():
		return Attachment{}, errors.New("it is neither a file nor a folder")
	}
	f, err := safefile.Open(t.path, os.O_RDONLY)
	if err != nil {
		return Attachment{}, err
	}
	defer f.Close()
	start := make([]byte, 12)
	n, err := io.ReadFull(f, start)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return Attachment{}, err
	}
	whole := io.MultiReader(bytes.NewReader(start[:n]), f)
	switch {
	case message.ImageType(start[:n]) == "" && t.lines != (lines{}):
		return t.part(whole)
	case message.ImageType(start[:n]) == "":
		return t.text(whole)
	case t.lines != (lines{}):
		return Attachment{}, errors.New("an image has no lines")
	}
	return s.image(t.shown(), whole)
}

// Image returns the image that begins with start and goes on in rest, by a name for people, as a
// block: within the bounds of models if scaled. ok is false if start, of 12 bytes or more where
// there are so many, begins none; rest is read only if it does. The error says why it cannot go
// along.
func Image(name string, start []byte, rest io.Reader, scaled bool) (a Attachment, ok bool, err error) {
	if message.ImageType(start) == "" {
		return a, false, nil
	}
	s := search{Options: Options{ImageScale: scaled}}
	a, err = s.image(name, io.MultiReader(bytes.NewReader(start), rest))
	return a, true, err
}

// image returns an image as a block, within the bounds of models if it may be scaled.
func (s *search) image(name string, r io.Reader) (Attachment, error) {
	most := mostImage
	if s.ImageScale {
		most = picture.MostRead
	}
	data, err := io.ReadAll(io.LimitReader(r, int64(most)+1))
	switch {
	case err != nil:
		return Attachment{}, err
	case len(data) > most:
		return Attachment{}, tooLarge(most)
	case !s.ImageScale:
		return asIs(name, data), nil
	}
	f, err := picture.Fit(data)
	switch {
	case err != nil:
		return Attachment{}, err
	case f.Type == "":
		return asIs(name, data), nil
	}
	return Attachment{message.ImageBlock(f.Type, f.Data), fmt.Sprintf("%s (image, %v)", printable.VisibleLine(name), f)}, nil
}

// asIs makes an attachment of the bytes of an image, as they are.
func asIs(name string, data []byte) Attachment {
	about := "image"
	if pixels := picture.SizeOf(data).Pixels(); pixels != "" {
		about += ", " + pixels
	}
	return Attachment{message.ImageBlock(message.ImageType(data), data), fmt.Sprintf("%s (%s)", printable.VisibleLine(name), about)}
}

// tooLarge is the error of an image of more than most bytes.
func tooLarge(most int) error {
	return fmt.Errorf("the image has more than %s; make a smaller copy", printable.Bytes(most))
}

// text returns a whole file as a block that names it.
func (t target) text(r io.Reader) (Attachment, error) {
	data, err := io.ReadAll(io.LimitReader(r, mostText+1))
	if err != nil {
		return Attachment{}, err
	}
	if !isText(data) {
		return Attachment{}, errNotText
	}
	if len(data) > mostText {
		return Attachment{}, fmt.Errorf("it has %s, more than %s; name the lines that matter, as in @%s:1-200", printable.Size(max(t.info.Size(), mostText+1)), printable.Bytes(mostText), t.name)
	}
	return Attachment{message.NamedText(t.name, strings.TrimSuffix(string(data), "\n")),
		fmt.Sprintf("%s (%s)", printable.VisibleLine(t.shown()), printable.Size(int64(len(data))))}, nil
}

var errNotText = errors.New("it is neither text nor an image that models can see (PNG, JPEG, GIF, WebP)")

// isText reports whether data, which may end within a character, is text.
func isText(data []byte) bool {
	if bytes.IndexByte(data, 0) >= 0 {
		return false
	}
	if utf8.Valid(data) {
		return true
	}
	for cut := 1; cut < utf8.UTFMax && cut < len(data); cut++ {
		if len(data) > mostText && utf8.Valid(data[:len(data)-cut]) {
			return true
		}
	}
	return false
}

// mostSearched is how far a file is read for the lines that are meant.
const mostSearched = 256 << 20

// part returns the lines of a file that are meant, as far as there are so many.
func (t target) part(r io.Reader) (Attachment, error) {
	text, last, err := cutLines(r, t.lines)
	switch {
	case err != nil:
		return Attachment{}, err
	case last < t.lines.from:
		return Attachment{}, fmt.Errorf("it has %s", printable.Count(last, "line"))
	case !isText(text):
		return Attachment{}, errNotText
	}
	t.lines.to = last
	block := message.TextBlock(fmt.Sprintf("<file name=%q lines=%q>\n%s\n</file>", t.name, t.lines.String()[1:], strings.TrimSuffix(string(text), "\n")))
	return Attachment{block, fmt.Sprintf("%s (%s)", printable.VisibleLine(t.shown()), printable.Size(int64(len(text))))}, nil
}

// cutLines reads the lines l of r. last is the number of the last that there is of them,
// or of all lines, if there are fewer than l begins with.
func cutLines(r io.Reader, l lines) (text []byte, last int, err error) {
	limited := &io.LimitedReader{R: r, N: mostSearched}
	in := bufio.NewReader(limited)
	for begun := false; l.to == 0 || last < l.to || begun; {
		piece, err := in.ReadSlice('\n')
		if len(piece) > 0 && !begun {
			last++
		}
		begun = len(piece) > 0 && err == bufio.ErrBufferFull
		if last >= l.from && len(piece) > 0 {
			text = append(text, piece...)
		}
		switch {
		case len(text) > mostText:
			return nil, 0, fmt.Errorf("these lines have more than %s; name fewer of them", printable.Bytes(mostText))
		case err == io.EOF && limited.N == 0:
			return nil, 0, fmt.Errorf("the lines lie behind the first %s of it", printable.Bytes(mostSearched))
		case err == io.EOF:
			return text, last, nil
		case err != nil && err != bufio.ErrBufferFull:
			return nil, 0, err
		}
	}
	return text, last, nil
}

// What is listed of a folder.
const (
	mostListed  = 500
	mostEntries = 100_000 // that are looked at
)

// listing returns the names in a folder, sorted; those of folders end in a slash.
func (t target) listing() (Attachment, error) {
	dir, err := os.Open(t.path)
	if err != nil {
		return Attachment{}, err
	}
	defer dir.Close()
	entries, err := dir.ReadDir(mostEntries)
	if err != nil && err != io.EOF {
		return Attachment{}, err
	}
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		name := printable.VisibleLine(e.Name())
		if e.IsDir() {
			name += "/"
		}
		names = append(names, name)
	}
	slices.Sort(names)
	count := len(names)
	if count > mostListed {
		names = append(names[:mostListed], fmt.Sprintf("[%d of %d entries; find narrows it]", mostListed, count))
	}
	block := message.TextBlock(fmt.Sprintf("<folder name=%q>\n%s\n</folder>", t.name, strings.Join(names, "\n")))
	entry := "entries"
	if count == 1 {
		entry = "entry"
	}
	return Attachment{block, fmt.Sprintf("%s/ (%d %s)", strings.TrimRight(printable.VisibleLine(t.shown()), "/"), count, entry)}, nil
}
