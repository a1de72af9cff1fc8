package stdlib

import (
	"strings"
	"unicode/utf8"

	"pi/internal/cells"
	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

// openText makes pi.text.
//
//	truncate(text, {lines?, bytes?, keep?, marker?}) → text, info
//	width(text) → columns of a terminal
//	fit(text, width, {marker}?) → text       cut to so many columns
//	wrap(text, width, {indent?, hanging?}) → {line, …}
//	redact(text, {patterns?, defaults?, replacement?}) → text, count
//	of(message) → text                       of a message, of its content, or a text itself
//	front_matter(text) → fields, body, problems?
//
// truncate keeps whole lines as long as one fits, and never half a character;
// keep says which end, "head" or "tail"; marker is added where something is
// missing. info has truncated, total_lines, output_lines, total_bytes and
// output_bytes.
//
// Escape sequences take no columns, and stay whole. redact puts [redacted] in
// the place of what looks like a key, a token, a password or a private key;
// patterns are further ones, of pi.re; their first group is what is hidden, if
// they have one. It finds what has a known shape or a telling name, so it makes
// accidents less likely and proves nothing.
//
// of joins the texts of a message with line ends. front_matter reads the fields between
// two lines of --- at the head of a text: by name a text, a list, or fields; numbers are
// text. problems are what it could not read, with their lines.
func openText(vm *luavm.VM, L *lua.LState, env *Env) lua.LValue {
	m := newModule(vm, env, "text")
	m.fn("truncate", truncateText)
	m.fn("of", textOf)
	m.fn("front_matter", frontMatter)
	m.fn("width", func(L *lua.LState, s string) int { return width(s, looking(L)) })
	m.fn("fit", func(L *lua.LState, s string, columns int, opts lua.LValue) (string, error) {
		marker := "…"
		luavm.Unpack(L, 3, "text.fit", luavm.Opt("marker", &marker))
		if columns < 0 {
			return "", luavm.Misusef("the width must not be negative")
		}
		return fit(s, columns, marker, looking(L)), nil
	})
	m.fn("wrap", func(L *lua.LState, s string, columns int, opts lua.LValue) (lua.LValue, error) {
		var indent string
		var hanging *string
		luavm.Unpack(L, 3, "text.wrap", luavm.Opt("indent", &indent), luavm.Opt("hanging", &hanging))
		if hanging == nil {
			hanging = &indent
		}
		look := looking(L)
		if columns <= max(width(indent, look), width(*hanging, look)) {
			return nil, luavm.Misusef("a width of %d leaves no room", columns)
		}
		return stringList(L, wrap(s, columns, indent, *hanging, look)), nil
	})
	var c patterns
	secrets := defaultSecrets()
	m.fn("redact", func(L *lua.LState, s string, opts lua.LValue) (string, int, error) {
		r := redaction{replacement: "[redacted]", job: L}
		defaults, patterns := true, []string(nil)
		luavm.Unpack(L, 2, "text.redact", luavm.Opt("patterns", &patterns), luavm.Opt("defaults", &defaults), luavm.Opt("replacement", &r.replacement))
		if defaults {
			r.secrets = secrets()
		}
		for _, p := range patterns {
			re, err := c.compile(p)
			if err != nil {
				return "", 0, err
			}
			r.secrets = append(r.secrets[:len(r.secrets):len(r.secrets)], secret{pattern: re})
		}
		s, n := r.apply(s)
		return s, n, nil
	})
	return m.table()
}

// truncateText is text.truncate.
func truncateText(L *lua.LState, s string, opts lua.LValue) (string, lua.LValue, error) {
	lines, bytes, keep, marker := -1, -1, "head", ""
	luavm.Unpack(L, 2, "text.truncate", luavm.Opt("lines", &lines), luavm.Opt("bytes", &bytes), luavm.Opt("keep", &keep), luavm.Opt("marker", &marker))
	if keep != "head" && keep != "tail" {
		return "", nil, luavm.Misusef("option \"keep\" must be \"head\" or \"tail\", not %q", keep)
	}
	text, kept, total := truncate(s, lines, bytes, keep == "tail")
	info := record(L, "truncated", lua.LBool(text != s), "total_lines", lua.LNumber(total), "output_lines", lua.LNumber(kept),
		"total_bytes", lua.LNumber(len(s)), "output_bytes", lua.LNumber(len(text)))
	switch {
	case text == s:
	case keep == "tail":
		text = marker + text
	default:
		text += marker
	}
	return text, info, nil
}

// truncate returns as many whole lines from the beginning, or the end (tail), as fit
// into so many lines and bytes, and part of a line if not one fits; negative is no
// limit. It also returns how many lines it kept and how many there are.
func truncate(s string, lines, bytes int, tail bool) (text string, kept, total int) {
	total = strings.Count(s, "\n")
	if s != "" && !strings.HasSuffix(s, "\n") {
		total++
	}
	rest, first := s, ""
	for ; kept < total && (lines < 0 || kept < lines); kept++ {
		var line string
		if tail {
			at := strings.LastIndexByte(strings.TrimSuffix(rest, "\n"), '\n') + 1
			line = rest[at:]
		} else if at := strings.IndexByte(rest, '\n'); at >= 0 {
			line = rest[:at+1]
		} else {
			line = rest
		}
		if kept == 0 {
			first = line
		}
		if bytes >= 0 && len(s)-len(rest)+len(line) > bytes {
			break
		}
		if tail {
			rest = rest[:len(rest)-len(line)]
		} else {
			rest = rest[len(line):]
		}
	}
	switch {
	case kept == 0 && total > 0 && lines != 0 && bytes > 0: // not even one line fits
		return piece(first, bytes, tail), 1, total
	case tail:
		return s[len(rest):], kept, total
	}
	return s[:len(s)-len(rest)], kept, total
}

// piece returns the first or the last (tail) n bytes of a line, or less, so that no
// character is cut.
func piece(line string, n int, tail bool) string {
	if tail {
		i := len(line) - n
		for i < len(line) && !utf8.RuneStart(line[i]) {
			i++
		}
		return line[i:]
	}
	for n > 0 && !utf8.RuneStart(line[n]) {
		n--
	}
	return line[:n]
}

// looking returns what functions call with the bytes that they are about to build, with 0 where
// they only work: it raises if that is too much for the job of L, or that was stopped.
func looking(L *lua.LState) func(n int) { return func(n int) { luavm.Building(L, n) } }

// width is how many columns s takes; of several lines, the widest.
func width(s string, look func(n int)) int {
	widest := 0
	for line := range strings.SplitSeq(s, "\n") {
		look(0)
		n := 0
		eachCell(line, look, func(_ string, w int) bool { n += w; return true })
		widest = max(widest, n)
	}
	return widest
}

// eachCell calls visit with each character of a line, as a user counts them, and the
// columns it takes, and with each escape sequence, which takes 0. It ends when visit
// returns false. Now and then it calls look.
func eachCell(s string, look func(n int), visit func(cell string, width int) bool) {
	seen := 0
	for s != "" {
		if n := escapeLen(s); n > 0 {
			if !visit(s[:n], 0) {
				return
			}
			s = s[n:]
			continue
		}
		end := strings.IndexByte(s[1:], 0x1b) + 1
		if end <= 0 {
			end = len(s)
		}
		for cell, columns := range cells.Clusters(s[:end]) {
			if seen++; seen%looksApart == 0 {
				look(0)
			}
			if !visit(cell, columns) {
				return
			}
		}
		s = s[end:]
	}
}

// escapeLen is the length of the escape sequence that s begins with, or 0.
func escapeLen(s string) int {
	if len(s) < 2 || s[0] != 0x1b {
		return 0
	}
	switch s[1] {
	case '[':
		for i := 2; i < len(s); i++ {
			if s[i] >= 0x40 && s[i] <= 0x7e {
				return i + 1
			}
		}
		return len(s)
	case ']', 'P', '_', '^', 'X':
		for i := 2; i < len(s); i++ {
			switch {
			case s[i] == 0x07:
				return i + 1
			case s[i] == 0x1b && i+1 < len(s) && s[i+1] == '\\':
				return i + 2
			}
		}
		return len(s)
	}
	return 2
}

// fit returns the first line of a text, cut to n columns; the marker at its end, which
// counts too, says that something is missing.
func fit(s string, n int, marker string, look func(n int)) string {
	if width(s, look) <= n && !strings.Contains(s, "\n") {
		return s
	}
	line, _, more := strings.Cut(s, "\n")
	of := width(marker, look)
	if !more || width(line, look)+of > n {
		line = firstColumns(line, n-of, look)
	}
	if of > n {
		return firstColumns(marker, n, look)
	}
	return line + marker
}

// firstColumns returns the first n columns of a line. If it has escape sequences, one
// that resets colours follows.
func firstColumns(line string, n int, look func(n int)) string {
	var b strings.Builder
	escaped := false
	eachCell(line, look, func(cell string, w int) bool {
		if n -= w; n < 0 {
			return false
		}
		escaped = escaped || cell[0] == 0x1b
		b.WriteString(cell)
		return true
	})
	if escaped {
		b.WriteString("\x1b[0m")
	}
	return b.String()
}

// wrap returns the lines of a text broken to so many columns, at blanks, or within a
// word that is longer than a line. The first line begins with indent, all others with
// hanging.
func wrap(s string, columns int, indent, hanging string, look func(n int)) []string {
	w := lineFiller{columns: columns, hanging: hanging, wide: width(hanging, look), look: look}
	for line := range strings.SplitSeq(strings.TrimSuffix(s, "\n"), "\n") {
		if len(w.lines) == 0 {
			w.begin(indent, width(indent, look))
		} else {
			w.begin(hanging, w.wide)
		}
		rest := line
		for rest != "" {
			word := strings.IndexFunc(rest, func(r rune) bool { return r != ' ' && r != '\t' })
			if word < 0 {
				break
			}
			gap := strings.ReplaceAll(rest[:word], "\t", "    ")
			rest = rest[word:]
			end := strings.IndexAny(rest, " \t")
			if end < 0 {
				end = len(rest)
			}
			w.add(gap, rest[:end])
			rest = rest[end:]
		}
		w.end()
	}
	return w.lines
}

// lineFiller puts words into lines of so many columns.
type lineFiller struct {
	columns     int
	hanging     string
	wide        int // columns of hanging
	look        func(n int)
	lines       []string
	line        []byte
	used, empty int // columns of line, and of its indent
}

// add adds a word to the line, with the gap before it, or begins a new line with it. A
// word that is longer than a line is divided.
func (w *lineFiller) add(gap, word string) {
	w.look(0)
	n := width(word, w.look)
	if w.used+len(gap)+n <= w.columns {
		w.line = append(append(w.line, gap...), word...)
		w.used += len(gap) + n
		return
	}
	if w.used > w.empty {
		w.next()
	}
	eachCell(word, w.look, func(cell string, n int) bool {
		if w.used+n > w.columns && w.used > w.empty {
			w.next()
		}
		w.line = append(w.line, cell...)
		w.used += n
		return true
	})
}

// next ends the line and begins another with the hanging indent.
func (w *lineFiller) next() {
	w.end()
	w.begin(w.hanging, w.wide)
}

// begin begins a line with an indent of so many columns.
func (w *lineFiller) begin(indent string, columns int) {
	w.line, w.used, w.empty = append(w.line[:0], indent...), columns, columns
}

// end adds the line to those that are full. What lists of lines grow by is counted with it.
func (w *lineFiller) end() {
	w.look(len(w.line) + 3*listSlot)
	w.lines = append(w.lines, string(w.line))
}
