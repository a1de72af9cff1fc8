package config

import (
	"cmp"
	"errors"
	"maps"
	"strings"

	"github.com/BurntSushi/toml"
)

// A text of settings is edited by replacing a few bytes: comments, order, blank lines,
// indentation and the ends of lines stay as the user wrote them. What the edit means
// is checked afterwards by the parser: the text then has to say what it said before, but
// for the one key.

// errNoPlace says that a key cannot be written into a text as it is.
var errNoPlace = errors.New("there is no place for it in the file as it is written; edit the file by hand")

// edited is a text in the course of being edited.
type edited struct {
	text   string // without a mark of the order of bytes
	layout *layout
	eol    string
}

// withKey returns the text in which key has the value that literal writes in TOML. text is
// valid TOML within the bounds of a settings file. Comments inside of a value that is
// replaced are put above it.
func withKey(text string, key toml.Key, literal string) (string, error) {
	doc, value, err := decodedWith(text, literal)
	if err != nil {
		return "", err
	}
	want, ok := docWith(doc, key, value)
	if !ok {
		return "", errNoPlace
	}
	if formatAny(want) == formatAny(doc) {
		return text, nil
	}
	return editText(text, want, func(e edited) []string { return e.placed(key, literal) })
}

// withoutKey returns the text without the line of key, or without its part of an inline
// table. A text that does not have the key is returned as it is.
func withoutKey(text string, key toml.Key) (string, error) {
	doc, _, err := decodedWith(text, "0")
	if err != nil {
		return "", err
	}
	want, ok := docWithout(doc, key)
	if !ok {
		return text, nil
	}
	return editText(text, want, func(e edited) []string { return e.removed(key) })
}

// editText returns the first of the texts that ways finds which says exactly want.
func editText(text string, want map[string]any, ways func(edited) []string) (string, error) {
	mark := ""
	for _, m := range byteOrderMarks() {
		if rest, ok := strings.CutPrefix(text, m); ok {
			mark, text = m, rest
			break
		}
	}
	e := edited{text: text, layout: newLayout(text), eol: "\n"}
	if i := strings.IndexByte(text, '\n'); i > 0 && text[i-1] == '\r' {
		e.eol = "\r\n"
	}
	meant := formatAny(pruned(want))
	for _, way := range ways(e) {
		var got map[string]any
		if _, err := toml.Decode(mark+way, &got); err != nil || formatAny(pruned(got)) != meant {
			continue
		}
		if _, beyond := indexLines(way); beyond == nil && len(mark+way) <= maxSize {
			return mark + way, nil
		}
	}
	return "", errNoPlace
}

// decodedWith returns a text and the value of a literal as the parser sees them.
func decodedWith(text, literal string) (doc map[string]any, value any, err error) {
	if _, err = toml.Decode(text, &doc); err != nil {
		return nil, nil, err
	}
	var one map[string]any
	if _, err = toml.Decode("value = "+literal, &one); err != nil || len(one) != 1 {
		return nil, nil, cmp.Or(err, errors.New("not a value"))
	}
	if doc == nil {
		doc = map[string]any{}
	}
	return doc, one["value"], nil
}

// docWith returns a copy of doc in which key has that value; false if what is above key
// is no table.
func docWith(doc map[string]any, key toml.Key, value any) (map[string]any, bool) {
	doc = maps.Clone(doc)
	if len(key) == 1 {
		doc[key[0]] = value
		return doc, true
	}
	below, known := doc[key[0]]
	table, isTable := below.(map[string]any)
	if known && !isTable {
		return nil, false
	}
	if table == nil {
		table = map[string]any{}
	}
	table, ok := docWith(table, key[1:], value)
	doc[key[0]] = table
	return doc, ok
}

// docWithout returns a copy of doc without key; false if it does not have it.
func docWithout(doc map[string]any, key toml.Key) (map[string]any, bool) {
	below, known := doc[key[0]]
	if !known {
		return nil, false
	}
	doc = maps.Clone(doc)
	if len(key) == 1 {
		delete(doc, key[0])
		return doc, true
	}
	table, isTable := below.(map[string]any)
	if !isTable {
		return nil, false
	}
	table, ok := docWithout(table, key[1:])
	doc[key[0]] = table
	return doc, ok
}

// pruned returns a copy of doc without empty tables: whether one that has lost its last key
// is still there depends on how it was written, and means nothing.
func pruned(doc map[string]any) map[string]any {
	doc = maps.Clone(doc)
	for name, below := range doc {
		if table, ok := below.(map[string]any); ok {
			if doc[name] = pruned(table); len(doc[name].(map[string]any)) == 0 {
				delete(doc, name)
			}
		}
	}
	return doc
}

// placed returns the texts in which key has that value, the most natural one first. They
// may be wrong: not everything may be written everywhere.
func (e edited) placed(key toml.Key, literal string) []string {
	if p, ok := e.layout.pairs[pathOf(key)]; ok {
		return []string{e.lifted(p, e.text[:p.value]+literal+e.text[p.end:])}
	}
	var ways, dotted []string
	for n := len(key) - 1; n >= 0; n-- {
		parent, line := pathOf(key[:n]), key[n:].String()+" = "+literal
		if p, ok := e.layout.pairs[parent]; ok && n > 0 {
			ways = append(ways, e.insertedInline(p, line))
		}
		section, ok := e.layout.find(parent)
		if !ok {
			continue
		}
		anchor, found := e.sibling(section, key, n)
		if way := e.insertedLine(section, anchor, line); found || n == len(key)-1 {
			ways = append(ways, way)
		} else {
			dotted = append(dotted, way)
		}
	}
	if n := len(key) - 1; n > 0 {
		ways = append(ways, e.appended("["+key[:n].String()+"]", key[n:].String()+" = "+literal))
	}
	return append(ways, dotted...)
}

func pathOf(key toml.Key) (path string) {
	for _, part := range key {
		path = KeyPath(path, part)
	}
	return path
}

// sibling returns the line of a section that shares the longest beginning with key, beyond
// the n parts that the section itself has; found is false if it shares no more, and the
// line is the last one. A pair with an end of 0 is none: the section has no lines.
func (e edited) sibling(section int, key toml.Key, n int) (line pair, found bool) {
	for shared := len(key) - 1; shared > n; shared-- {
		if line, found = e.layout.below(section, pathOf(key[:shared])); found {
			return line, true
		}
	}
	line, _ = e.layout.below(section, "")
	return line, false
}

// lifted returns text, which is that of e up to the line of p, with the comments inside of
// the value of p above that line.
func (e edited) lifted(p pair, text string) string {
	at := e.lineStart(e.layout.statement(p).key)
	above := ""
	for _, c := range e.layout.comments { // such as those of a list of several lines
		if c.start >= p.value && c.end <= p.end {
			above += e.indentAt(at) + strings.TrimRight(e.text[c.start:c.end], "\r") + e.eol
		}
	}
	return text[:at] + above + text[at:]
}

// insertedInline returns the text with one pair more in an inline table.
func (e edited) insertedInline(table pair, line string) string {
	if table.end <= table.value+1 || e.text[table.value] != '{' {
		return e.text // it is none
	}
	if at, ok := e.layout.lastIn(table); ok {
		return e.text[:at] + ", " + line + e.text[at:]
	}
	return e.text[:table.value] + "{ " + line + " }" + e.text[table.end:]
}

// insertedLine returns the text with one line more in a section, behind the line of
// anchor, or at its beginning if that is none.
func (e edited) insertedLine(section int, anchor pair, line string) string {
	s := e.layout.sections[section]
	switch {
	case anchor.end > 0:
		return e.insertedBehind(anchor.end, e.indentAt(e.lineStart(anchor.key))+line)
	case section > 0:
		return e.insertedBehind(s.end, e.indentAt(e.lineStart(s.start))+line)
	case len(e.layout.sections) > 1:
		at := e.aboveComments(e.lineStart(e.layout.sections[1].start))
		return e.text[:at] + line + e.eol + e.eol + e.text[at:]
	}
	return e.ended() + line + e.eol
}

// insertedBehind returns the text with a line more, below the one in which at is.
func (e edited) insertedBehind(at int, line string) string {
	if n := strings.IndexByte(e.text[at:], '\n'); n >= 0 {
		at += n + 1
		return e.text[:at] + line + e.eol + e.text[at:]
	}
	return e.text + e.eol + line + e.eol
}

// appended returns the text with a new table at its end.
func (e edited) appended(header, line string) string {
	text := e.ended()
	if strings.TrimSpace(text) != "" {
		text += e.eol
	}
	return text + header + e.eol + line + e.eol
}

// ended returns the text with an end of its last line.
func (e edited) ended() string {
	if e.text == "" || strings.HasSuffix(e.text, "\n") {
		return e.text
	}
	return e.text + e.eol
}

// lineStart returns where the line begins in which at is.
func (e edited) lineStart(at int) int { return strings.LastIndexByte(e.text[:at], '\n') + 1 }

// indentAt returns the blanks at the beginning of a line.
func (e edited) indentAt(start int) string {
	rest := e.text[start:]
	return rest[:len(rest)-len(strings.TrimLeft(rest, " \t"))]
}

// aboveComments returns where the comment lines begin that are right above the line at.
func (e edited) aboveComments(at int) int {
	for at > 0 {
		above := e.lineStart(at - 1)
		if !strings.HasPrefix(strings.TrimLeft(e.text[above:at], " \t"), "#") {
			break
		}
		at = above
	}
	return at
}

// removed returns the texts without a key.
func (e edited) removed(key toml.Key) []string {
	p, ok := e.layout.pairs[pathOf(key)]
	switch {
	case !ok:
		return nil
	case p.nested: // with the comma before it, or the one behind it
		before := strings.TrimRight(e.text[:p.key], " \t\r\n")
		behind := strings.TrimLeft(e.text[p.end:], " \t\r\n")
		withComma := e.text[:p.key] + strings.TrimLeft(strings.TrimPrefix(behind, ","), " \t")
		return []string{e.lifted(p, strings.TrimSuffix(before, ",")+e.text[p.end:]), e.lifted(p, withComma)}
	}
	start, end := e.lineStart(p.key), len(e.text)
	if n := strings.IndexByte(e.text[p.end:], '\n'); n >= 0 {
		end = p.end + n + 1
	}
	return []string{e.lifted(p, e.text[:start]+e.text[end:])}
}

func byteOrderMarks() []string { return []string{"\xff\xfe", "\xfe\xff", "\xef\xbb\xbf"} }
