//go:build unix

package e2e

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// What a guide says twice is wrong in one place some day. Code may repeat itself, and so may
// the rows of a table that is made from the program; what is written by hand may not repeat
// either of these or itself, in any guide.

var (
	fencedBlock   = regexp.MustCompile("(?ms)^```.*?^```$")
	generatedMark = regexp.MustCompile(`^<!-- (/?)(\S+) -->$`)
	breakOfLine   = regexp.MustCompile(`\n([^\n|#<-])`)
	endOfSentence = regexp.MustCompile(`[.:;|]( |$)`)
)

// saidIn are the sentences of at least 60 characters in a text, without line breaks.
func saidIn(text string) (said []string) {
	joined := breakOfLine.ReplaceAllString(fencedBlock.ReplaceAllString(text, ""), " $1")
	for line := range strings.Lines(joined) {
		for _, sentence := range endOfSentence.Split(strings.TrimSpace(line), -1) {
			if s := strings.Join(strings.Fields(sentence), " "); len(s) >= 60 {
				said = append(said, s)
			}
		}
	}
	return said
}

// cutGenerated takes what is made from the program out of a guide.
func cutGenerated(text string) (byHand, generated string) {
	var hand, made strings.Builder
	inside := ""
	for line := range strings.Lines(text) {
		mark := generatedMark.FindStringSubmatch(strings.TrimSpace(line))
		switch {
		case mark != nil && mark[1] == "":
			inside = mark[2]
		case mark != nil && mark[2] == inside:
			inside = ""
		case inside != "":
			made.WriteString(line)
		default:
			hand.WriteString(line)
		}
	}
	return hand.String(), made.String()
}

// repeated says which sentences of some guides stand somewhere else, too.
func repeated(guides map[string]string) (twice []string) {
	first, made := map[string]string{}, map[string]bool{}
	for _, text := range guides {
		_, generated := cutGenerated(text)
		for _, s := range saidIn(generated) {
			made[s] = true
		}
	}
	for name, text := range guides {
		byHand, _ := cutGenerated(text)
		for _, s := range saidIn(byHand) {
			switch {
			case made[s]:
				twice = append(twice, name+" and a table: "+s)
			case first[s] != "":
				twice = append(twice, name+" and "+first[s]+": "+s)
			}
			first[s] = name
		}
	}
	return twice
}

func TestTheGuidesSayNothingTwice(t *testing.T) {
	guides, paths := map[string]string{}, []string{inModule("README.md")}
	more, err := filepath.Glob(inModule("docs/*.md"))
	if err != nil {
		t.Fatal(err)
	}
	sentences := 0
	for _, path := range append(paths, more...) {
		text := mustRead(t, path)
		guides[path] = text
		sentences += len(saidIn(text))
	}
	if sentences < 1500 {
		t.Errorf("only %d sentences were looked at", sentences)
	}
	for _, s := range repeated(guides) {
		t.Error(s)
	}
}

func TestWhatIsSaidTwiceIsFound(t *testing.T) {
	const long = "A sentence that is long enough to be noticed where it stands again"
	const row = "| `name` *string* | " + long + " |\n"
	for name, c := range map[string]struct {
		guides map[string]string
		twice  bool
	}{
		"once":                   {map[string]string{"a": long + ".\n", "b": "```\n" + long + "\n" + long + "\n```\n"}, false},
		"in two guides":          {map[string]string{"a": long + ".\n", "b": "First.\n" + strings.Replace(long, "enough ", "enough\n", 1) + ". Last.\n"}, true},
		"in one":                 {map[string]string{"a": long + ".\n\n" + long + ".\n"}, true},
		"in a table made twice":  {map[string]string{"a": "<!-- x -->\n" + row + row + "<!-- /x -->\n"}, false},
		"in such a table, too":   {map[string]string{"a": "<!-- x -->\n" + row + "<!-- /x -->\n" + long + ".\n"}, true},
		"in a table that is not": {map[string]string{"a": row, "b": row}, true},
	} {
		if got := len(repeated(c.guides)) > 0; got != c.twice {
			t.Errorf("%s: %v", name, got)
		}
	}
}
