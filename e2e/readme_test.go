//go:build unix

package e2e

import (
	"regexp"
	"strings"
	"testing"
)

// TestTheReadmeIsOneLookLong: who comes by reads for a minute. A row is what fits into a window.
func TestTheReadmeIsOneLookLong(t *testing.T) {
	readme := mustRead(t, inModule("README.md"))
	if n := strings.Count(readme, "\n"); n > 120 {
		t.Errorf("README.md has %d lines, 120 are the most", n)
	}
	for _, row := range rowsTooWide(readme) {
		t.Errorf("README.md: a row is wider than 120 characters: %s", row)
	}
	for _, p := range paragraphs(readme) {
		if strings.Count(p, "\n") > 5 {
			t.Errorf("README.md: a paragraph has more than five rows:\n%s", p)
		}
	}
	intro := paragraphs(readme)[0]
	if n := len(regexp.MustCompile(`\.\s`).FindAllString(intro, -1)); n != 3 {
		t.Errorf("README.md says in %d sentences what it is, not in three:\n%s", n, intro)
	}
	for _, want := range []string{"](docs/session.svg)", "\ngo run . --model demo/tour ", "\ngo test ./... ", "```lua\n", "](docs/README.md)"} {
		if !strings.Contains(readme, want) {
			t.Errorf("README.md has no %q", want)
		}
	}
}

// TestTheReadmeNamesFiveThings, each in a line that leads to where more is said of it.
func TestTheReadmeNamesFiveThings(t *testing.T) {
	_, list, _ := strings.Cut(mustRead(t, inModule("README.md")), "\n## What nobody else does\n\n")
	list, _, _ = strings.Cut(list, "\n\n")
	items := strings.Split(list, "\n")
	if len(items) != 5 {
		t.Errorf("there are %d", len(items))
	}
	for _, item := range items {
		if !regexp.MustCompile(`^- \[[^\]]+\]\(docs/[a-z]+\.md(#[a-z-]+)?\): .+\.$`).MatchString(item) {
			t.Errorf("no line about one thing: %s", item)
		}
	}
}

// rowsTooWide are the rows of more than 120 characters, of which a link counts as what is read of it.
func rowsTooWide(text string) (wide []string) {
	for row := range strings.Lines(regexp.MustCompile(`\]\([^)\s]+\)`).ReplaceAllString(text, "]")) {
		if len([]rune(row)) > 121 {
			wide = append(wide, row)
		}
	}
	return wide
}

// paragraphs are the texts between empty rows, without headings, pictures, code, tables and lists.
func paragraphs(text string) (all []string) {
	for _, p := range strings.Split(fencedBlock.ReplaceAllString(text, ""), "\n\n") {
		p = strings.TrimLeft(p, "\n") + "\n"
		if !regexp.MustCompile(`^(\n|#|!|\||- )`).MatchString(p) {
			all = append(all, p)
		}
	}
	return all
}

func TestWhatIsTooLongForTheReadmeIsFound(t *testing.T) {
	t.Parallel()
	text := "# A\n\none\ntwo\n\n```\ncode\n\nmore\n```\n\n- item\n\n| a |\n|---|\n\nthree\n"
	if got := strings.Join(paragraphs(text), "/"); got != "one\ntwo\n/three\n\n" {
		t.Errorf("the paragraphs are %q", got)
	}
	if got := rowsTooWide("[a](" + strings.Repeat("b", 150) + ")\n" + strings.Repeat("c", 121) + "\n"); len(got) != 1 || got[0][0] != 'c' {
		t.Errorf("too wide are %q", got)
	}
}
