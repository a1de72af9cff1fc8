package frontmatter

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

// flat writes fields in one line, to compare them.
func flat(fields []Field) string {
	var parts []string
	for _, f := range fields {
		switch {
		case f.Fields != nil:
			parts = append(parts, f.Name+"={"+flat(f.Fields)+"}")
		case f.List != nil:
			parts = append(parts, fmt.Sprintf("%s=%q", f.Name, f.List))
		default:
			parts = append(parts, fmt.Sprintf("%s=%q", f.Name, f.Text))
		}
	}
	return strings.Join(parts, " ")
}

func TestFieldsAreReadAsPeopleWriteThem(t *testing.T) {
	for _, c := range []struct{ name, head, want string }{
		{"nothing", "", ""},
		{"a text", "name: review\n", `name="review"`},
		{"a colon in it", "description: Use when: it rains\n", `description="Use when: it rains"`},
		{"a comment", "# all\nname: review  # short\nurl: a#b\n", `name="review" url="a#b"`},
		{"Windows", "name: review\r\nother: x\r\n", `name="review" other="x"`},
		{"quotes", `a: "say \"hi\" # here\n"` + "\nb: 'it''s'\nc: \"\"\n", `a="say \"hi\" # here\n" b="it's" c=""`},
		{"escapes", `a: "\x41\u00e9\U0001F600\t\q"` + "\n", `a="Aé😀\t\\q"`},
		{"no value", "a:\nb: x\n", `a="" b="x"`},
		{"not a number", "a: 1\nb: true\n", `a="1" b="true"`},
		{"several rows", "a: one\n  two\n\n  three\nb: x\n", `a="one two three" b="x"`},
		{"below its name", "a:\n  one\n  two\n", `a="one two"`},
		{"quoted rows", "a: \"one\n  two\"\n", `a="one two"`},
		{"rows that are joined", "a: >\n  one\n  two\n\n  three\n    deeper\n  four\n\nb: x\n", `a="one two\nthree\n  deeper\nfour" b="x"`},
		{"rows that are kept", "a: |-\n  one\n   # two\n\n  three\n", `a="one\n # two\n\nthree"`},
		{"a list in brackets", "a: [x, \"y, z\", 'w']\nb: []\n", `a=["x" "y, z" "w"] b=[]`},
		{"over rows", "a: [x,\n  y]\n", `a=["x" "y"]`},
		{"a list in rows", "a:\n  - x\n  - \"y: z\"\n  - long\n    text\nb:\n- w\n", `a=["x" "y: z" "long text"] b=["w"]`},
		{"fields of a field", "metadata:\n  author: Anna\n  deep:\n    er: yes\nb: x\n", `metadata={author="Anna" deep={er="yes"}} b="x"`},
		{"names with dashes", "argument-hint: [file]...\nallowed-tools: read bash\n", `argument-hint="[file]..." allowed-tools="read bash"`},
		{"a text that begins like a list", "a: [file] [\"more\"] # c\nb: [x] # c\n", `a="[file] [\"more\"]" b=["x"]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := Parse("---\n" + c.head + "---\nbody\n")
			if got := flat(d.Fields); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
			if d.Body != "body\n" || len(d.Problems) > 0 {
				t.Errorf("body %q, problems %v", d.Body, d.Problems)
			}
		})
	}
}

func TestWhatCannotBeReadIsToldWithItsLineAndTheRestCounts(t *testing.T) {
	for _, c := range []struct{ name, text, fields, body, problem string }{
		{"no fields", "just text\n", "", "just text\n", ""},
		{"a rule below", "text\n---\n", "", "text\n---\n", ""},
		{"a mark of order", "\uFEFF---\na: b\n---\n", `a="b"`, "", ""},
		{"the other mark", "---\na: b\n...\ntext", `a="b"`, "text", ""},
		{"nothing behind", "---\na: b\n---", `a="b"`, "", ""},
		{"no end", "---\na: b\n", "", "---\na: b\n", "line 1: the fields that begin here have no end"},
		{"no field", "---\na: b\nwhat is this\nc: d\n---\n", `a="b" c="d"`, "", `line 3: "what is this" is no field`},
		{"indented", "---\na: |\n  x\n\n b\nc: d\n---\n", `a="x\n\nb" c="d"`, "", ""},
		{"a quote", "---\na: b\nc: \"d\ne: f\n---\n", `a="b" c="d" e="f"`, "", `line 3: the quote " is not closed`},
		{"behind a quote", "---\na: 'b' c\n---\n", `a="b"`, "", `line 2: "c" follows behind the quoted text`},
		{"twice", "---\na: b\na: c\n---\n", `a="b"`, "", "line 3: a is there twice, first in line 2"},
		{"a list", "---\na: [b, c\nd: e\n---\n", `a=["b"] d="e"`, "", "line 2: the list is not closed"},
		{"an item", "---\na:\n  - b\n  c\n---\n", `a=["b"]`, "", `line 4: "c" is no item`},
		{"a field in fields", "---\na:\n  b: c\n  d\n---\n", `a={b="c"}`, "", `line 4: "d" is no field`},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := Parse(c.text)
			if got := flat(d.Fields); got != c.fields || d.Body != c.body {
				t.Errorf("%s and %q, want %s and %q", got, d.Body, c.fields, c.body)
			}
			if n := len(d.Problems); n > 1 || (n == 0) != (c.problem == "") || n == 1 && !strings.HasPrefix(d.Problems[0].Error(), c.problem) {
				t.Errorf("problems %v, want %q", d.Problems, c.problem)
			}
		})
	}
}

// What is written in quotes is read as it was, and no text makes the parser fail or lose
// the body.
func FuzzParse(f *testing.F) {
	f.Add("name: x\ndescription: >\n  a\n\n  b\n", "body")
	f.Add("a: [x, 'y\nb:\n - \"z\n", "---\n")
	f.Add("\t- :\n ...", "\\\"'#")
	f.Fuzz(func(t *testing.T, head, value string) {
		d := Parse("---\n" + head + "\n---\n" + value)
		if !strings.HasSuffix("---\n"+head+"\n---\n"+value, d.Body) {
			t.Errorf("the body %q is not the end of the file", d.Body)
		}
		lines := strings.Count(head, "\n") + 2
		for _, problem := range d.Problems {
			if problem.Line < 1 || problem.Line > lines {
				t.Errorf("problem in line %d of %d", problem.Line, lines)
			}
		}
		if !utf8.ValidString(value) {
			return
		}
		quoted := strconv.Quote(value)
		single := "'" + strings.ReplaceAll(strings.Join(strings.Fields(value), " "), "'", "''") + "'"
		d = Parse("---\na: " + quoted + "\nb: [" + quoted + ", " + quoted + "]\nc:\n  - " + quoted + "\nd: " + single + "\n---\n")
		if d.Text("a") != value || d.Text("d") != strings.Join(strings.Fields(value), " ") {
			t.Errorf("%s is read as %q, %s as %q", quoted, d.Text("a"), single, d.Text("d"))
		}
		b, _ := d.Field("b")
		c, _ := d.Field("c")
		if !slices.Equal(b.List, []string{value, value}) || !slices.Equal(c.List, []string{value}) || len(d.Problems) > 0 {
			t.Errorf("%s is read as %q and %q, %v", quoted, b.List, c.List, d.Problems)
		}
	})
}
