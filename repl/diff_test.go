package repl

import (
	"strings"
	"testing"

	"pi/repl/terminal"
)

const unified = `--- a/main.go
+++ b/main.go
@@ -3,4 +3,5 @@
 func main() {
-	println("hi")
+	println("hello")
+	println("second")
 }

@@ -90,3 +91,3 @@ func other() {
 one
-two
+2
 three
`

func TestADifferenceIsReadWithTheNumbersOfItsLines(t *testing.T) {
	d := parseDiff(unified)
	if d.counts() != "+3 −2" {
		t.Errorf("counts %s", d.counts())
	}
	var got []string
	for _, row := range diffRows(d.changes(), terminal.Palette{}, 80) {
		got = append(got, strings.TrimRight(row, " "))
	}
	want := `   4 -     println("hi")|   4 +     println("hello")|   5 +     println("second")|   ⋮|  91 - two|  92 + 2`
	if strings.Join(got, "|") != want {
		t.Errorf("shows\n%s\nwant\n%s", strings.Join(got, "\n"), strings.ReplaceAll(want, "|", "\n"))
	}
	if all := diffRows(d.lines, terminal.Palette{}, 80); len(all) != 10 {
		t.Errorf("all of it has %d rows: %q", len(all), all)
	}
}

func TestWhatIsNoDifferenceHasNoRows(t *testing.T) {
	for _, text := range []string{"", "no difference", "@@ nonsense @@\n+a", "+a\n-b"} {
		if d := parseDiff(text); d.lines != nil || d.added+d.removed != 0 {
			t.Errorf("%q: %+v", text, d)
		}
	}
}

func TestALongLineOfADifferenceGoesOnUnderItsText(t *testing.T) {
	rows := diffRows([]diffLine{{'+', 7, "one two three four"}}, terminal.Palette{}, 16)
	if want := "  7 + one two|      three four"; strings.Join(rows, "|") != want {
		t.Errorf("%q", rows)
	}
	for _, columns := range []int{1, 5, 8, 16} {
		for _, row := range diffRows([]diffLine{{'+', 1234, "one 日本語 three four"}, {'~', 0, ""}}, terminal.Palette{}, columns) {
			if widthOf(row) > columns {
				t.Errorf("%d columns: %q", columns, row)
			}
		}
	}
}

func TestTheChangedPartOfALineIsMarked(t *testing.T) {
	for _, c := range []struct{ text, other, want string }{
		{"a b c", "a x c", "b"},
		{"a b c", "a c", "b "},
		{"same", "same", ""},
		{"one", "two", ""},
		{"e\u0301x", "e\u0300x", "e\u0301"}, // a cluster is not divided
		{"ab", "aab", ""},
	} {
		from, to := different(c.text, c.other)
		if got := c.text[from:to]; got != c.want {
			t.Errorf("of %q against %q: %q, want %q", c.text, c.other, got, c.want)
		}
	}
	rows := diffRows([]diffLine{{'-', 1, "a b c"}, {'+', 1, "a x c"}, {'+', 2, "more"}}, terminal.Palette{On: true}, 40)
	for _, row := range rows {
		if strings.Contains(row, "\x1b[7m") {
			t.Errorf("lines that are not each other's are compared: %q", row)
		}
	}
	rows = diffRows([]diffLine{{'-', 1, "a b c"}, {'+', 1, "a x c"}}, terminal.Palette{On: true}, 40)
	if !strings.Contains(rows[0], "\x1b[7mb\x1b[27m") || !strings.Contains(rows[1], "\x1b[7mx\x1b[27m") {
		t.Errorf("%q", rows)
	}
}
