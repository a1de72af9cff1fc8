package terminal

import (
	"slices"
	"testing"
)

func TestCompletionSeesTheTextThatSignsStandFor(t *testing.T) {
	var seen string
	e := &lineEditor{suggest: func(line string, pos int) (string, []string, string) {
		seen = string([]rune(line)[:pos])
		return "é\tb\n", []string{"c\nd"}, "\tz"
	}}
	head, words, tail := e.complete("é␉b⏎c␉z", 5)
	if seen != "é\tb\nc" {
		t.Errorf("completes %q", seen)
	}
	if head != "é␉b⏎" || !slices.Equal(words, []string{"c⏎d"}) || tail != "␉z" {
		t.Errorf("the line becomes %q %q %q", head, words, tail)
	}
}
