package provider

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"pi/agent/llm"
	"pi/internal/suggest"
)

// Switches are the compat keys of a wire API, each with a pointer to where its
// value goes: *bool, *string, *[Words], *[Amounts], *map[string]any, or a [Choice].
// The values there are the defaults of the API.
type Switches map[string]any

// Words are a server's words for the thinking levels. A level that is not among
// them keeps the word it has; the word "" sends nothing. In a configuration it
// is a table.
type Words map[string]string

// Amounts are Words that are whole numbers.
type Amounts map[string]string

// Choice is a switch with a few words to choose from.
type Choice struct {
	To *string
	Of []string
}

// OneOf returns a [Choice] that sets to.
func OneOf(to *string, of ...string) Choice { return Choice{to, of} }

// Set turns the switches for a model: what is known of its server first, row by
// row, then the model's Compat. Keys that are not switches of this API are left
// to [Switches.Check], since several APIs may share one table.
func (s Switches) Set(m *llm.Model) error {
	for name, value := range quirksOf(m) {
		s.assign(name, value)
	}
	for _, name := range slices.Sorted(maps.Keys(m.Compat)) {
		if err := s.assign(name, m.Compat[name]); err != nil {
			return &llm.ProviderError{
				Provider: m.Provider,
				Message:  err.Error(),
				NextStep: fmt.Sprintf("correct compat.%s of [providers.%s]", name, m.Provider),
				Err:      err,
			}
		}
	}
	return nil
}

// UnknownSwitch is a compat key that the API does not have.
type UnknownSwitch struct {
	Name  string
	Known []string
}

func (e *UnknownSwitch) Error() string {
	if hint := suggest.Hint(e.Name, e.Known); hint != "" {
		return fmt.Sprintf("compat %q is not known%s", e.Name, hint)
	}
	return fmt.Sprintf("compat %q is not known; there are: %s", e.Name, strings.Join(e.Known, ", "))
}

// Check reports a key that is no switch, as an *[UnknownSwitch], or a value that
// the switch cannot have.
func (s Switches) Check(values map[string]any) error {
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if _, known := s[name]; !known {
			return &UnknownSwitch{name, slices.Sorted(maps.Keys(s))}
		}
		if err := s.assign(name, values[name]); err != nil {
			return err
		}
	}
	return nil
}

// assign sets one switch, if there is one of that name. The error names the values that
// it can have.
func (s Switches) assign(name string, value any) error {
	ok, want := true, ""
	switch to := s[name].(type) {
	case *bool:
		*to, ok = value.(bool)
		want = "true or false"
	case *string:
		*to, ok = value.(string)
		want = "a text"
	case Choice:
		word, _ := value.(string)
		if ok = slices.Contains(to.Of, word); ok {
			*to.To = word
		}
		want = fmt.Sprintf("one of %q", to.Of)
	case *Words:
		ok = to.add(value)
		want = "a table of thinking level and word"
	case *Amounts:
		words := Words(*to)
		if ok = words.add(asWords(value)) && words.areNumbers(); ok {
			*to = Amounts(words)
		}
		want = "a table of thinking level and whole number"
	case *map[string]any:
		*to, ok = value.(map[string]any)
		want = "a table"
	}
	if !ok {
		return fmt.Errorf("compat %s cannot be %v; it is %s", name, value, want)
	}
	return nil
}

// add adds a table of levels and words, or the short form of our rows: "low=small
// high=large". It reports false, and adds nothing, for anything else.
func (w *Words) add(value any) bool {
	words := maps.Clone(*w)
	if words == nil {
		words = Words{}
	}
	switch value := value.(type) {
	case string:
		for pair := range strings.FieldsSeq(value) {
			level, word, _ := strings.Cut(pair, "=")
			words[level] = word
		}
	case map[string]any:
		for level, v := range value {
			word, ok := v.(string)
			if !ok || !llm.ValidThinking(level) {
				return false
			}
			words[level] = word
		}
	default:
		return false
	}
	*w = words
	return true
}

// asWords turns the whole numbers of a table, as configurations and Lua have them, into
// words. What is no table is returned as it is.
func asWords(table any) any {
	numbers, ok := table.(map[string]any)
	if !ok {
		return table
	}
	words := maps.Clone(numbers)
	for level, v := range words {
		switch v := v.(type) {
		case int64:
			words[level] = strconv.FormatInt(v, 10)
		case float64:
			words[level] = strconv.FormatFloat(v, 'f', -1, 64)
		}
	}
	return words
}

// areNumbers reports whether all words are whole numbers or empty.
func (w Words) areNumbers() bool {
	for _, word := range w {
		if _, err := strconv.Atoi(word); err != nil && word != "" {
			return false
		}
	}
	return true
}
