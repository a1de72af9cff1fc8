package attach

import (
	"io"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"pi/internal/safefile"
	"pi/session/message"
)

// imageEndings are those of files that are looked into because their bare path is in a
// text. What is in them decides.
var imageEndings = []string{".png", ".jpg", ".jpeg", ".gif", ".webp"}

// imagePaths lists the words of text that are absolute paths with the ending of an image,
// as a person types them, and as terminals write a file that is dropped on them: in
// quotes, with backslashes before blanks, as a file URL.
func imagePaths(text string) (paths []string) {
	for rest := text; rest != ""; {
		word := ""
		if word, rest = cutWord(strings.TrimLeft(rest, " \t\r\n")); word == "" {
			continue
		}
		for _, path := range []string{word, strings.TrimRight(word, closing)} {
			if path, ok := strings.CutPrefix(path, "file://"); ok {
				if decoded, err := url.PathUnescape(path); err == nil && isImagePath(decoded) {
					paths = append(paths, decoded)
					break
				}
			}
			if isImagePath(path) {
				paths = append(paths, path)
				break
			}
		}
	}
	return paths
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

// imagePath attaches the image at an absolute path. What is not there, or is no image,
// stays text.
func (s *search) imagePath(name string) {
	t := target{name: filepath.Base(name), path: s.Path(name)}
	info, err := os.Stat(t.path)
	if err != nil || !info.Mode().IsRegular() || !startsLikeImage(t.path) {
		return
	}
	t.info = info
	s.add(t)
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
