package page

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pi/internal/markup"
	"pi/session"
)

// hostile are texts that do something where they get into a page as markup, script, style or
// address. What they do sets window.pwned, or asks for something from a server.
func hostile() []string {
	return []string{
		`<script>pwned=1</script>`, `</script><script>pwned=1</script>`, `</SCRIPT ><script>pwned=1</script >`, `<script src="http://evil.test/x.js"></script>`,
		`<script type="module">pwned=1</script>`, `</style><script>pwned=1</script>`, `</title><script>pwned=1</script>`, `</textarea><script>pwned=1</script>`,
		`</template><script>pwned=1</script>`, `</noscript><script>pwned=1</script>`, `</pre></code></details></article></main><script>pwned=1</script>`,
		`<img src=x onerror=pwned=1>`, `<img src="http://evil.test/a.png">`, `"><img src=x onerror=pwned=1>`, `'><img src=x onerror=pwned=1>`, "`><img src=x onerror=pwned=1>",
		`" onmouseover="pwned=1`, `' onmouseover='pwned=1`, ` onfocus=pwned=1 autofocus tabindex=1 `, `"onclick=pwned=1 x="`, "\"\nonload\n=\npwned=1\n",
		`<svg onload=pwned=1>`, `<svg><script>pwned=1</script></svg>`, `<svg><animate onbegin=pwned=1 attributeName=x dur=1s>`, `<svg><use href="data:image/svg+xml,<svg id=x onload=pwned=1>#x">`,
		`<svg><a xlink:href="javascript:pwned=1"><text>x</text></a></svg>`, `<math><mtext></form><form><mglyph><style></math><img src onerror=pwned=1>`,
		`<body onload=pwned=1>`, `<iframe src="javascript:pwned=1"></iframe>`, `<iframe srcdoc="<script>parent.pwned=1</script>"></iframe>`, `<object data="http://evil.test/o">`, `<embed src="http://evil.test/e">`,
		`<base href="http://evil.test/">`, `<meta http-equiv="refresh" content="0;url=http://evil.test/">`, `<meta http-equiv="Content-Security-Policy" content="default-src *">`,
		`<link rel="stylesheet" href="http://evil.test/s.css">`, `<style>@import "http://evil.test/i.css"; body{background:url(http://evil.test/b)}</style>`, `<div style="background:url(http://evil.test/d)">`,
		`<form action="http://evil.test/"><input autofocus onfocus=pwned=1><button>`, `<details open ontoggle=pwned=1>`, `<video src="http://evil.test/v" onerror=pwned=1>`, `<a href="javascript:pwned=1" id=x>x</a>`,
		`[x](javascript:pwned=1)`, `[x](JaVaScRiPt:pwned=1)`, `[x](java&#x0A;script:pwned=1)`, `[x](&#106;avascript:pwned=1)`, `[x](data:text/html,<script>pwned=1</script>)`, `[x](vbscript:pwned=1)`, `<javascript:pwned=1>`,
		`![x](http://evil.test/m.png)`, `![x](javascript:pwned=1)`, `[x](http://evil.test/"onclick="pwned=1)`, `http://evil.test/"onmouseover="pwned=1`, `[x]: javascript:pwned=1` + "\n\n[x]", "```\" onload=\"pwned=1\n</pre><script>pwned=1</script>\n```",
		`<!--><script>pwned=1</script>`, `--><script>pwned=1</script><!--`, `<!-- --!><script>pwned=1</script>`, `<![CDATA[<script>pwned=1</script>]]>`, `]]><script>pwned=1</script>`, `<?xml version="1.0"?><script>pwned=1</script>`,
		`&lt;script&gt;pwned=1&lt;/script&gt;`, `&#60;script&#62;pwned=1&#60;/script&#62;`, `&amp;lt;script&amp;gt;`, `&quot; onload=&quot;pwned=1`, `&`, `&#0;&#xD800;&#x110000;&nosuch;`, `\u003cscript\u003epwned=1\u003c/script\u003e`,
		"${pwned=1}", "`${pwned=1}`", `{{constructor.constructor('pwned=1')()}}`, `<%= pwned=1 %>`, `';pwned=1;//`, `";pwned=1;//`, `\";pwned=1;//`, "\u2028pwned=1\u2029",
		"\x00<script>pwned=1</script>", "<scr\x00ipt>pwned=1</scr\x00ipt>", "<\x00img src=x onerror=pwned=1>", "\ufeff<script>pwned=1</script>", "\ufffe\uffff<script>pwned=1</script>", "\x1b]0;pwned\x07\x1b[2J\x1b[31m<script>pwned=1</script>",
		"\u202e>tpircs/<1=denwp>tpircs<\u202c", "\u2066<script>\u2069pwned=1", "a\u200b\u200d\u00ad\u061c\U000e0041b", "+ADw-script+AD4-pwned=1+ADw-/script+AD4-", "\xff\xfe<script>pwned=1</script>", "\xc0\xbcscript\xc0\xbepwned=1",
		`=cmd|' /C calc'!A0`, `constructor`, `__proto__`, `toString`, `../../../etc/passwd`, strings.Repeat("<b>", 600), strings.Repeat("> ", 400) + "<script>pwned=1</script>", strings.Repeat("[", 300) + "x" + strings.Repeat("](javascript:pwned=1)", 300),
	}
}

// svgImage and htmlImage say that they are images.
const (
	svgImage  = "PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciIG9ubG9hZD0icHduZWQ9MSIvPg=="
	htmlImage = "PHNjcmlwdD5wd25lZD0xPC9zY3JpcHQ+"
)

// everywhere adds entries that have a text in every field that takes one.
func everywhere(b *builder, s string) {
	user := b.user(s)
	b.add("message", fields{"message": fields{"role": "user", "content": []fields{text(s), {"type": "image", "data": pixels, "mimeType": s}, {"type": "image", "data": s, "mimeType": "image/png"},
		{"type": "image", "data": svgImage, "mimeType": "image/png"}, {"type": "image", "data": htmlImage, "mimeType": "image/png" + s}, {"type": "image", "data": pixels + s, "mimeType": "image/png"}}}})
	answer := b.add("message", fields{"message": fields{"role": "assistant", "api": s, "provider": s, "model": s, "stopReason": s, "errorMessage": s,
		"usage": fields{"input": 3, "output": 4, "cost": fields{"total": 0.5}},
		"content": []fields{text(s), thought(s), call("c"+s, s, fields{"command": s, "path": s, s: s, "list": []any{s, fields{s: s}}}), call("d"+s, "write", fields{"path": "a." + s, "content": s + "\n" + s}),
			{"type": "toolCall", "id": "e", "name": s, "arguments": s}, {"type": s, "text": s}}}})
	b.add("message", fields{"message": fields{"role": "toolResult", "toolCallId": "c" + s, "toolName": s, "content": []fields{text(s), {"type": "image", "data": pixels, "mimeType": s}}, "details": fields{"diff": "+" + s + "\n-" + s + "\n " + s}}})
	b.add("message", fields{"message": fields{"role": "toolResult", "toolCallId": "lost", "toolName": s, "content": s, "isError": true}})
	b.leaf = user // a second branch
	b.add("message", fields{"message": fields{"role": "bashExecution", "command": s + "\n" + s, "output": s, "exitCode": 1, "fullOutputPath": s}})
	b.add("custom_message", fields{"customType": s, "content": s, "display": true, "details": s})
	b.add("custom", fields{"customType": s, "data": fields{s: s}})
	b.add("compaction", fields{"summary": s, "firstKeptEntryId": s, "tokensBefore": 7})
	b.add("branch_summary", fields{"fromId": s, "summary": s})
	b.add("model_change", fields{"provider": s, "modelId": s})
	b.add("thinking_level_change", fields{"thinkingLevel": s})
	b.add("usage", fields{"kind": s, "provider": s, "model": s, "note": s, "usage": fields{"input": 1}})
	b.add("context_edit", fields{"targetId": answer, "replacement": nil})
	b.add("context_edit", fields{"targetId": s, "replacement": fields{"content": s}})
	b.add("message", fields{"message": fields{"role": s, "content": s}})
	b.add("x"+s, fields{"field": s})
	b.line(fields{"type": "message", "id": s, "parentId": b.leaf, "timestamp": s, "message": fields{"role": "user", "content": s, "timestamp": s}})
	b.line(fields{"type": "message", "id": s + "2", "parentId": s, "timestamp": s, "message": s})
	b.leaf = s + "2"
	b.add("label", fields{"targetId": user, "label": s})
}

// headed gives a session that was built a header and a name of a text.
func headed(b *builder, s string) *builder {
	raw, err := json.Marshal(fields{"type": "session", "version": 3, "id": "s-1", "timestamp": s, "cwd": s, "parentSession": s})
	if err != nil {
		panic(err)
	}
	b.lines[0] = string(raw)
	b.add("session_info", fields{"name": s})
	return b
}

// allowed are the elements of a page with their attributes.
var allowed = map[string]string{
	"html": "lang", "head": "", "meta": "charset http-equiv content name", "link": "rel href", "title": "", "style": "", "body": "", "script": "type",
	"header": "", "h1": "", "dl": "", "div": "class dir id data-p", "dt": "", "dd": "", "main": "id data-leaf", "section": "id", "article": "class id data-p data-u",
	"h2": "", "small": "class", "span": "class", "mark": "", "p": "class id data-p data-u", "details": "class id data-p open", "summary": "", "b": "class",
	"img": "alt loading decoding width height src", "ins": "", "del": "",
	"h3": "", "h4": "", "h5": "", "h6": "", "em": "", "strong": "", "code": "", "br": "", "hr": "", "a": "class href rel", "ul": "", "ol": "start",
	"li": "", "blockquote": "", "pre": "class data-l", "i": "class", "table": "", "thead": "", "tbody": "", "tr": "", "th": "class", "td": "class",
}

var (
	ownLink  = regexp.MustCompile(`^#m[1-9][0-9]*$`)
	ownImage = regexp.MustCompile(`^data:image/(png|jpeg|gif|webp);base64,[A-Za-z0-9+/]+=*$`)
)

// inspect reads a page as XML and returns its text. It fails at what is not well-formed, and at
// every element, attribute and address that a page does not have.
func inspect(t *testing.T, html string) string {
	t.Helper()
	if strings.Count(html, string(style)) != 1 || strings.Count(html, string(script())) != 1 {
		t.Fatal("the style or the script is not there, or there twice")
	}
	html = strings.Replace(strings.Replace(html, string(style), "", 1), string(script()), "", 1)
	var out strings.Builder
	ids := map[string]int{} // of elements 1, of those that others go on from 2 or 3
	d := xml.NewDecoder(strings.NewReader(html))
	for {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatalf("%v before %q", err, html[d.InputOffset():min(int(d.InputOffset())+200, len(html))])
		}
		switch token := token.(type) {
		case xml.CharData:
			out.Write(token)
		case xml.StartElement:
			inspectElement(t, token, ids)
		case xml.EndElement:
		case xml.Directive:
			if string(token) != "DOCTYPE html" {
				t.Fatalf("<!%s>", token)
			}
		default:
			t.Fatalf("%T", token)
		}
	}
	for id, seen := range ids {
		if seen == 2 {
			t.Fatalf("something goes on from %s, which is not there", id)
		}
	}
	return out.String()
}

func inspectElement(t *testing.T, e xml.StartElement, ids map[string]int) {
	t.Helper()
	attributes, ok := allowed[e.Name.Local]
	if !ok || e.Name.Space != "" {
		t.Fatalf("element %v", e)
	}
	for _, a := range e.Attr {
		name, v := a.Name.Local, a.Value
		wrong := a.Name.Space != "" || !slices.Contains(strings.Fields(attributes), name)
		switch {
		case name == "href" && e.Name.Local == "a":
			wrong = wrong || !ownLink.MatchString(v) && !markup.IsLink(v)
		case name == "href":
			wrong = wrong || v != "data:,"
		case name == "src":
			wrong = wrong || !ownImage.MatchString(v)
		case name == "id":
			wrong = wrong || ids[v]&1 != 0
			ids[v] |= 1
		case (name == "data-p" || name == "data-leaf") && v != "0":
			ids["m"+v] |= 2
		}
		if wrong {
			t.Fatalf("attribute %s=%q of %s", name, v, e.Name.Local)
		}
	}
}

func TestHostileTextsAreText(t *testing.T) {
	if len(hostile()) < 60 {
		t.Fatalf("only %d texts", len(hostile()))
	}
	for i, s := range hostile() {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			b := newBuilder()
			everywhere(b, s)
			html := written(t, headed(b, s).session(t))
			text := inspect(t, html)
			if n := strings.Count(text, "pwned"); n < 20*min(1, strings.Count(s, "pwned")) {
				t.Errorf("the text is there only %d times", n)
			}
		})
	}
}

// TestHostileTextsDoNothing opens a page that has every hostile text in every field, and does with it
// what a reader could do.
func TestHostileTextsDoNothing(t *testing.T) {
	t.Parallel()
	b := startBrowser(t)
	built := newBuilder()
	for _, s := range hostile() {
		everywhere(built, s)
	}
	file := saved(t, written(t, headed(built, strings.Join(hostile(), " ")).session(t)))
	for _, noScript := range []bool{true, false} {
		p := b.open(file, "", view{noScript: noScript, before: `window.broken = [];
			addEventListener('securitypolicyviolation', e => broken.push(e.violatedDirective + ' ' + e.blockedURI + ' ' + e.sample));
			addEventListener('click', e => { const a = e.target.closest && e.target.closest('a'); if (a && !a.getAttribute('href').startsWith('#')) e.preventDefault(); }, true);`})
		if !noScript {
			p.until(`document.querySelector('#tree a')`)
			p.press("f", "j", "]", "[", "u", "o", "x", "c", "f", "f")
			p.eval(`(() => { const i = document.querySelector('input'); i.value = 'pwned'; i.dispatchEvent(new Event('input')); i.dispatchEvent(new KeyboardEvent('keydown', {key: 'Enter'})); })()`)
			p.eval(`(() => { for (const e of document.querySelectorAll('body *')) {
				if (e.matches('[data-do], .tools *')) continue;
				for (const kind of ['mouseover', 'mousemove', 'focus', 'error', 'load', 'toggle', 'pointerover']) e.dispatchEvent(new Event(kind));
				if (e.matches('a:not([href^="#"]), summary, b, i, mark, img')) e.click();
			} })()`)
			p.eval(`new Promise(done => setTimeout(done, 0))`)
			p.check(`JSON.stringify([...document.querySelectorAll('script, style, iframe, object, embed, form, base, svg, math, video, link')].map(e => e.localName))`, `["link","style","script"]`)
			p.check(`[...document.querySelectorAll('*')].every(e => [...e.attributes].every(a => !a.name.startsWith('on')))`, true)
		}
		p.check(`typeof window.pwned`, "undefined")
		p.check(`JSON.stringify(window.broken || [])`, "[]")
		p.check(`location.protocol`, "file:")
		if asked := p.requests(); len(asked) != 1 || !strings.HasPrefix(asked[0], "file:///") {
			t.Errorf("it asked for %q", asked)
		}
		if said := p.complaints(); len(said) > 0 {
			t.Errorf("the browser says %q", said)
		}
	}
}

// FuzzPage holds that any text behind a header gives a page that is well-formed and has nothing
// in it but what pages have.
func FuzzPage(f *testing.F) {
	for _, b := range []*builder{sample(), newBuilder()} {
		f.Add(strings.Join(b.lines[1:], "\n"))
	}
	for _, s := range hostile()[:3] {
		b := newBuilder()
		everywhere(b, s)
		f.Add(strings.Join(b.lines[1:], "\n"))
	}
	f.Fuzz(func(t *testing.T, lines string) {
		path := filepath.Join(t.TempDir(), "s.jsonl")
		if err := os.WriteFile(path, []byte(newBuilder().lines[0]+"\n"+lines+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := session.Read(path)
		if err != nil {
			return
		}
		inspect(t, written(t, s))
	})
}
