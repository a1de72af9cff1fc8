package roff

import (
	"os/exec"
	"strings"
	"testing"
)

func TestAPageSaysWhatTheTextSays(t *testing.T) {
	for _, c := range []struct{ name, markdown, want string }{
		{"a paragraph", "one\ntwo", ".SH DESCRIPTION\n.PP\none two\n"},
		{"a heading that is the title", "# Pi\n\ntext", ".SH DESCRIPTION\n.PP\ntext\n"},
		{"chapters", "## In *short*\n\n### `a-b`\n\n#### c", ".SH \"IN SHORT\"\n.SS \"a\\-b\"\n.PP\n\\fBc\\fR\n"},
		{"what troff would run", ".so /etc/passwd\n\n'br\n\n```\n.sy rm\n'x\n\\fB\n```", ".SH DESCRIPTION\n.PP\n\\&.so /etc/passwd\n.PP\n\\(aqbr\n.PP\n.RS 4\n.EX\n\\&.sy rm\n\\(aqx\n\\efB\n.EE\n.RE\n"},
		{"in a heading", "## \"a\" \\\\n(.x\n", ".SH \"\\(dqA\\(dq \\eN(.X\"\n"},
		{"fonts", "`a-b` *c* **d** [e](f.md) [g](https://h.i/j)", ".SH DESCRIPTION\n.PP\n\\fBa\\-\\:b\\fR \\fIc\\fR \\fBd\\fR e g <https:/\\:/\\:h.\\:i/\\:j>\n"},
		{"a flag is not broken at its dash", "`-p` `--no-x`", ".SH DESCRIPTION\n.PP\n\\fB\\-p\\fR \\fB\\-\\-no\\-\\:x\\fR\n"},
		{"a list", "- a\n\n  b\n- c", ".SH DESCRIPTION\n.IP \\(bu 2\na\n.RS 2\n.PP\nb\n.RE\n.IP \\(bu 2\nc\n.PP\n"},
		{"a numbered list", "3. a\n4. b", ".SH DESCRIPTION\n.IP 3. 4\na\n.IP 4. 4\nb\n.PP\n"},
		{"a table", "| k | v |\n|---|---|\n| `a\\|b` | c\\|d |", ".SH DESCRIPTION\n.TP\n\\fBa|\\:b\\fR\nc|d\n.PP\n"},
		{"a wide table", "| k | v | w |\n|---|---|---|\n| a | b | c |\n| d | | |", ".SH DESCRIPTION\n.TP\na\n\\fIv\\fR: b\n.br\n\\fIw\\fR: c\n.TP\nd\n\\&\n.PP\n"},
		{"characters", "é … ✗ 😀 a\u200db &amp; \\* `\\*`", ".SH DESCRIPTION\n.PP\n\\[u00E9] \\[u2026] x ? ab & * \\fB\\e*\\fR\n"},
		{"comments", "<!-- x -->\n\na <NAME> b", ".PP\na <NAME> b\n"},
	} {
		got := Page(Head{Name: "x", Section: 7, Source: "s", Manual: "m", About: "y"}, c.markdown)
		const head = ".TH \"x\" 7 \"\" \"s\" \"m\"\n.nh\n.ad l\n.SH NAME\nx \\- y\n"
		body, ok := strings.CutPrefix(got, head)
		if body = strings.TrimPrefix(body, map[bool]string{true: ".SH DESCRIPTION\n"}[c.name == "comments"]); !ok || body != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, body, c.want)
		}
	}
}

// FuzzPage holds that a page is ASCII, that no line of it is a request but ours, and that no
// escape is one but ours.
func FuzzPage(f *testing.F) {
	for _, seed := range []string{"", "# a\n.b", "```\n.so x\n```", "- .x\n- 'y", "| .a |\n|---|\n| .b |", "\\.sy x", "`\\n`", "> .x", "&#46;so x", "a\\\n.b", "<a\n.b>", "## \n.x", "a  \n.b", "é\x00\x1b[m"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, markdown string) {
		page := Page(Head{Name: "x", Section: 7}, markdown)
		for line := range strings.Lines(page) {
			if line[0] == '\'' {
				t.Fatalf("a request: %q in %q", line, page)
			}
			if request, _, _ := strings.Cut(strings.TrimSpace(line), " "); line[0] == '.' && !strings.Contains(" .TH .nh .ad .SH .SS .PP .RS .RE .EX .EE .IP .TP .br ", " "+request+" ") {
				t.Fatalf("a request: %q in %q", line, page)
			}
			for i := 0; i < len(line); i++ {
				if line[i] >= 0x80 || line[i] < ' ' && line[i] != '\n' {
					t.Fatalf("%q is no ASCII", line)
				}
				if line[i] != '\\' {
					continue
				}
				if i++; i >= len(line) || !strings.ContainsRune("&e-(f[:", rune(line[i])) {
					t.Fatalf("an escape in %q", line)
				}
			}
		}
	})
}

func TestGroffHasNothingToSayOfAPage(t *testing.T) {
	if _, err := exec.LookPath("groff"); err != nil {
		t.Skip("there is no groff")
	}
	page := Page(Head{Name: "x", Section: 7, Source: "s", Manual: "m", About: "y"}, "text\n\n- a\n  1. b\n\n     c\n\n> d\n\n| a | b | c |\n|---|---|---|\n| `"+strings.Repeat("abc/", 40)+"` | é…✗ | \\\\ |\n\n```\n\\x .y\n```\n")
	groff := exec.Command("groff", "-t", "-man", "-ww", "-z")
	groff.Stdin = strings.NewReader(page)
	if said, err := groff.CombinedOutput(); err != nil || len(said) > 0 {
		t.Errorf("%v: %s", err, said)
	}
}
