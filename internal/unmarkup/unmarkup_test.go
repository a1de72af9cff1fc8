package unmarkup

import (
	"net/url"
	"runtime"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func TestMarkdown(t *testing.T) {
	base, _ := url.Parse("https://example.com/a/")
	for _, c := range []struct{ name, page, want string }{
		{"blanks", "  a \n\n b\t<b> c </b>d", "a b **c** d"},
		{"blocks", "<div>a</div><p>b<p>c", "a\n\nb\n\nc"},
		{"headings", "<h1>a</h1>b<h3>c", "# a\n\nb\n\n### c"},
		{"lines", "a<br>b<br><br>c<hr>d", "a\nb\nc\n\n---\n\nd"},
		{"lists", "<ul><li>a<ul><li>b</ul><li>c</ul><ol start=3><li>d<li><p>e<p>f</ol>g", "- a\n  - b\n- c\n\n3. d\n4. e\n\n   f\n\ng"},
		{"quotes", "<blockquote>a<p>b</blockquote>c", "> a\n>\n> b\n\nc"},
		{"code", "<code>a*b</code> <code>``</code><pre><code class=\"language-go\">x  y\n\n  z &lt;</code></pre>", "`a*b` ``` `` ```\n\n```go\nx  y\n\n  z <\n```"},
		{"fences", "<pre>```\n</pre>", "````\n```\n````"},
		{"tables", "<table><tr><th>a<th>b|<tr><td><p>1</p><p>2</p><td>x</table>", "| a | b\\| |\n| --- | --- |\n| 1 2 | x |"},
		{"a table in a cell", "<table><tr><td>a<table><tr><td>b<td>c</table>d</table>", "| a b c d |\n| --- |"},
		{"links", `<a href="x y">a</a> <a href="javascript:b">b</a> <a href="#c">c</a> <a href="data:d">d</a> <a href=/e></a><a href="//f.org/(1)">f</a>`,
			"[a](https://example.com/a/x%20y) b c d [f](https://f.org/%281%29)"},
		{"a link around blocks", "<a href=x><h2>a</h2><p>b</a>", "## [a](https://example.com/a/x)\n\nb"},
		{"pictures", `<img src=a.png alt=" a  b "><img src=c.png><img src="data:x" alt=d>`, "![a b](https://example.com/a/a.png)d"},
		{"emphasis of nothing", "<b></b><i> </i>a<b><p>b</b>", "a\n\n**b**"},
		{"marks of Markdown", "# *a* [b] _c_ snake_case <i>1.</i> x<p>1. y<p>- z", "\\# \\*a\\* \\[b\\] \\_c\\_ snake_case *1.* x\n\n1\\. y\n\n\\- z"},
		{"what is not shown", "a<script>b</script><style>c</style><div hidden>d<div>e</div></div><span style='display: none'>f</span><svg><text>g</text></svg><!-- h -->i", "ai"},
		{"what only seems to close itself", "a<script/>b</script><style />c</style><div hidden/>d</div><svg/>e<svg><svg/>f</svg>g<select/>h</select>", "aeg"},
		{"hidden characters", "a\u200b\u202eb\x1b[31m", "ab\\[31m"},
		{"nothing closed", "<ul><li><b>a<blockquote><code>b", "- **a**\n  >\n  > `b`"},
		{"ends of nothing", "</b></ul></p></table></a></li>a", "a"},
		{"entities", "&lt;b&gt; &amp;amp; &#x41;", "\\<b> &amp; A"},
	} {
		got, err := Markdown(c.page, Options{Base: base})
		if err != nil || strings.TrimSuffix(got.Text, "\n") != c.want {
			t.Errorf("%s: %v\n%s\nwant\n%s", c.name, err, got.Text, c.want)
		}
	}
}

func TestTheContentOfAPage(t *testing.T) {
	for page, want := range map[string]string{
		"<title>t</title><nav>a</nav><main>b<nav>c</nav></main>d": "b\n",
		"a<article>b</article>c<article>d</article>":              "b\n\nd\n",
		"<nav/>a</nav>b":               "b\n",
		"<nav>a</nav>b":                "b\n",
		"<nav>a</nav><form>b</form>":   "a\n\nb\n",
		"<main><nav>a</nav></main>":    "a\n",
		"<main></main>a":               "a\n",
		"<article>a<main>b</main>":     "b\n",
		"<main><main>a</main>b</main>": "a\n\nb\n",
	} {
		got, err := Markdown(page, Options{Main: true})
		if err != nil || got.Text != want {
			t.Errorf("%s: %q, %v; want %q", page, got.Text, err, want)
		}
	}
}

// hostile are pages of what makes readers slow or large.
func hostile() map[string]string {
	const size = 1 << 20
	fill := func(s string) string { return strings.Repeat(s, size/len(s)) }
	return map[string]string{
		"nested":              fill("<div>"),
		"lists in lists":      fill("<ul><li>x"),
		"quotes":              fill("<blockquote>x"),
		"formats":             fill("<b><i>x"),
		"links":               fill("<a href=x>y"),
		"tables":              fill("<table><tr><td>x"),
		"a row":               "<table>" + fill("<td>x"),
		"rows":                "<table>" + fill("<tr><td>x"),
		"ends":                "<b>" + fill("</i></b>"),
		"attributes":          "<a " + fill("a=1 "),
		"a tag without end":   "<a href=\"" + fill("x"),
		"a comment":           fill("<!--"),
		"code":                "<code>" + fill("`"),
		"lines":               "<pre>" + fill("\n"),
		"breaks":              "<ul><li><ul><li>" + fill("x<br>"),
		"marks":               fill("*"),
		"hidden":              "<div hidden>" + fill("<div>"),
		"text in deep format": strings.Repeat("<b><i><code>", 1000) + fill("x "),
	}
}

func TestHostilePagesTakeLittle(t *testing.T) {
	for name, page := range hostile() {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		began, looks := time.Now(), 0
		got, err := Markdown(page, Options{Main: true, Most: 2 << 20, Look: func() { looks++ }})
		took := time.Since(began)
		runtime.ReadMemStats(&after)
		t.Logf("%s: %v, %d MiB allocated, %d looks, %d bytes, %v", name, took, (after.TotalAlloc-before.TotalAlloc)>>20, looks, len(got.Text), err)
		if len(got.Text) > 2<<20+64 {
			t.Errorf("%s: %d bytes", name, len(got.Text))
		}
		if took > time.Minute { // seconds on a machine with nothing else to do
			t.Errorf("%s: took %v", name, took)
		}
	}
}

// FuzzMarkdown holds what comes of any page: it is readable text, has no address of a program, and is
// not much longer than the page.
func FuzzMarkdown(f *testing.F) {
	for _, page := range []string{"<a href=javascript:x>y", "<ul><li><pre>\x1b", "<table><td><table></td>x", "<b><p></b>\u200b", "<blockquote><li></ul><h1><code>`"} {
		f.Add(page, true)
		f.Add(page, false)
	}
	f.Fuzz(func(t *testing.T, page string, main bool) {
		got, err := Markdown(page, Options{Main: main})
		if err != nil {
			t.Fatal(err)
		}
		if !utf8.ValidString(got.Text) || strings.ContainsAny(got.Text, "\x1b\x00\r") || strings.Contains(got.Text, "](javascript:") {
			t.Errorf("%q", got.Text)
		}
		if len(got.Text) > 100*(len(page)+10) {
			t.Errorf("%d bytes become %d", len(page), len(got.Text))
		}
	})
}
