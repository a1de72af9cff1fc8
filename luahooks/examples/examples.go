// Package examples has the example hooks of the project inside of the program, each with its
// test: what `pi hooks add example:NAME` writes into an agent directory.
//
//	examples.go   the examples, and what the head of one says
//	examples.bin  all of them, packed; `go generate` makes it of the folder examples
//	added.go      which of them are in an agent directory, and in which version
//
// They are unpacked when somebody asks for them, and not kept: nothing runs or is in memory
// before. examples.bin is a JSON list of [Example], deflated as one text, since they have most of
// their words in common.
package examples

import (
	"compress/flate"
	_ "embed"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"pi/internal/suggest"
)

//go:generate go test -run TestThePackHasTheExamples -update

//go:embed examples.bin
var packed string

// Prefix is what stands before the name of an example where other sources are named too.
const Prefix = "example:"

// Example is a hook with its test.
type Example struct {
	Name string `json:"name"` // of its file, without .lua
	Hook string `json:"hook"` // the text
	Test string `json:"test"`
}

// All lists the examples by name.
func All() (all []Example, err error) {
	if err := json.NewDecoder(flate.NewReader(strings.NewReader(packed))).Decode(&all); err != nil {
		return nil, fmt.Errorf("unpack the examples: %w", err)
	}
	return all, nil
}

// Find returns the example of a name, with or without [Prefix] and .lua.
func Find(name string) (Example, error) {
	all, err := All()
	if err != nil {
		return Example{}, err
	}
	want := strings.TrimSuffix(strings.TrimPrefix(name, Prefix), ".lua")
	var names []string
	for _, e := range all {
		if e.Name == want {
			return e, nil
		}
		names = append(names, e.Name)
	}
	return Example{}, fmt.Errorf("no example %q%s; `pi hooks examples` lists them", want, suggest.Hint(want, names))
}

// About is the sentence with which the head of the hook begins, without the title before it.
func (e Example) About() string {
	_, about, _ := strings.Cut(e.paragraph(""), ": ")
	if end := regexp.MustCompile(`\.( [A-Z]|$)`).FindStringIndex(about); end != nil {
		about = about[:end[0]]
	}
	return about
}

// needs is how the paragraph of the head begins that says what is needed besides the hook.
const needs = "Needs: "

// Needs is what the hook needs besides itself, as its head says it; "" for nothing.
func (e Example) Needs() string {
	return strings.TrimSuffix(strings.TrimPrefix(e.paragraph(needs), needs), ".")
}

// Programs are those of which the hook needs one: they stand in backquotes in [Example.Needs].
func (e Example) Programs() (names []string) {
	for i, word := range strings.Split(e.Needs(), "`") {
		if i%2 == 1 {
			names = append(names, word)
		}
	}
	return names
}

// paragraph is the first one of the head that begins so, as one row.
func (e Example) paragraph(beginning string) string {
	var rows []string
	for line := range strings.Lines(e.Hook) {
		row, isHead := strings.CutPrefix(strings.TrimSpace(line), "--")
		if !isHead {
			break
		}
		rows = append(rows, strings.TrimSpace(row))
	}
	for _, p := range strings.Split(strings.Join(rows, "\n"), "\n\n") {
		if strings.HasPrefix(p, beginning) {
			return strings.Join(strings.Fields(p), " ")
		}
	}
	return ""
}
