package message

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	gtext "github.com/yuin/goldmark/text"
)

func TestCodeBlocksAreFoundByTheRulesOfCommonMark(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       []string
	}{
		{"none", "text\n`code`\n", nil},
		{"two", "a\n```go\nx := 1\n\ty\n```\nb\n~~~\nz\n~~~\n", []string{"x := 1\n\ty\n", "z\n"}},
		{"an empty one", "```\n```\n", []string{""}},
		{"blank lines in it", "```\n\n  \n```\n", []string{"\n  \n"}},
		{"lines of Windows", "```\r\na\r\n```\r\n", []string{"a\r\n"}},
		{"a shorter fence in it", "````md\n```\nx\n```\n````\n", []string{"```\nx\n```\n"}},
		{"a fence of the other kind in it", "```\n~~~\n```\n", []string{"~~~\n"}},
		{"a closing fence that is longer", "```\nx\n`````  \ny", []string{"x\n"}},
		{"a closing fence with words", "```\nx\n``` no\n```\n", []string{"x\n``` no\n"}},
		{"one that is never closed", "```\nx\ny", []string{"x\ny"}},
		{"no fence: a backtick behind it", "``` a`b\nx\n```\n", []string{""}},
		{"tildes may have one", "~~~ a`b\nx\n~~~\n", []string{"x\n"}},
		{"two backticks are none", "``\nx\n``\n", nil},
		{"an indented fence", "  ```\n   x\n  y\n z\n  ```\n", []string{" x\ny\nz\n"}},
		{"one that is indented too far", "    ```\n    x\n", nil},
		{"a closing fence that is indented too far", "```\nx\n    ```\n", []string{"x\n    ```\n"}},
		{"a paragraph goes on, however far it is indented", "text\n    ```\nx\n", nil},
		{"it ends a paragraph", "text\n```\nx\n```\n", []string{"x\n"}},
		{"in a list", "1. do this:\n\n   ```sh\n   make\n     all\n   ```\n2. then\n", []string{"make\n  all\n"}},
		{"right behind the mark", "- ```\n  x\n  ```\n", []string{"x\n"}},
		{"in a list of a list", "- a\n  - b\n\n    ```\n    x\n\n    y\n    ```\n", []string{"x\n\ny\n"}},
		{"far in a list", "10. a\n    ```\n    x\n    ```\n", []string{"x\n"}},
		{"a list that ends before its code", "- a\n\n```\nx\n```\n", []string{"x\n"}},
		{"a list that ends inside of it", "- ```\n  x\ny\n", []string{"x\n"}},
		{"a tab behind the mark of a list", "-\ta\n\n\t```\n\tx\n\t\ty\n\t```\n", []string{"x\n\ty\n"}},
		{"in a quote", "> ```\n> x\n>\n>   y\n> ```\n", []string{"x\n\n  y\n"}},
		{"a quote that ends inside of it", "> ```\n> x\ny\n", []string{"x\n"}},
		{"a quote in a list", "- > ```\n  > x\n  > ```\n", []string{"x\n"}},
		{"a line that is left out of its list", "- a\nb\n  ```\n  x\n  ```\n", []string{"x\n"}},
		{"a number that is no list in a paragraph", "in\n1986. was\n    ```\n    x\n", nil},
		{"a rule is no list", "* * *\n  ```\n  x\n  ```\n", []string{"x\n"}},
		{"behind a heading", "# a\n    ```\n```\nx\n```\n", []string{"x\n"}},
	} {
		if got := CodeBlocks(tt.text); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

func FuzzCodeBlocks(f *testing.F) {
	f.Add("a\n", "- > ")
	f.Add("\t```\n", "1)\t")
	f.Add("~~~\n\x00", "   ")
	f.Fuzz(func(t *testing.T, text, before string) {
		CodeBlocks(before + text) // whatever it is, it ends
		code := strings.ReplaceAll(text, "\r", "") + "\n"
		longest := 3
		for run := range strings.SplitSeq(code, "\n") {
			longest = max(longest, strings.Count(run, "~")+1)
		}
		fence := strings.Repeat("~", longest)
		if got := CodeBlocks("text\n\n" + fence + "x\n" + code + fence + "\n\ntext"); len(got) != 1 || got[0] != code {
			t.Errorf("%q became %q", code, got)
		}
	})
}

// blocksOfGoldmark returns the fenced blocks that another reader of CommonMark finds.
func blocksOfGoldmark(text string) (blocks []string) {
	source := []byte(text)
	_ = ast.Walk(goldmark.New().Parser().Parse(gtext.NewReader(source)), func(n ast.Node, enter bool) (ast.WalkStatus, error) {
		if _, isBlock := n.(*ast.FencedCodeBlock); isBlock && enter {
			var b strings.Builder
			for _, line := range n.Lines().Sliced(0, n.Lines().Len()) {
				b.Write(line.Value(source))
			}
			blocks = append(blocks, b.String())
		}
		return ast.WalkContinue, nil
	})
	return blocks
}

// withBareBlanks removes what blank lines are indented by: goldmark leaves it where the
// fence has as much.
func withBareBlanks(blocks []string) (bare []string) {
	for _, block := range blocks {
		bare = append(bare, regexp.MustCompile(`(?m)^[ \t]+$`).ReplaceAllString(block, ""))
	}
	return bare
}

// Texts of the marks that matter, put together at random, are read as by goldmark.
func TestCodeBlocksAreThoseOfAnotherReader(t *testing.T) {
	pieces := []string{"- ", "1. ", "10) ", "> ", "  ", "    ", "```", "````", "~~~", " go", "text", "# h", "***", "\n", "\n", "\n\n", "\n   "}
	r := rand.New(rand.NewPCG(1, 2))
	emptyItem := regexp.MustCompile(`(?m)(-|\d[.)])[ \t]*$`)
	for range 20000 {
		var b strings.Builder
		for range 3 + r.IntN(16) {
			b.WriteString(pieces[r.IntN(len(pieces))])
		}
		text := b.String() + "\n"
		if emptyItem.MatchString(text) { // of which goldmark thinks differently
			continue
		}
		if got, want := withBareBlanks(CodeBlocks(text)), withBareBlanks(blocksOfGoldmark(text)); !slices.Equal(got, want) {
			t.Fatalf("%q: %q, want %q", text, got, want)
		}
	}
}
