package markdown

import (
	"encoding/xml"
	"io"
	"regexp"
	"strings"
	"testing"

	"pi/internal/markup"
)

func pageOf(t testing.TB, text string) string {
	t.Helper()
	var out strings.Builder
	w := markup.New(&out)
	NewPage(w).Write(text)
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestMarkdownOnAPage(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"a paragraph", "one\ntwo", "<p>one\ntwo</p>"},
		{"headings lie below those of the page", "# a\n###### b *c*", "<h3>a</h3><h6>b <em>c</em></h6>"},
		{"emphasis", "*a* **b** ~~c~~ ***d***", "<p><em>a</em> <strong>b</strong> <del>c</del> <em><strong>d</strong></em></p>"},
		{"a code span", "`a <b> &amp;`", "<p><code>a &lt;b&gt; &amp;amp;</code></p>"},
		{"a hard break", "a  \nb\\\nc", "<p>a<br/>b<br/>c</p>"},
		{"HTML is text", "<script>x()</script>\n<b onclick=x>y</b>", "<p>&lt;script&gt;x()&lt;/script&gt;<br/>&lt;b onclick=x&gt;y&lt;/b&gt;</p>"},
		{"entities", "&lt;b&gt; &copy; &#60;", "<p>&lt;b&gt; © &lt;</p>"},
		{"a link", "[a *b*](http://c/d?e&f \"t\")", `<p><a class="to" href="http://c/d?e&amp;f" rel="noreferrer noopener">a <em>b</em></a></p>`},
		{"a link that leads nowhere is text", "[a](javascript:x())", "<p>a (javascript:x())</p>"},
		{"so is one that hides its scheme", "[a](&#106;avascript:x) <javascript:y>", "<p>a (javascript:x) javascript:y</p>"},
		{"an address is a link", "see http://a/b.", `<p>see <a href="http://a/b" rel="noreferrer noopener">http://a/b</a>.</p>`},
		{"an address by marks", "<http://a> <b@c.de>", `<p><a href="http://a" rel="noreferrer noopener">http://a</a> <a href="mailto:b@c.de" rel="noreferrer noopener">b@c.de</a></p>`},
		{"an image is a link", "![a](http://b/c.png) ![d](e.png)", `<p><a class="to" href="http://b/c.png" rel="noreferrer noopener">a</a> d (e.png)</p>`},
		{"an image in a link", "[![a](http://b)](http://c)", `<p><a class="to" href="http://c" rel="noreferrer noopener">a</a></p>`},
		{"a reference is text", "[a][b]\n\n[b]: http://c", `<p>[a][b]</p><p>[b]: <a href="http://c" rel="noreferrer noopener">http://c</a></p>`},
		{"a list", "- a\n- b\n  1. c\n  2. d", `<ul><li>a</li><li>b<ol start="1"><li>c</li><li>d</li></ol></li></ul>`},
		{"a list with blank lines", "3) a\n\n4) b", `<ol start="3"><li><p>a</p></li><li><p>b</p></li></ol>`},
		{"tasks", "- [ ] a\n- [x] b\n\n[x] c", "<ul><li>☐ a</li><li>☑ b</li></ul><p>[x] c</p>"},
		{"a quote", "> a\n> > b", "<blockquote><p>a</p><blockquote><p>b</p></blockquote></blockquote>"},
		{"a rule is never a heading", "a\n---\nb", "<p>a</p><hr/><p>b</p>"},
		{"a table", "x\n| a | b |\n|--:|:-:|\n| 1 | `2` |\n| 3 |\ny", `<p>x</p><table><thead><tr><th class="r">a</th><th class="m">b</th></tr></thead>` +
			`<tbody><tr><td class="r">1</td><td class="m"><code>2</code></td></tr><tr><td class="r">3</td></tr></tbody></table><p>y</p>`},
		{"a line with a bar is no table", "a | b\nc", "<p>a | b\nc</p>"},
		{"code", "```go\nfunc f() { return \"<\" } // x\n\n```", `<pre data-l="go">` + "\n" + `<code><i class="k">func</i> f() { <i class="k">return</i> <i class="s">&#34;&lt;&#34;</i> } <i class="c">// x</i>` + "\n</code></pre>"},
		{"code of no language", "```\na\n  b", "<pre>\n<code>a\n  b</code></pre>"},
		{"code that is indented", "    a\n\n    b", "<pre>\n<code>a\n\nb</code></pre>"},
		{"a language of somebody", "```\"onload=x\n```", `<pre data-l="&#34;onload=x">` + "\n<code></code></pre>"},
		{"control characters", "a\x00\x1b[1mb\u202e*c*", "<p>ab&lt;U+202E&gt;<em>c</em></p>"},
	} {
		if got := pageOf(t, c.text); got != c.want {
			t.Errorf("%s: %q\n got %s\nwant %s", c.name, c.text, got, c.want)
		}
	}
}

// elements are those that a text can have, with their attributes.
var elements = map[string][]string{
	"p": nil, "h3": nil, "h4": nil, "h5": nil, "h6": nil, "em": nil, "strong": nil, "del": nil, "code": nil, "br": nil, "hr": nil,
	"a": {"class", "href", "rel"}, "ul": nil, "ol": {"start"}, "li": nil, "blockquote": nil, "pre": {"data-l"}, "i": {"class"},
	"table": nil, "thead": nil, "tbody": nil, "tr": nil, "th": {"class"}, "td": {"class"}, "root": nil,
}

// said reads a page and returns its text, its addresses and its languages: it fails at
// what is no XML, and at elements and attributes that no text has.
func said(t *testing.T, page string) string {
	t.Helper()
	var out strings.Builder
	d := xml.NewDecoder(strings.NewReader("<root>" + page + "</root>"))
	depth := 0
	for {
		token, err := d.Token()
		if err == io.EOF {
			return out.String()
		}
		if err != nil {
			t.Fatalf("%v in %q", err, page)
		}
		switch token := token.(type) {
		case xml.CharData:
			out.Write(token)
		case xml.EndElement:
			depth--
		case xml.StartElement:
			if depth++; depth > 4*deepest {
				t.Fatalf("nested %d deep", depth)
			}
			known, ok := elements[token.Name.Local]
			if !ok {
				t.Fatalf("element %s in %q", token.Name.Local, page)
			}
			for _, a := range token.Attr {
				if !strings.Contains(" "+strings.Join(known, " ")+" ", " "+a.Name.Local+" ") || a.Name.Local == "href" && !markup.IsLink(a.Value) {
					t.Fatalf("attribute %s=%q of %s in %q", a.Name.Local, a.Value, token.Name.Local, page)
				}
				out.WriteString(" " + a.Value + " ")
			}
		default:
			t.Fatalf("%T in %q", token, page)
		}
	}
}

// FuzzPage holds that a page is XML of a few elements, and that no word is lost.
func FuzzPage(f *testing.F) {
	for _, seed := range []string{"# a *b* [c](http://d) `e`\n- f\n1. g\n> h\n```go\nfunc i\n```\n| j | k |\n|---|---|\n| l |",
		"[a](javascript:b)", "<img src=x onerror=y>", "![a](data:text/html,b)", "&lt;&#x3c;&amp;lt;", "~~a~~ http://b/<c>", "\\<a\\>", "``` \" onload=x\n```",
		"a\n---\n[b]: c 'd'", strings.Repeat("> ", 50) + "a", "<a@b.c> <http://d\">", "* a\n\n      b\n", "|a|\n|-|\n|b|\\|c|"} {
		f.Add(seed)
	}
	words := regexp.MustCompile(`[a-zA-Z]{4,}`)
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 10<<10 {
			return
		}
		got := said(t, pageOf(t, text))
		if strings.ContainsAny(text, "\\&\x1b`~|%[]") || strings.ContainsFunc(text, func(r rune) bool { return r < ' ' && r != '\n' || r > '~' }) {
			return // words that mean something else, and what stands behind a fence
		}
		for _, word := range words.FindAllString(text, -1) {
			if !strings.Contains(got, word) {
				t.Fatalf("%q is lost: %q became %q", word, text, got)
			}
		}
	})
}

// Texts that cost a parser of Markdown the square of their length, and one that is as models write: each
// takes as long as it is.
func BenchmarkPage(b *testing.B) {
	for name, unit := range map[string]string{
		"links": "[a](", "emphasis": "*a_ ", "addresses": "[](", "brackets": "[a", "code": "`", "quotes": "> ", "items": "1. ", "strikethrough": "~~a ",
		"angles": "<a ", "entities": "&#", "bars": "|a", "table": "|a\n|-\n", "images": "![[",
		"usual": "Some words of *an* answer with `code` in them.\n\n- an item\n\n```go\nfunc f(s string) int { return len(s) } // some code\n```\n\n",
	} {
		text := strings.Repeat(unit, 128<<10/len(unit))
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				pageOf(b, text)
			}
		})
	}
}
