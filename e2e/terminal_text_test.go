//go:build unix

package e2e

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pi/internal/testing/screentest"
)

// prose is a text of many words, each another.
func prose(n int) (words []string) {
	for i := range n {
		words = append(words, fmt.Sprintf("%s%d", []string{"word", "a", "longerword", "to"}[i%4], i))
	}
	return words
}

// wraps fails the test for rows that the terminal has wrapped, which are too wide.
func (s *desk) hasNoWrappedRow() {
	s.t.Helper()
	now := s.Screen()
	for i := range now.Rows {
		if now.Wrapped(i) {
			s.t.Errorf("row %d is wider than the window: %q; the screen:\n%s", i, now.Rows[i], now)
		}
	}
}

// Answers are wrapped between words, and wide text between characters, so that no row
// is wider than the window.
func TestAnswersAreWrappedAtWords(t *testing.T) {
	atWidths(t, []int{20, 40, 80, 100, 200}, func(t *testing.T, n int) {
		s := newDesk(t, scenery{terminal: screentest.Options{Cols: n, Rows: 60}})
		words := prose(100)
		wide := strings.Repeat("日本語の文章は幅が二つ分です。", 8)
		turn := s.ask("go")
		for _, word := range words {
			turn.Text(word + " ")
		}
		turn.Text("\n\n")
		for _, r := range wide {
			turn.Text(string(r))
		}
		turn.End()
		s.rests("")
		s.hasNoWrappedRow()
		rows := append(s.Scrollback(), s.Screen().Rows...)
		for _, word := range words {
			if !slices.ContainsFunc(rows, func(row string) bool { return slices.Contains(strings.Fields(row), word) }) {
				t.Errorf("%q is not whole in any row; the screen:\n%s", word, s.Screen())
				break
			}
		}
		used := 0
		for _, row := range rows {
			if strings.ContainsAny(row, "日本語文章幅二分") {
				used++
			}
		}
		if most := 240/(n-4) + 1; used > most {
			t.Errorf("wide text of 240 cells takes %d rows, want %d; the screen:\n%s", used, most, s.Screen())
		}
		if got := s.Transcript(); !strings.Contains(unspaced(got), wide) {
			t.Errorf("wide text is not whole:\n%s", got)
		}
		s.quits()
	})
}

const markdownDocument = `# The heading

A paragraph with *emphasis*, **strength**, ` + "`code`" + ` and [a link](https://example.com/page).

1. The first item, whose text is long enough to need a second row in a narrow window of a terminal
2. The second
   - one below

> A quotation

` + "```go\nfunc main() {\n\tif a ** b {\n\t\treturn\n\t}\n}\n```" + `

| name | what it does | size |
|:-----|:-------------|-----:|
| first | reads the files | 12 |
| 日本語 | wide ones | 3,400 |
| third | nothing | 5 |

The **end**.
`

// Markdown is drawn: nothing of its marks is left, and a table's cells stand below one
// another.
func TestMarkdownIsDrawn(t *testing.T) {
	for name, env := range map[string][]string{"in colour": nil, "without colour": {"NO_COLOR=1"}} {
		t.Run(name, func(t *testing.T) {
			atWidths(t, usualWidths, func(t *testing.T, n int) {
				s := newDesk(t, scenery{terminal: screentest.Options{Cols: n, Rows: 70}, env: env})
				turn := s.ask("go")
				for piece := range slices.Chunk([]rune(markdownDocument), 7) {
					turn.Text(string(piece))
				}
				turn.End()
				s.rests("")
				s.Until("the end is there", func(now screentest.Screen) bool { return strings.Contains(s.Transcript(), "The end.") })
				s.marksAreGone(n)
				s.codeIsWhole()
				if n >= 80 {
					s.tableIsAligned()
				}
				if coloured := strings.Contains(s.Output(), "\x1b[1m") || regexp.MustCompile(`\x1b\[[0-9;]*m`).MatchString(s.Output()); coloured == (env != nil) {
					t.Errorf("colours: %v", coloured)
				}
				s.quits()
			})
		})
	}
}

// marksAreGone checks that what only writes Markdown is not shown, and what it says is.
func (s *desk) marksAreGone(n int) {
	s.t.Helper()
	shown := s.Transcript()
	for _, mark := range []string{"**strength", "**end", "*emphasis", "```", "[a link]", ":---"} {
		if strings.Contains(shown, mark) {
			s.t.Errorf("%q is shown; the screen:\n%s", mark, s.Screen())
		}
	}
	flat := unspaced(shown)
	for _, text := range []string{"The heading", "strength", "a link", "https://example.com/page", "1.", "2.", "A quotation", "日本語", "3,400"} {
		if !strings.Contains(flat, unspaced(text)) {
			s.t.Errorf("%q is not shown; the screen:\n%s", text, s.Screen())
		}
	}
	for _, row := range rowsWith(s.Screen(), "in a narrow") {
		if n < 80 && !strings.HasPrefix(row, "   ") {
			s.t.Errorf("the item's second row has no hanging indent: %q", row)
		}
	}
}

// codeIsWhole checks that code is as it was but for an indent of two blanks, and tabs as
// blanks.
func (s *desk) codeIsWhole() {
	s.t.Helper()
	_, code, _ := strings.Cut(s.Transcript(), "  func main() {\n")
	lines := strings.Split(code, "\n")
	for i, want := range []string{"if a ** b {", "return", "}"} {
		if len(lines) <= i || strings.TrimLeft(lines[i], " ") != want || !strings.HasPrefix(lines[i], "    ") {
			s.t.Errorf("the code is not shown as it is: %q in row %d; the screen:\n%s", want, i, s.Screen())
		}
	}
	if len(lines) > 3 && lines[3] != "  }" {
		s.t.Errorf("the last line of the code is %q", lines[3])
	}
}

// tableIsAligned checks that the cells of a column begin, or end, in one column.
func (s *desk) tableIsAligned() {
	s.t.Helper()
	now := s.Screen()
	for _, column := range [][]string{{"what it does", "reads the files", "wide ones", "nothing"}, {"name", "first", "日本語", "third"}} {
		want := -1
		for _, cell := range column {
			row, col := now.Find(cell)
			if row < 0 || want >= 0 && col != want {
				s.t.Errorf("%q is in row %d, column %d, want column %d; the screen:\n%s", cell, row, col, want, now)
			}
			want = col
		}
	}
	want := -1
	for _, number := range []string{"size", "12", "3,400", "5"} {
		row := slices.IndexFunc(now.Rows, func(row string) bool { return strings.HasSuffix(strings.TrimRight(row, " │|"), " "+number) })
		if row < 0 {
			s.t.Errorf("%q is not at the end of a row; the screen:\n%s", number, now)
			continue
		}
		if _, col := now.Find(" " + number); want >= 0 && col+len(number) != want {
			s.t.Errorf("%q ends in column %d, want %d; the screen:\n%s", number, col+len(number), want, now)
		} else {
			want = col + len(number)
		}
	}
}

// Rows that later text cannot change are in the transcript at once: code and lists are
// read as they come. A table comes as a whole.
func TestLongBlocksAreReadAsTheyCome(t *testing.T) {
	atWidths(t, usualWidths, func(t *testing.T, n int) {
		s := newDesk(t, cols(n))
		turn := s.ask("go")
		turn.Text("```\n")
		for i := range 300 {
			turn.Text(fmt.Sprintf("row %d of it\n", i))
			if i%25 == 24 { // the last row may wait for what comes behind it
				s.SeeAnywhere(fmt.Sprintf("row %d of it", i-1))
			}
		}
		if above := len(s.Scrollback()); above < 250 {
			t.Errorf("%d rows of 300 have left the screen", above)
		}
		turn.Text("```\n\n")
		for i := range 100 {
			turn.Text(fmt.Sprintf("- item %d.\n", i))
			if i%10 == 9 {
				s.SeeAnywhere(fmt.Sprintf("item %d.", i-1))
			}
		}
		if above := len(s.Scrollback()); above < 350 {
			t.Errorf("%d rows of 400 have left the screen", above)
		}
		turn.Text("\n| a | b |\n|---|---|\n")
		for i := range 20 {
			turn.Text(fmt.Sprintf("| cell%d | x%d |\n", i, i))
		}
		turn.Text("\nThe end.")
		turn.End()
		s.rests("")
		shown := s.Transcript()
		for i := range 20 {
			if got := len(regexp.MustCompile(fmt.Sprintf(`\bcell%d\b`, i)).FindAllString(shown, -1)); got != 1 {
				t.Errorf("row %d of the table is shown %d times:\n%s", i, got, shown)
				break
			}
		}
		for i := range 300 {
			if strings.Count(shown, fmt.Sprintf("row %d of it", i)) != 1 {
				t.Errorf("row %d of the code is not shown once", i)
				break
			}
		}
		if strings.Contains(shown, "|---|") || strings.Contains(shown, "```") {
			t.Error("marks of Markdown are in the transcript")
		}
		s.quits()
	})
}
