package cli

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"unicode"

	"pi/agent/command"
	"pi/agent/llm"
	"pi/cli/providers"
	"pi/internal/printable"
	"pi/repl/terminal"
)

// listedModel is one line of pi models, and its form in JSON. What is not known
// is 0, null or absent. It holds no key.
type listedModel struct {
	Provider      string         `json:"provider"`
	ID            string         `json:"id"`
	Name          string         `json:"name"`
	API           string         `json:"api"`
	BaseURL       string         `json:"base_url,omitempty"`
	ContextWindow int            `json:"context_window"`
	MaxTokens     int            `json:"max_tokens"`
	Reasoning     bool           `json:"reasoning"`
	Levels        []string       `json:"levels"`
	Input         []string       `json:"input"`
	Cost          *llm.Published `json:"cost"`
	Compat        map[string]any `json:"compat,omitempty"`
	Usable        bool           `json:"usable"`
	Key           string         `json:"key,omitempty"`     // where it is: a variable, config.toml, auth.json
	Missing       string         `json:"missing,omitempty"` // what to set before it can be used
}

// newListed returns the row of a model for the table and for JSON. key says where the key
// of its provider is, or what is missing.
func newListed(m *llm.Model, key providers.State) listedModel {
	return listedModel{
		Provider: m.Provider, ID: m.ID, Name: m.Name, API: m.API, BaseURL: printable.URL(m.BaseURL),
		ContextWindow: m.ContextWindow, MaxTokens: m.MaxTokens, Reasoning: m.Reasoning, Levels: m.Levels, Input: m.Input,
		Cost: m.Cost.Published(), Compat: m.Compat, Usable: key.Missing == "", Key: key.From, Missing: key.Missing,
	}
}

// search returns the models that all words fit: those with the word in their name or, if
// there are none, those whose name the word abbreviates.
func search(models []listedModel, words []string) []listedModel {
	for _, word := range words {
		for part := range strings.FieldsSeq(strings.ToLower(word)) {
			models = fitting(models, part)
		}
	}
	return models
}

// fitting returns the models that one word fits, see search.
func fitting(models []listedModel, word string) []listedModel {
	part, short := []listedModel{}, []listedModel{} // in JSON lists also when they are empty
	for _, m := range models {
		name := strings.ToLower(m.Provider + "/" + m.ID + " " + m.Name)
		if strings.Contains(name, word) {
			part = append(part, m)
		} else if abbreviates(word, m.Provider+"/"+m.ID) {
			short = append(short, m)
		}
	}
	if len(part) > 0 {
		return part
	}
	return short
}

// abbreviates reports whether word is made of beginnings of the parts of name, in
// their order: gpt5 of openai/gpt-5, clson55 of anthropic/claude-sonnet-5-5.
func abbreviates(word, name string) bool {
	inWord := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
	parts := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return !inWord(r) })
	letters := strings.Map(func(r rune) rune {
		if inWord(r) {
			return r
		}
		return -1
	}, word)
	return letters != "" && isMadeOf(letters, parts)
}

// isMadeOf reports whether word can be cut into beginnings of some of the parts, in their
// order.
func isMadeOf(word string, parts []string) bool {
	if word == "" {
		return true
	}
	for i, part := range parts {
		for n := 1; n <= min(len(word), len(part)) && word[n-1] == part[n-1]; n++ {
			if isMadeOf(word[n:], parts[i+1:]) {
				return true
			}
		}
	}
	return false
}

// printModels writes a table for people.
func printModels(w io.Writer, colours terminal.Palette, models []listedModel) error {
	if len(models) == 0 {
		return nil
	}
	var rows strings.Builder
	table := tabwriter.NewWriter(&rows, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "MODEL\tCONTEXT\tANSWER\tIMAGES\tIN/OUT PER M\tKEY\tTHINKING")
	for _, m := range models {
		fmt.Fprintln(table, strings.Join(m.row(), "\t"))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	head, rest, _ := strings.Cut(rows.String(), "\n") // colours in a cell would count as its text
	_, err := fmt.Fprint(w, colours.Paint("bold", head)+"\n"+rest)
	return err
}

// row returns the cells of a model in the table. "-" means that it lacks something, "?" or
// "unknown" that a value is not known.
func (m listedModel) row() []string {
	images := "-"
	if slices.Contains(m.Input, "image") {
		images = "yes"
	}
	key := m.Key
	switch {
	case m.Missing != "":
		key = "set " + m.Missing
	case key == "":
		key = "-"
	}
	thinking := strings.Join(m.Levels, " ")
	switch {
	case !m.Reasoning:
		thinking = "-"
	case len(m.Levels) == 0:
		thinking = "yes" // at which levels is not known
	}
	return []string{printable.Text(m.Provider + "/" + m.ID), cmp.Or(command.TokenCount(m.ContextWindow), "?"), cmp.Or(command.TokenCount(m.MaxTokens), "?"), images, priceText(m.Cost), key, thinking}
}

// priceText is the price of a model in the table: input / output in dollars.
func priceText(c *llm.Published) string {
	if c == nil || c.Input == nil || c.Output == nil {
		return "unknown"
	}
	if *c.Input == 0 && *c.Output == 0 {
		return "free"
	}
	text := inAndOut(c.Input, c.Output)
	for _, s := range c.Above {
		text += ", above " + command.TokenCount(s.Tokens) + " " + inAndOut(s.Input, s.Output)
	}
	return text
}

// inAndOut is two prices; "?" for one that is not known.
func inAndOut(prices ...*float64) string {
	words := make([]string, len(prices))
	for i, p := range prices {
		words[i] = "?"
		if p != nil {
			words[i] = strconv.FormatFloat(*p, 'f', -1, 64)
		}
	}
	return strings.Join(words, " / ")
}
