package mcp

import (
	"cmp"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"pi/internal/printable"
)

// A search ranks by words: in a name they count most, then those of parameters, then those of
// the description; a word that few tools have counts more than one that all have. A word that
// only begins like one counts half.
//
// What is searched is a text with a line for each tool or resource, with its words as they are
// compared. The cache has it beside the definitions, so that a search reads no schema: to
// decode those of 1,000 tools takes ten times as long as to search these lines.
const (
	ofName = iota
	ofParameter
	ofDescription
	kinds // how many kinds of words there are
)

// counts is how much a word of each kind counts.
var counts = [kinds]float64{ofName: 6, ofParameter: 2, ofDescription: 1}

// searchIndex is what a search looks at: the tools and resources of one server. It is not
// changed once made.
type searchIndex []document

// document is a tool or a resource.
type document struct {
	id         string // the name of the tool at its server, or the URI of the resource
	isResource bool
	shown      string        // what is said of it
	words      [kinds]string // of each kind, with a space before and behind each
}

// newSearchIndex reads the words of what a server has; of nil that is nil, and of nothing an
// empty index. Tools that are off are among them, for what is off may be another time.
func newSearchIndex(d *definitions) searchIndex {
	if d == nil {
		return nil
	}
	x := make(searchIndex, 0, len(d.Tools)+len(d.Resources))
	for i := range d.Tools {
		t := &d.Tools[i]
		of := wordLists{}
		of.add(ofName, t.Tool+" "+t.Title)
		of.add(ofDescription, t.Description)
		for name, p := range parameters(t.Schema) {
			of.add(ofParameter, name)
			of.add(ofDescription, p.Description)
		}
		x = append(x, document{id: t.Tool, shown: printable.FirstLine(cmp.Or(t.Description, t.Title), maxShown), words: of.texts()})
	}
	for i := range d.Resources {
		r := &d.Resources[i]
		of := wordLists{}
		of.add(ofName, r.Name+" "+r.Title+" "+r.URI)
		of.add(ofDescription, r.Description)
		x = append(x, document{id: r.URI, isResource: true, shown: printable.FirstLine(cmp.Or(r.Title, r.Name), maxShown), words: of.texts()})
	}
	return x
}

// maxShown is how much a search says of a tool.
const maxShown = 120

// parameter is what is read of one.
type parameter struct{ Description string }

// parameters are those that a schema has at its top.
func parameters(schema json.RawMessage) map[string]parameter {
	var of struct{ Properties map[string]parameter }
	_ = json.Unmarshal(schema, &of) // one with a description that is no text has no words
	return of.Properties
}

// wordLists are the words of a document, each with the kind of which it counts most.
type wordLists map[string]int

// maxWords is how many words of a description are looked at.
const maxWords = 200

// add adds the words of a text.
func (l wordLists) add(kind int, text string) {
	n := 0
	for word := range words(text) {
		if n++; n > maxWords {
			return
		}
		if before, ok := l[word]; !ok || kind < before {
			l[word] = kind
		}
	}
}

// texts are the words of each kind as one text.
func (l wordLists) texts() (of [kinds]string) {
	for _, word := range slices.Sorted(maps.Keys(l)) {
		of[l[word]] += " " + word
	}
	for kind := range of {
		of[kind] += " "
	}
	return of
}

// words are the words of a text in lower case: runs of letters and digits, and each part of
// one that is written likeThis.
func words(text string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		start, before := -1, rune(0)
		end := func(at int) bool {
			if start < 0 {
				return true
			}
			word := strings.ToLower(text[start:at])
			start = -1
			return yield(word)
		}
		for i, r := range text {
			isWord := unicode.IsLetter(r) || unicode.IsDigit(r)
			if (!isWord || unicode.IsUpper(r) && unicode.IsLower(before)) && !end(i) {
				return
			}
			if isWord && start < 0 {
				start = i
			}
			before = r
		}
		end(len(text))
	}
}

// indexFormat is the first line of an index in the cache.
const indexFormat = "words 1"

// encode writes the index for the cache.
func (x searchIndex) encode() []byte {
	var b strings.Builder
	b.WriteString(indexFormat + "\n")
	for i := range x {
		doc := &x[i]
		kind := "tool"
		if doc.isResource {
			kind = "resource"
		}
		b.WriteString(strings.Join(append([]string{kind, strconv.Quote(doc.id), strconv.Quote(doc.shown)}, doc.words[:]...), "\t") + "\n")
	}
	return []byte(b.String())
}

// parseSearchIndex reads what encode has written; ok is false for anything else.
func parseSearchIndex(text string) (x searchIndex, ok bool) {
	rest, ok := strings.CutPrefix(text, indexFormat+"\n")
	if !ok {
		return nil, false
	}
	x = make(searchIndex, 0, strings.Count(rest, "\n"))
	for rest != "" {
		var line string
		if line, rest, ok = strings.Cut(rest, "\n"); !ok {
			return nil, false
		}
		doc, ok := parseDocument(line)
		if !ok {
			return nil, false
		}
		x = append(x, doc)
	}
	return x, true
}

func parseDocument(line string) (doc document, ok bool) {
	kind, line, _ := strings.Cut(line, "\t")
	id, line, _ := strings.Cut(line, "\t")
	shown, line, _ := strings.Cut(line, "\t")
	var noID, noText error
	doc.id, noID = strconv.Unquote(id)
	doc.shown, noText = strconv.Unquote(shown)
	if doc.isResource = kind == "resource"; !doc.isResource && kind != "tool" || noID != nil || noText != nil {
		return document{}, false
	}
	for i := range doc.words {
		isLast := i == kinds-1
		words, after, more := strings.Cut(line, "\t")
		if more == isLast || !strings.HasPrefix(words, " ") || !strings.HasSuffix(words, " ") {
			return document{}, false
		}
		doc.words[i], line = words, after
	}
	return doc, true
}

// query are the words that are searched for, with a space before each: a word in a text of
// words begins so.
type query []string

func newQuery(text string) (q query) {
	const most = 20
	for word := range words(text) {
		if word = " " + word; !slices.Contains(q, word) && len(q) < most {
			q = append(q, word)
		}
	}
	return q
}

// scored is a hit with how well it fits.
type scored struct {
	Hit
	score float64
}

// compare orders the best first.
func (s scored) compare(other scored) int {
	return cmp.Or(cmp.Compare(other.score, s.score), strings.Compare(s.Server, other.Server), strings.Compare(s.Tool+s.URI, other.Tool+other.URI))
}

// find returns what of a server fits a query; without words, everything.
func (x searchIndex) find(q query, of *Entry, allows func(name string) bool) (hits []scored) {
	score, fits := make([]float64, len(x)), make([]int, len(x))
	weights := make([]float64, len(x)) // of one word
	name := wordLists{}
	name.add(ofName, of.Name)
	server := document{words: name.texts()}
	for _, word := range q {
		ofServer, have := server.weight(word), 0
		for n := range x {
			if weights[n] = max(ofServer, x[n].weight(word)); weights[n] > 0 {
				have++
			}
		}
		rarity := math.Log(1 + float64(len(x)+1)/float64(have+1))
		for n, weight := range weights {
			if weight > 0 {
				fits[n]++
				score[n] += weight * rarity
			}
		}
	}
	for n := range x {
		doc := &x[n]
		if len(q) > 0 {
			if fits[n] == 0 {
				continue
			}
			score[n] *= float64(fits[n]) / float64(len(q))
		}
		hit := Hit{Server: of.Name, Text: doc.shown}
		switch {
		case doc.isResource:
			hit.URI = doc.id
		case of.ExposureOf(doc.id) == Off, allows != nil && !allows(Name(of.Name, doc.id)):
			continue
		default:
			hit.Tool = doc.id
		}
		hits = append(hits, scored{hit, score[n]})
	}
	return hits
}

// weight is how much a word of a query counts in a document; 0: it is not in it.
func (d *document) weight(word string) (weight float64) {
	for kind, text := range d.words {
		weight = max(weight, counts[kind]*share(text, word))
	}
	return weight
}

// share is 1 if a word of a query is in a text of words, a half if one only begins like it, and 0 if there
// is none. What begins like one or two letters says nothing.
func share(text, word string) (share float64) {
	const fewest = len(" abc")
	for {
		at := strings.Index(text, word)
		if at < 0 {
			return share
		}
		if text = text[at+len(word):]; text[0] == ' ' { // there is one behind the last word
			return 1
		}
		if len(word) >= fewest {
			share = 0.5
		}
	}
}

// searchable returns the index of a server; nil if nothing is known of it. Where the
// definitions are not in memory it is that of the cache, and they stay there.
func (s *server) searchable() searchIndex {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.index == nil && !s.loaded {
		s.index = s.set.cache.loadIndex(s.hash)
	}
	if s.index == nil {
		s.index = newSearchIndex(s.definitionsLocked())
	}
	return s.index
}
