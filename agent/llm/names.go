package llm

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// fitness grades how well a name fits a model, from 1 for best; 0: not at all.
type fitness func(name []piece, model *Model) int

// piece is what names are compared by: a word, or a run of numbers with nothing but
// punctuation between them, such as a version with its date. A number with letters behind
// it (4o, 120b, 4.5v) is a word. No run goes on behind a slash or a colon.
type piece struct {
	word  string // in lower case; "" of a run
	run   []string
	glued bool // a number that stands right behind the word before it, as in k3
}

// piecesOf takes a name apart.
func piecesOf(name string) (all []piece) {
	rest := strings.ToLower(name)
	between := "/" // what stood before rest, behind the last piece
	for rest != "" {
		if n := span(rest, func(r rune) bool { return !isOfWord(r) }); n > 0 {
			between, rest = rest[:n], rest[n:]
			continue
		}
		n := span(rest, func(r rune) bool { return isOfWord(r) && !isDigit(r) })
		glued := n == 0 && between == ""
		if n == 0 {
			n = numberSpan(rest)
		}
		text := rest[:n]
		rest = rest[n:]
		switch last := len(all) - 1; {
		case !isDigits(strings.ReplaceAll(text, ".", "")):
			all = append(all, piece{word: text, glued: glued})
		case !glued && last >= 0 && all[last].run != nil && !strings.ContainsAny(between, "/:"):
			all[last].run = append(all[last].run, strings.Split(text, ".")...)
		default:
			all = append(all, piece{run: strings.Split(text, "."), glued: glued})
		}
		between = ""
	}
	return all
}

// numberSpan returns how long the number is that s begins with, with points between digits
// and letters behind it.
func numberSpan(s string) int {
	n := span(s, isDigit)
	for n+1 < len(s) && s[n] == '.' && isDigit(rune(s[n+1])) {
		n += 1 + span(s[n+1:], isDigit)
	}
	return n + span(s[n:], isOfWord)
}

// span returns how long the beginning of s is whose characters are all as is wants them.
func span(s string, is func(rune) bool) int {
	if i := strings.IndexFunc(s, func(r rune) bool { return !is(r) }); i >= 0 {
		return i
	}
	return len(s)
}

func isOfWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

func isDigit(r rune) bool { return r >= '0' && r <= '9' }

func isDigits(s string) bool { return s != "" && span(s, isDigit) == len(s) }

// isNumber reports whether a piece is a run, or a word that begins with a number.
func (p piece) isNumber() bool { return p.run != nil || isDigit(rune(p.word[0])) }

// isDate reports whether a piece tells a model from others of its name by its age only.
func (p piece) isDate() bool { return p.word == "latest" || p.run != nil && dateIn(p.run) == 0 }

// dateIn returns where the date in a run begins; its length if it has none. A number of
// four digits, or one that begins with a zero, is of a date and no version.
func dateIn(run []string) int {
	for i, n := range run {
		if len(n) >= 4 || len(n) > 1 && n[0] == '0' {
			return i
		}
	}
	return len(run)
}

// hasRun reports whether the numbers of part stand in a run: its version as a whole, with or
// without the date behind it, or something of that date.
func hasRun(run, part []string) bool {
	date := dateIn(run)
	for at := range run {
		ofDate := at >= date
		if (ofDate || at == 0 && len(part) >= date) && len(part) <= len(run)-at && slices.Equal(run[at:at+len(part)], part) {
			return true
		}
	}
	return false
}

// How the pieces of a name stand in that of a model, best first.
const (
	noFit         = iota
	beginsWhole   // from the beginning of the id or of provider/id, in whole words
	begins        // words may be unfinished
	containsWhole // next to each other, in whole words
	contains
	inOrder
	inAnyOrder
	incomplete // is added where the name does not say all that tells the model from others
)

// anyFit grades models by how the pieces of a name stand in their provider/id. Every word
// has to begin a word of it, and every run has to be one there, see hasRun; a number that is
// glued to a word, as in k3, has to stand behind that whole word. A model of which nothing but
// a date is left behind the name, and no number before, fits better than any other:
// opus-5 is claude-opus-5, and not claude-opus-5-fast.
func anyFit(name []piece, model *Model) int {
	ref := strings.ToLower(model.Ref())
	if !hasTextsOf(ref, name) {
		return noFit
	}
	has, first := piecesOf(ref), len(piecesOf(model.Provider))
	how, at := placing(name, has, first)
	if how != noFit && !namesAll(has, first, at) {
		how += incomplete
	}
	return how
}

// hasTextsOf reports whether ref has the words and numbers of a name anywhere. Most models
// do not, and need not be taken apart.
func hasTextsOf(ref string, name []piece) bool {
	for _, p := range name {
		if !strings.Contains(ref, p.word) || slices.ContainsFunc(p.run, func(n string) bool { return !strings.Contains(ref, n) }) {
			return false
		}
	}
	return true
}

// closeFit is anyFit, but only where the pieces stand next to each other and, if there is a
// number among them, nothing is incomplete: gpt-6 is not meant as gpt-6-mini.
func closeFit(name []piece, model *Model) int {
	how := anyFit(name, model)
	switch {
	case how%incomplete >= inOrder:
		return noFit
	case how > incomplete && slices.ContainsFunc(name, piece.isNumber):
		return noFit
	}
	return how
}

// placing finds how and where the pieces of a name stand in those of a model's, of which those
// of the id begin at first.
func placing(name, has []piece, first int) (how int, at []int) {
	i := find(name, has, 0)
	if i < 0 {
		return scattered(name, has)
	}
	atBegin := i == 0 || i == first
	whole := slices.EqualFunc(name, has[i:i+len(name)], func(p, of piece) bool { return p.word == of.word })
	switch {
	case atBegin && whole:
		how = beginsWhole
	case atBegin:
		how = begins
	case whole:
		how = containsWhole
	default:
		how = contains
	}
	return how, places(i, len(name))
}

// scattered is placing for pieces with others between them.
func scattered(name, has []piece) (how int, at []int) {
	how = inOrder
	for from := 0; len(name) > 0; {
		n := 1
		if len(name) > 1 && name[1].glued {
			n = 2
		}
		i := find(name[:n], has, from)
		if i < 0 {
			how = inAnyOrder
			for i = find(name[:n], has, 0); slices.Contains(at, i); { // one stands for one
				i = find(name[:n], has, i+1)
			}
		}
		if i < 0 {
			return noFit, nil
		}
		at = append(at, places(i, n)...)
		from, name = i+n, name[n:]
	}
	return how, at
}

// places returns the n numbers from the first one on.
func places(first, n int) (all []int) {
	for i := range n {
		all = append(all, first+i)
	}
	return all
}

// find returns where in has, from the index from on, pieces stand next to each other; -1 if
// they do nowhere.
func find(pieces, has []piece, from int) int {
	for i := from; i+len(pieces) <= len(has); i++ {
		fits := true
		for k, p := range pieces {
			fits = fits && p.isIn(has[i+k], k+1 < len(pieces) && pieces[k+1].glued)
		}
		if fits {
			return i
		}
	}
	return -1
}

// isIn reports whether a typed piece means one of a model's name; whole: it has to be all of
// that.
func (p piece) isIn(of piece, whole bool) bool {
	switch {
	case p.run != nil:
		return hasRun(of.run, p.run)
	case whole:
		return p.word == of.word
	}
	return strings.HasPrefix(of.word, p.word)
}

// namesAll reports whether pieces at these places leave nothing of an id, which begins at
// first, that tells it from others: no number, and nothing but a date behind the last of
// them.
func namesAll(has []piece, first int, at []int) bool {
	last := slices.Max(at)
	for i := first; i < len(has); i++ {
		if !slices.Contains(at, i) && !has[i].isDate() && (i > last || has[i].isNumber()) {
			return false
		}
	}
	return true
}

// plainName returns s in lower case with one hyphen for each run of other characters than
// letters and digits, and none at the ends.
func plainName(s string) string {
	b := make([]byte, 0, len(s))
	gap := false
	for _, r := range s {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			gap = true
			continue
		}
		if gap && len(b) > 0 {
			b = append(b, '-')
		}
		gap = false
		b = utf8.AppendRune(b, unicode.ToLower(r))
	}
	return string(b)
}

// undatedOnly returns models without the dated versions of one that is there too: of ids
// of a provider that differ only in their date, the one without a date stays, or else the
// newest.
func undatedOnly(models []*Model) []*Model {
	var kept []*Model
	at := map[string]int{}
	for _, model := range models {
		base, date := Dated(model.ID)
		i, known := at[model.Provider+"/"+base]
		if !known {
			at[model.Provider+"/"+base] = len(kept)
			kept = append(kept, model)
			continue
		}
		if _, other := Dated(kept[i].ID); other != "" && (date == "" || date > other) {
			kept[i] = model
		}
	}
	return kept
}

// Dated splits an id into the name and its date, as digits, such as 20250929. The date is
// "latest" for -latest, which sorts behind all others, and "" for an id without one.
func Dated(id string) (base, date string) {
	if base, ok := strings.CutSuffix(id, "-latest"); ok {
		return base, "latest"
	}
	for _, form := range []string{"-dddddddd", "@dddddddd", "-dddd-dd-dd"} {
		if i := len(id) - len(form); i > 0 && hasForm(id[i:], form) {
			return id[:i], strings.ReplaceAll(id[i+1:], "-", "")
		}
	}
	return id, ""
}

// hasForm reports whether s, which is as long as form, has a digit wherever form has a d,
// and elsewhere the same character.
func hasForm(s, form string) bool {
	for i := range len(form) {
		if digit := s[i] >= '0' && s[i] <= '9'; form[i] == 'd' && !digit || form[i] != 'd' && s[i] != form[i] {
			return false
		}
	}
	return true
}
