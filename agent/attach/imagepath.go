package attach

import (
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"pi/internal/picture"
	"pi/internal/printable"
	"pi/internal/safefile"
	"pi/session/message"
)

// imageEndings are those of files that are looked into because their bare path is in a
// text. What is in them decides.
var imageEndings = []string{".png", ".jpg", ".jpeg", ".gif", ".webp"}

// imagePaths lists the words of text that are absolute paths with the ending of an image,
// as a user types them, and as terminals write a file that is dropped on them: in
// quotes, with backslashes before blanks, as a file URL.
func imagePaths(text string) (paths []barePath) {
	for rest := text; rest != "" && len(paths) < mostMentions; {
		rest = strings.TrimLeft(rest, blanks)
		if !mayBePath(rest) {
			end := strings.IndexAny(rest, blanks)
			if end < 0 {
				break
			}
			rest = rest[end:]
			continue
		}
		from, word := len(text)-len(rest), ""
		word, rest = cutWord(rest)
		for _, path := range []string{word, strings.TrimRight(word, closing)} {
			if path = decoded(path); isImagePath(path) {
				paths = append(paths, barePath{path, from, len(text) - len(rest)})
				break
			}
		}
	}
	return paths
}

// barePath is a path of an image, and where in the text it is, in bytes.
type barePath struct {
	path     string
	from, to int
}

// decoded is the path of a file URL; another path is returned as it is.
func decoded(path string) string {
	if rest, ok := strings.CutPrefix(path, "file://"); ok {
		if decoded, err := url.PathUnescape(rest); err == nil {
			return decoded
		}
	}
	return path
}

// mostHead is how much of an image is read for its width and height.
const mostHead = 256 << 10

// PastedImage reports whether a paste is, as a whole, the path of an image that is there,
// with blanks in it or not, and returns that path and words as those of an [Attachment].
func PastedImage(text string, o Options) (path, words string, ok bool) {
	text = strings.Trim(text, blanks)
	if len(text) > mostName || strings.ContainsAny(text, "\r\n\x00") || !mayBePath(text) {
		return "", "", false
	}
	word, rest := cutWord(text)
	if rest != "" {
		word = text
	}
	for _, path := range []string{text, word, decoded(word)} {
		if !isImagePath(path) {
			continue
		}
		if path = o.Path(path); startsLikeImage(path) {
			return path, headWords(path), true
		}
	}
	return "", "", false
}

// headWords words an image by its name and the size that its beginning tells, else that of
// the file.
func headWords(path string) string {
	size := ""
	if f, err := safefile.Open(path, os.O_RDONLY); err == nil {
		defer f.Close()
		head, _ := io.ReadAll(io.LimitReader(f, mostHead))
		if size = picture.SizeOf(head).Pixels(); size == "" {
			if info, err := f.Stat(); err == nil {
				size = printable.Size(info.Size())
			}
		}
	}
	return fmt.Sprintf("%s (image, %s)", printable.VisibleLine(filepath.Base(path)), size)
}

const blanks = " \t\r\n"

// mayBePath reports whether the word that text begins with could be an absolute path, by
// its first characters.
func mayBePath(text string) bool {
	if text == "" {
		return false
	}
	switch c := text[0]; c {
	case '/', '~', '\'', '"', '\\':
		return true
	default:
		return strings.HasPrefix(text, "file:") || filepath.VolumeName(text[:min(len(text), 2)]) != ""
	}
}

// isImagePath reports whether path is absolute, or begins at home, and has the ending of
// an image.
func isImagePath(path string) bool {
	return (filepath.IsAbs(path) || strings.HasPrefix(path, "~/")) && slices.Contains(imageEndings, strings.ToLower(filepath.Ext(path)))
}

// cutWord cuts the first word from a text, as a shell would quote it.
func cutWord(text string) (word, rest string) {
	if text == "" {
		return "", ""
	}
	if quote := text[0]; quote == '\'' || quote == '"' {
		if inner, rest, ok := strings.Cut(text[1:], string(quote)); ok && !strings.Contains(inner, "\n") {
			return inner, rest
		}
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == ' ' || c == '\t' || c == '\r' || c == '\n':
			return b.String(), text[i:]
		case c == '\\' && i+1 < len(text) && runtime.GOOS != "windows":
			i++
			b.WriteByte(text[i])
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), ""
}

// mostBare is how many images go along because of their bare path. A text that has more is
// rather about the files, such as a log.
const mostBare = 8

// images attaches the images whose absolute paths are in text. What is not there, or is no
// image, stays text.
func (s *search) images(text string) {
	var targets []target
	for _, bare := range imagePaths(text) {
		if s.Typed != nil && !s.Typed(bare.from, bare.to) {
			continue
		}
		t := target{name: filepath.Base(bare.path), path: s.Path(bare.path)}
		info, err := os.Stat(t.path)
		isKnown := slices.ContainsFunc(targets, func(have target) bool { return have.path == t.path })
		if err != nil || isKnown || !info.Mode().IsRegular() || !startsLikeImage(t.path) {
			continue
		}
		t.info = info
		if targets = append(targets, t); len(targets) > mostBare {
			s.tell("bare", fmt.Sprintf("paths of more than %d images are in the text, so none of them is attached; those with @ in front go along", mostBare))
			return
		}
	}
	for _, t := range targets {
		s.add(t)
	}
}

// startsLikeImage reports whether the file at path is an image by its first bytes.
func startsLikeImage(path string) bool {
	f, err := safefile.Open(path, os.O_RDONLY)
	if err != nil {
		return false
	}
	defer f.Close()
	start := make([]byte, 12)
	n, _ := io.ReadFull(f, start)
	return message.ImageType(start[:n]) != ""
}
