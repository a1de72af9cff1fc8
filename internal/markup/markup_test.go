package markup

import (
	"encoding/xml"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"pi/internal/printable"
)

func written(t *testing.T, write func(w *Writer)) string {
	t.Helper()
	var out strings.Builder
	w := New(&out)
	write(w)
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestForeignTextIsNoMarkup(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"plain ü 日本", "plain ü 日本"},
		{`<script>x("y",'z')&amp;`, "&lt;script&gt;x(&#34;y&#34;,&#39;z&#39;)&amp;amp;"},
		{"a\x00b\x1b[31mc", "abc"},
		{"a\u202eb", "a&lt;U+202E&gt;b"},
		{"\uFFFE\uFFFFx", "\uFFFD\uFFFDx"},
		{"a\xffb", "a\uFFFDb"},
		{"a\n\tb\r\nc", "a\n\tb\nc"},
	} {
		if got := written(t, func(w *Writer) { w.Text(c.in) }); got != c.want {
			t.Errorf("%q: %q, want %q", c.in, got, c.want)
		}
		if got := written(t, func(w *Writer) { w.Attr("x", c.in) }); got != ` x="`+c.want+`"` {
			t.Errorf("attribute of %q: %q", c.in, got)
		}
	}
	if got := written(t, func(w *Writer) { w.Line("a\n <b"); w.Raw("<br/>"); w.Int(7) }); got != "a &lt;b<br/>7" {
		t.Errorf("%q", got)
	}
}

func TestAPageLeadsOnlyToTheWeb(t *testing.T) {
	for address, want := range map[string]string{
		"http://a/b?c=d&e":       ` href="http://a/b?c=d&amp;e" rel="noreferrer noopener"`,
		"HTTPS://a":              ` href="HTTPS://a" rel="noreferrer noopener"`,
		"mailto:a@b":             ` href="mailto:a@b" rel="noreferrer noopener"`,
		"http://ü/\u202e \n\"<'": ` href="http://%C3%BC/%E2%80%AE%20%0A&#34;&lt;&#39;" rel="noreferrer noopener"`,
		"http://":                "", "javascript:alert(1)": "", "JaVaScRiPt:x": "", "data:text/html,x": "", " http://a": "",
		"java\nscript:x": "", "//a": "", "/a": "", "#a": "", "": "", "file:///etc/passwd": "", "vbscript:x": "", "blob:http://a": "",
	} {
		if got := written(t, func(w *Writer) { w.Link(address) }); got != want || IsLink(address) != (want != "") {
			t.Errorf("%q: %q, want %q", address, got, want)
		}
	}
}

type failing struct{ after int }

func (f *failing) Write(p []byte) (int, error) {
	if f.after--; f.after < 0 {
		return 0, errors.New("full")
	}
	return len(p), nil
}

func TestTheFirstErrorEndsTheWriting(t *testing.T) {
	w := New(&failing{after: 1})
	for range 100 {
		w.Text(strings.Repeat("x", 4<<10))
	}
	if err := w.Flush(); err == nil || err.Error() != "full" || w.Err() != err {
		t.Error(err)
	}
}

// FuzzForeignText holds what is written against a reader of XML: it reads the same text
// again, and no element.
func FuzzForeignText(f *testing.F) {
	for _, seed := range []string{"a", "<a b='c'>\"&amp;", "]]>", "<!--", "\x00\ufffe\u202e", "&#0;"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		page := written(t, func(w *Writer) { w.Raw("<p"); w.Attr("title", s); w.Raw(">"); w.Text(s); w.Raw("</p>") })
		want := strings.NewReplacer("\uFFFE", "\uFFFD", "\uFFFF", "\uFFFD").Replace(printable.Text(s))
		d := xml.NewDecoder(strings.NewReader(page))
		var text strings.Builder
		elements := 0
		for {
			token, err := d.Token()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatalf("%v in %q", err, page)
			}
			switch token := token.(type) {
			case xml.StartElement:
				elements++
				if len(token.Attr) != 1 || token.Attr[0].Value != want {
					t.Fatalf("attributes %q in %q", token.Attr, page)
				}
			case xml.CharData:
				text.Write(token)
			case xml.EndElement:
			default:
				t.Fatalf("%T in %q", token, page)
			}
		}
		if elements != 1 || text.String() != want {
			t.Fatalf("%d elements, %q, want %q", elements, text.String(), want)
		}
	})
}

// TestNothingBecomesMarkup reads the source of those who write pages: no variable is made a Literal there, but
// for files that are embedded, and nobody writes past a Writer.
func TestNothingBecomesMarkup(t *testing.T) {
	files := 0
	for _, dir := range []string{"../../session/export/page", "../markdown", "."} {
		found, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range found {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			files++
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			for _, wrong := range madeMarkup(file) {
				t.Errorf("%s: %s", name, wrong)
			}
		}
	}
	if files < 10 {
		t.Errorf("only %d files were read", files)
	}
}

// madeMarkup says where a file makes markup of what may be foreign: by a conversion, or by joining.
func madeMarkup(file *ast.File) (wrong []string) {
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if isLiteral(n.Fun) && len(n.Args) == 1 {
				if arg, ok := n.Args[0].(*ast.BasicLit); !ok || arg.Kind != token.STRING {
					wrong = append(wrong, "a conversion to Literal")
				}
			}
		case *ast.ImportSpec:
			if n.Path.Value == `"html/template"` || n.Path.Value == `"text/template"` || n.Path.Value == `"unsafe"` || n.Path.Value == `"reflect"` {
				wrong = append(wrong, "an import of "+n.Path.Value)
			}
		}
		return true
	})
	return wrong
}

func isLiteral(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name == "Literal"
	case *ast.SelectorExpr:
		return e.Sel.Name == "Literal"
	case *ast.ParenExpr:
		return isLiteral(e.X)
	}
	return false
}

func TestMadeMarkupIsFound(t *testing.T) {
	for source, want := range map[string]int{
		`func f(s string) { w.Raw(markup.Literal(s)) }`: 1, `func f(s string) { w.Raw((Literal)(s + "x")) }`: 1,
		`func f(s string) { w.Raw(markup.Literal("<b>")); w.Text(s) }`: 0, `import "html/template"`: 1,
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "x.go", "package x\n"+source, 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := madeMarkup(file); len(got) != want {
			t.Errorf("%s: %q", source, got)
		}
	}
}
