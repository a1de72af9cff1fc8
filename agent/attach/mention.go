package attach

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// mention is a word of a text that begins with @.
type mention struct {
	name   string // without @ and quotes
	lines  string // what follows a quoted name: ":10-40"; else ""
	quoted bool
	from   int // where it is in the text, in bytes, with the @
	to     int // without what ends a sentence
}

// closing are the characters that may end a sentence, or what is in brackets, behind a
// name.
const closing = ".,;:!?)]}'\"`"

// What is looked at of a text that somebody may have pasted.
const (
	mostMentions = 1000
	mostName     = 4096 // bytes of one name; no path is longer
)

// mentions lists the words of text that begin with @. An @ within a word, as in an
// address, is none, but for one behind a comma.
func mentions(text string) (found []mention) {
	for i := 0; i < len(text) && len(found) < mostMentions; i++ {
		if text[i] != '@' || i > 0 && !strings.ContainsRune(" \t\r\n([{,;`'\"", rune(text[i-1])) {
			continue
		}
		rest := text[i+1 : min(len(text), i+1+mostName)]
		if strings.HasPrefix(rest, `"`) {
			if name, after, ok := strings.Cut(rest[1:], `"`); ok && name != "" && !strings.Contains(name, "\n") {
				lines := rangePattern.FindString(after)
				found = append(found, mention{name: name, lines: lines, quoted: true, from: i, to: i + len(`@""`) + len(name) + len(lines)})
				i += 1 + len(name)
			}
			continue
		}
		if end := strings.IndexAny(rest, " \t\r\n"); end >= 0 {
			rest = rest[:end]
		}
		rest, _, _ = strings.Cut(rest, ",@")
		if rest != "" {
			found = append(found, mention{name: rest, from: i, to: i + 1 + len(strings.TrimRight(rest, closing))})
		}
	}
	return found
}

// rangePattern is what may follow a quoted name.
var rangePattern = regexp.MustCompile(`^:\d+(-\d*)?`)

// resolve finds out which file a mention means. What ends a sentence is no part of the
// name, and :10-40 is none, unless a file is named so. Without a file the info is nil. The
// error says why a file that is there cannot be looked at, or why its lines cannot be
// meant.
func (s *search) resolve(m mention) (target, error) {
	names := []string{m.name}
	if trimmed := strings.TrimRight(m.name, closing); !m.quoted && trimmed != m.name && trimmed != "" {
		names = append(names, trimmed)
	}
	for _, name := range names {
		if t, err := s.find(name, m.lines); t.info != nil || err != nil {
			return t, err
		}
		i := strings.LastIndexByte(name, ':')
		if i <= 0 || m.lines != "" || rangePattern.FindString(name[i:]) != name[i:] {
			continue
		}
		if t, err := s.find(name[:i], name[i:]); t.info != nil || err != nil {
			return t, err
		}
	}
	return target{name: names[len(names)-1], at: true}, nil
}

// find looks at the file with a name; lines is "" or what follows the name.
func (s *search) find(name, lines string) (target, error) {
	t := target{name: name, path: s.Path(name), at: true}
	if strings.IndexByte(name, 0) >= 0 {
		return t, nil
	}
	info, err := os.Stat(t.path)
	switch {
	case errors.Is(err, fs.ErrPermission) && !errors.Is(err, fs.ErrNotExist):
		return t, err
	case err != nil: // also where the name is longer than names may be, or one below a file
		return t, nil
	}
	t.info = info
	t.lines, err = parseLines(lines)
	return t, err
}

// Path makes an absolute path of a name: a ~ in front is the home directory, and what is
// relative begins in the working directory.
func (o Options) Path(name string) string {
	if rest, ok := strings.CutPrefix(name, "~"); ok && o.Home != "" && (rest == "" || os.IsPathSeparator(rest[0])) {
		return filepath.Join(o.Home, rest)
	}
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	return filepath.Join(o.Cwd, name)
}

// lines are those of a file that are meant, from 1; the zero value is all of them.
type lines struct {
	from, to int // to 0: the last
}

// parseLines reads :10, :10-40 or :10-; "" is all.
func parseLines(text string) (lines, error) {
	if text == "" {
		return lines{}, nil
	}
	first, last, isRange := strings.Cut(text[1:], "-")
	from, err := strconv.Atoi(first)
	if err != nil || from < 1 {
		return lines{}, fmt.Errorf("%s is no line; the first is 1", first)
	}
	l := lines{from, from}
	if isRange {
		l.to = 0
		if last != "" {
			if l.to, err = strconv.Atoi(last); err != nil || l.to < from {
				return lines{}, fmt.Errorf("line %s comes before line %s", last, first)
			}
		}
	}
	return l, nil
}

// String returns the lines as they are typed behind a name; "" is all.
func (l lines) String() string {
	switch {
	case l.from == 0:
		return ""
	case l.to == 0:
		return fmt.Sprintf(":%d-", l.from)
	case l.to == l.from:
		return fmt.Sprintf(":%d", l.from)
	}
	return fmt.Sprintf(":%d-%d", l.from, l.to)
}
