package completion

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"pi/internal/fuzzy"
	"pi/internal/printable"
)

// paths returns the paths that what was typed can become, with slashes, those of folders
// with one at the end. A path within the project is looked for in all of it; others, and
// what the project ignores, in the folder that was typed so far.
func (c *Completer) paths(ctx context.Context, typed string) (found []string) {
	typed = filepath.ToSlash(typed)
	if rest := strings.TrimLeft(strings.TrimPrefix(typed, "./"), "/"); !isElsewhere(typed) && c.Files != nil {
		here := typed[:len(typed)-len(rest)]
		for _, path := range c.Files.Find(ctx, rest, most) {
			found = append(found, here+path)
		}
	}
	if isElsewhere(typed) || strings.Contains(typed, "/") || len(found) == 0 {
		found = append(found, c.folder(typed)...)
	}
	return uniquePaths(found, typed)
}

// isElsewhere reports whether a path begins outside of the project.
func isElsewhere(typed string) bool {
	return strings.HasPrefix(typed, "/") || strings.HasPrefix(typed, "~/") || typed == "~" || typed == ".." || strings.HasPrefix(typed, "../") ||
		strings.Contains(typed, "/../") || filepath.IsAbs(filepath.FromSlash(typed))
}

// folder lists what is in the folder that a path names so far and matches the rest of it.
// Hidden names are listed when their dot is typed.
func (c *Completer) folder(typed string) (found []string) {
	cut := strings.LastIndexByte(typed, '/') + 1
	head, base := typed[:cut], typed[cut:]
	if typed == "~" || typed == ".." {
		return []string{typed + "/"}
	}
	entries, err := os.ReadDir(c.resolved(head))
	if err != nil {
		return nil
	}
	var names []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") == strings.HasPrefix(base, ".") && isTypeable(e.Name()) {
			names = append(names, e.Name()+slashOf(c.resolved(head), e))
		}
	}
	for _, i := range fuzzy.NewIndex(names).Best(base, most) {
		found = append(found, head+names[i])
	}
	return found
}

// resolved is the folder that the beginning of a path names.
func (c *Completer) resolved(head string) string {
	path := filepath.FromSlash(head)
	if rest, ok := strings.CutPrefix(head, "~/"); ok && c.Home != "" {
		return filepath.Join(c.Home, filepath.FromSlash(rest))
	}
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(c.Cwd, path)
}

// slashOf is a slash for a folder, also one that a link leads to.
func slashOf(dir string, e os.DirEntry) string {
	if e.IsDir() {
		return "/"
	}
	if e.Type()&os.ModeSymlink != 0 {
		if info, err := os.Stat(filepath.Join(dir, e.Name())); err == nil && info.IsDir() {
			return "/"
		}
	}
	return ""
}

// isTypeable reports whether a name can be in a line as it is: it has no control
// characters, and none that are not seen.
func isTypeable(name string) bool {
	return utf8.ValidString(name) && !strings.ContainsFunc(name, func(r rune) bool {
		return r < ' ' || r == '\ufffc' || printable.Hidden(r) && r != '\u200d' && r != '\ufe0f'
	})
}

// uniquePaths drops paths that are there twice, or are what was typed already.
func uniquePaths(paths []string, typed string) []string {
	seen := map[string]bool{typed: true}
	paths = slices.DeleteFunc(paths, func(path string) bool {
		was := seen[path]
		seen[path] = true
		return was
	})
	return paths[:min(len(paths), most)]
}

// mention completes a path behind @. It reports false if the cursor is behind no such
// word.
func (c *Completer) mention(ctx context.Context, before string) (Result, bool) {
	start, typed, quoted := lastMention(before)
	if start < 0 || c.Cwd == "" {
		return Result{}, false
	}
	r := Result{Start: start, End: len(before), Typed: typed}
	for _, path := range c.paths(ctx, typed) {
		if value, ok := mentionOf(path, quoted); ok {
			r.Items = append(r.Items, pathItem(path, value))
		}
	}
	return r, true
}

// lastMention finds the word with @ that the text ends in: where it begins, what of its
// path is typed, and whether that is in quotes, as a path with blanks has to be. start is
// -1 if there is none. An @ within a word, as in an address, begins none.
func lastMention(before string) (start int, typed string, quoted bool) {
	line := before[strings.LastIndexAny(before, "\n\ufffc")+1:]
	for from := len(line); ; {
		at := strings.LastIndexByte(line[:from], '@')
		if at < 0 {
			return -1, "", false
		}
		from = at
		if at > 0 && !strings.ContainsAny(line[at-1:at], " \t\r([{,;`'\"") {
			continue
		}
		start, rest := len(before)-len(line)+at, line[at+1:]
		if inner, ok := strings.CutPrefix(rest, `"`); ok && !strings.Contains(inner, `"`) {
			return start, inner, true
		}
		if strings.IndexFunc(rest, isBlank) < 0 && !strings.Contains(rest, `"`) {
			return start, rest, false
		}
	}
}

// mentionOf writes a path behind @, in quotes if it needs them or has them already. A
// folder in quotes keeps them open, since more of its path follows. It reports false for
// a path that cannot be written so.
func mentionOf(path string, quoted bool) (value string, ok bool) {
	switch {
	case strings.ContainsAny(path, "\"\n"):
		return "", false
	case !quoted && !strings.ContainsFunc(path, isBlank):
		return "@" + path, true
	case strings.HasSuffix(path, "/"):
		return `@"` + path, true
	}
	return `@"` + path + `"`, true
}

// pathItem is the item of a path: behind a folder no blank is put, since more of the path
// follows.
func pathItem(path, value string) Item {
	item := Item{Value: value, Label: path, Append: " "}
	if strings.HasSuffix(path, "/") {
		item.Append = ""
	}
	return item
}

// shell completes a word of the command line that begins at from: the name of a program
// where one can be, else a path.
func (c *Completer) shell(ctx context.Context, before string, from int) Result {
	w := lastShellWord(before[from:])
	r := Result{Start: from + w.start, End: len(before), Typed: w.text}
	if w.program && !strings.Contains(w.text, "/") {
		if c.Programs == nil || w.text == "" {
			return r
		}
		names := c.Programs.Names()
		for _, i := range fuzzy.NewIndex(names).Best(w.text, most) {
			r.Items = append(r.Items, Item{Value: w.write(names[i], true), Label: names[i], Append: " "})
		}
		return r
	}
	if c.Cwd == "" {
		return r
	}
	found := c.folder(w.text)
	if w.text != "" {
		found = append(found, c.paths(ctx, w.text)...)
	}
	for _, path := range uniquePaths(found, w.text) {
		if strings.Contains(path, "\n") {
			continue
		}
		r.Items = append(r.Items, pathItem(path, w.write(path, !strings.HasSuffix(path, "/"))))
	}
	return r
}

// shellWord is the last word of a command line.
type shellWord struct {
	start   int    // in the line
	text    string // without quotes
	quote   byte   // the quote that is open at the end, or 0
	program bool   // it is where the name of a program can be
}

// lastShellWord reads a command line as a shell does, as far as words and quotes go, and
// returns its last word. What is behind an = is a word of its own, so that --file=x and
// NAME=x can be completed.
func lastShellWord(line string) shellWord {
	w := shellWord{program: true}
	var text strings.Builder
	begin := func(at int, program bool) {
		w.start, w.program = at, program
		text.Reset()
	}
	for i := 0; i < len(line); i++ {
		ch := line[i]
		switch {
		case w.quote == '\'' && ch != '\'', w.quote == '"' && ch != '"' && ch != '\\':
			text.WriteByte(ch)
		case ch == '\\' && i+1 < len(line):
			i++
			text.WriteByte(line[i])
		case ch == '\\':
		case w.quote != 0: // it ends here
			w.quote = 0
		case ch == '\'' || ch == '"':
			w.quote = ch
		case ch == ' ' || ch == '\t':
			begin(i+1, w.program && i == w.start)
		case strings.IndexByte("|&;(\n`", ch) >= 0:
			begin(i+1, true)
		case strings.IndexByte("<>=", ch) >= 0:
			begin(i+1, false)
		default:
			text.WriteByte(ch)
		}
	}
	w.text = text.String()
	return w
}

// write writes a word as the shell reads it: in the quotes that were begun, which are
// closed if the word is whole, else with backslashes.
func (w shellWord) write(text string, whole bool) string {
	end := ""
	if whole && w.quote != 0 {
		end = string(w.quote)
	}
	switch w.quote {
	case '\'':
		return "'" + strings.ReplaceAll(text, "'", `'\''`) + end
	case '"':
		return `"` + escaped(text, "\"\\$`") + end
	}
	if rest, ok := strings.CutPrefix(text, "~/"); ok {
		return "~/" + escaped(rest, special)
	}
	return escaped(text, special)
}

// special are the characters that mean something to a shell.
const special = "= \t\"'\\$`*?[]{}()<>|&;#!~"

// escaped puts a backslash before each of some characters.
func escaped(text, of string) string {
	var b strings.Builder
	for i := range len(text) {
		if strings.IndexByte(of, text[i]) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// Programs are the programs that a command line can begin with. They are read when they
// are first asked for, and again when a folder of them changes. Any goroutine may use it.
type Programs struct {
	path string

	mu    sync.Mutex
	read  []time.Time // when each folder was changed, as of the last reading
	names []string
}

// NewPrograms returns the programs in the folders of a PATH.
func NewPrograms(path string) *Programs { return &Programs{path: path} }

// builtins are the commands of a shell that are no programs and of use in one line.
func builtins() []string {
	return []string{"cd", "exec", "export", "source", "type", "ulimit", "umask"}
}

// Names are the names of all programs, in order. The caller does not change them.
func (p *Programs) Names() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	folders := filepath.SplitList(p.path)
	changed := make([]time.Time, len(folders))
	for i, folder := range folders {
		if info, err := os.Stat(folder); err == nil {
			changed[i] = info.ModTime()
		}
	}
	if p.names != nil && slices.EqualFunc(p.read, changed, time.Time.Equal) {
		return p.names
	}
	p.read, p.names = changed, builtins()
	for _, folder := range folders {
		if filepath.IsAbs(folder) {
			entries, _ := os.ReadDir(folder)
			for _, e := range entries {
				if name, ok := programName(folder, e); ok && isTypeable(name) {
					p.names = append(p.names, name)
				}
			}
		}
	}
	slices.Sort(p.names)
	p.names = slices.Compact(p.names)
	return p.names
}

// programName is the name by which a file is run; false if it cannot be run.
func programName(folder string, e os.DirEntry) (name string, ok bool) {
	if runtime.GOOS == "windows" {
		ending := strings.ToLower(filepath.Ext(e.Name()))
		return strings.TrimSuffix(e.Name(), filepath.Ext(e.Name())), slices.Contains([]string{".exe", ".com", ".bat", ".cmd"}, ending)
	}
	info, err := os.Stat(filepath.Join(folder, e.Name()))
	return e.Name(), err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}
