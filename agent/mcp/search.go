package mcp

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"unicode"
)

// A search ranks by words: in a name they count most, then those of parameters, then those of
// the description; a word that few tools have counts more than one that all have. A word that
// only begins like one counts half.
const (
	ofName        = 6
	ofParameter   = 2
	ofDescription = 1
)

// searchIndex is what a search looks at: the words of the tools and resources of one server.
// It is not changed once made.
type searchIndex struct {
	documents []document
}

// document is a tool or a resource, by its place in the lists of its server.
type document struct {
	tool, resource int // one of them is -1
	words          []weighted
}

// weighted is a word of a document; words are in their order.
type weighted struct {
	word   string
	weight float64
}

// newSearchIndex reads the words of what a server has.
func newSearchIndex(d *definitions) *searchIndex {
	x := &searchIndex{}
	for i := range d.Tools {
		t := &d.Tools[i]
		if t.Exposure == Off {
			continue
		}
		w := map[string]float64{}
		addWords(w, t.Server+" "+t.Tool+" "+t.Title, ofName)
		addWords(w, t.Description, ofDescription)
		for name, p := range parameters(t.Schema) {
			addWords(w, name, ofParameter)
			addWords(w, p.Description, ofDescription)
		}
		x.documents = append(x.documents, document{tool: i, resource: -1, words: sorted(w)})
	}
	for i := range d.Resources {
		r := &d.Resources[i]
		w := map[string]float64{}
		addWords(w, r.Server+" "+r.Name+" "+r.Title+" "+r.URI, ofName)
		addWords(w, r.Description, ofDescription)
		x.documents = append(x.documents, document{tool: -1, resource: i, words: sorted(w)})
	}
	return x
}

// parameter is what is read of one.
type parameter struct{ Description string }

// parameters are those that a schema has at its top.
func parameters(schema json.RawMessage) map[string]parameter {
	var of struct{ Properties map[string]parameter }
	_ = json.Unmarshal(schema, &of) // one with a description that is no text has no words
	return of.Properties
}

// maxWords is how many words of a description are looked at.
const maxWords = 200

// addWords adds the words of a text, each once.
func addWords(all map[string]float64, text string, weight float64) {
	n := 0
	for word := range words(text) {
		if n++; n > maxWords {
			return
		}
		all[word] = max(all[word], weight)
	}
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

func sorted(all map[string]float64) []weighted {
	list := make([]weighted, 0, len(all))
	for word, weight := range all {
		list = append(list, weighted{word, weight})
	}
	slices.SortFunc(list, func(a, b weighted) int { return strings.Compare(a.word, b.word) })
	return list
}

// query are the words that are searched for.
type query []string

func newQuery(text string) (q query) {
	const most = 20
	for word := range words(text) {
		if !slices.Contains(q, word) && len(q) < most {
			q = append(q, word)
		}
	}
	return q
}

// scored is a hit with how well it fits.
type scored struct {
	hit   Hit
	score float64
	name  string
}

// compare orders the best first.
func (s scored) compare(other scored) int {
	return cmp.Or(cmp.Compare(other.score, s.score), strings.Compare(s.name, other.name))
}

// find returns what fits a query; without words, everything.
func (x *searchIndex) find(q query, d *definitions, allows func(name string) bool) (hits []scored) {
	weights := make([][]float64, len(q)) // of each word in each document
	rarity := make([]float64, len(q))
	for i, word := range q {
		weights[i] = make([]float64, len(x.documents))
		have := 0
		for n := range x.documents {
			if weights[i][n] = x.documents[n].weight(word); weights[i][n] > 0 {
				have++
			}
		}
		rarity[i] = math.Log(1 + float64(len(x.documents)+1)/float64(have+1))
	}
	for n := range x.documents {
		doc := &x.documents[n]
		score, fits := 0.0, 0
		for i := range q {
			if weights[i][n] > 0 {
				fits++
				score += weights[i][n] * rarity[i]
			}
		}
		if len(q) > 0 && fits == 0 {
			continue
		}
		if len(q) > 0 {
			score *= float64(fits) / float64(len(q))
		}
		if doc.tool < 0 {
			r := &d.Resources[doc.resource]
			hits = append(hits, scored{Hit{Resource: r}, score, r.Server + "/" + r.URI})
			continue
		}
		if t := &d.Tools[doc.tool]; allows == nil || allows(t.Name) {
			hits = append(hits, scored{Hit{Tool: t}, score, t.Server + "/" + t.Tool})
		}
	}
	return hits
}

// weight is how much a word counts in a document; 0: it is not in it.
func (d *document) weight(word string) float64 {
	i, _ := slices.BinarySearchFunc(d.words, word, func(w weighted, word string) int { return strings.Compare(w.word, word) })
	best := 0.0
	for ; i < len(d.words) && strings.HasPrefix(d.words[i].word, word); i++ {
		if d.words[i].word == word {
			return d.words[i].weight
		}
		if len(word) >= 3 {
			best = max(best, d.words[i].weight/2)
		}
	}
	return best
}

// searchable returns what is known of a server with its words; nil for nothing.
func (s *server) searchable() (*definitions, *searchIndex) {
	defs := s.definitions()
	if defs == nil {
		return nil, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.indexed != defs {
		s.indexed, s.index = defs, newSearchIndex(defs)
	}
	return defs, s.index
}
