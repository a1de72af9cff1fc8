package attach

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pi/session/message"
)

// shot is the beginning of a PNG of 1024 by 768.
const shot = "\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR\x00\x00\x04\x00\x00\x00\x03\x00\x08\x02\x00\x00\x00\x35\xd8\x82\x5a"

// place makes a directory with files and returns options for it.
func place(t *testing.T, files map[string]string) Options {
	t.Helper()
	dir := t.TempDir()
	for name, data := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return Options{Cwd: dir, Home: filepath.Join(dir, "home")}
}

func TestWordsWithAtSignNameFiles(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"see @a.go and @b/c.go", "a.go|b/c.go"},
		{`in quotes @"my file.txt" too`, "my file.txt"},
		{`in quotes with lines @"my file.txt":3-4, too`, "my file.txt:3-4"},
		{"(@a.go)", "a.go)"},
		{"@a.go,@b.go; and `@c`", "a.go|b.go;|c`"},
		{"mail me@example.com", ""},
		{"@", ""}, {"a @ b", ""}, {`@"open`, ``}, {"x\n@y", "y"},
		{"@\"two\nrows\"", ""},
	} {
		var got []string
		for _, m := range mentions(c.text) {
			got = append(got, m.name+m.lines)
		}
		if strings.Join(got, "|") != c.want {
			t.Errorf("%q names %q, want %q", c.text, got, c.want)
		}
	}
}

func TestFilesGoAlongByWhatTheyAre(t *testing.T) {
	ten := ""
	for i := range 10 {
		ten += fmt.Sprintf("line %d\n", i+1)
	}
	o := place(t, map[string]string{
		"a.txt": "hello\n", "src/x.go": strings.Repeat("package x // ä\n", 80), "p.dat": shot, "bin": "\x7fELF\x00\xff", "my file": "spaces",
		"ten": ten, "odd:3": "named so", "home/notes.md": "mine", "empty": "", "latin": "caf\xe9", "long": strings.Repeat("long ä line\n", mostText/10),
		"big.png": shot + strings.Repeat("x", mostImage), "with\x1b[31m.txt": "x",
	})
	file := func(name, text string) string { return fmt.Sprintf("<file name=%q>\n%s\n</file>", name, text) }
	for _, c := range []struct {
		name, text string
		want       []string // texts, or types of images
		words      string
		problem    string
	}{
		{"text names its file", "@a.txt", []string{file("a.txt", "hello")}, "attached @a.txt (6 B)", ""},
		{"with its size", "@src/x.go", []string{file("src/x.go", strings.TrimSuffix(strings.Repeat("package x // ä\n", 80), "\n"))}, "attached @src/x.go (1.3 kB)", ""},
		{"the end of a sentence is no name", "look at (@a.txt).", []string{file("a.txt", "hello")}, "attached @a.txt (6 B)", ""},
		{"once is enough", "@a.txt @./a.txt", []string{file("a.txt", "hello")}, "attached @a.txt (6 B)", ""},
		{"an image is known by its bytes", "@p.dat", []string{"image/png"}, "attached @p.dat (image, 1024×768)", ""},
		{"quotes hold blanks", `@"my file"`, []string{file("my file", "spaces")}, "attached @my file (6 B)", ""},
		{"an empty file", "@empty", []string{file("empty", "")}, "attached @empty (0 B)", ""},
		{"home", "@~/notes.md", []string{file("~/notes.md", "mine")}, "attached @~/notes.md (4 B)", ""},
		{"some lines", "@ten:2-3", []string{"<file name=\"ten\" lines=\"2-3\">\nline 2\nline 3\n</file>"}, "attached @ten:2-3 (14 B)", ""},
		{"one line", "see @ten:10.", []string{"<file name=\"ten\" lines=\"10\">\nline 10\n</file>"}, "attached @ten:10 (8 B)", ""},
		{"the rest", "@ten:9-", []string{"<file name=\"ten\" lines=\"9-10\">\nline 9\nline 10\n</file>"}, "attached @ten:9-10 (15 B)", ""},
		{"fewer lines than meant", "@ten:9-40", []string{"<file name=\"ten\" lines=\"9-10\">\nline 9\nline 10\n</file>"}, "attached @ten:9-10 (15 B)", ""},
		{"lines of a quoted name", `@"my file":1`, []string{"<file name=\"my file\" lines=\"1\">\nspaces\n</file>"}, "attached @my file:1 (6 B)", ""},
		{"a file that is named like lines", "@odd:3", []string{file("odd:3", "named so")}, "attached @odd:3 (8 B)", ""},
		{"two ranges of one file", "@ten:1 @ten:2", []string{"<file name=\"ten\" lines=\"1\">\nline 1\n</file>", "<file name=\"ten\" lines=\"2\">\nline 2\n</file>"}, "attached @ten:1 (7 B), @ten:2 (7 B)", ""},
		{"a folder is listed", "@src", []string{"<folder name=\"src\">\nx.go\n</folder>"}, "attached @src/ (1 entry)", ""},
		{"folders in it end in a slash", "@home/..", []string{"<folder name=\"home/..\">\na.txt\nbig.png\nbin\nempty\nhome/\nlatin\nlong\nmy file\nodd:3\np.dat\nsrc/\nten\nwith\\u{1b}[31m.txt\n</folder>"}, "attached @home/../ (13 entries)", ""},

		{"a word that is no file stays a word", "@nobody", nil, "", ""},
		{"one that looks like a path is told of", "ask @team/nobody, please", nil, "", "@team/nobody is no file here, it is sent as it stands"},
		{"once", "@main.py and @main.py", nil, "", "@main.py is no file here, it is sent as it stands"},
		{"a program is not sent", "@bin", nil, "", "@bin is not attached: it is neither text nor"},
		{"nor what is not UTF-8", "@latin", nil, "", "@latin is not attached: it is neither text nor"},
		{"a long text is not sent", "@long", nil, "", "@long is not attached: it has 681.6 kB, more than 512 KiB; name the lines that matter, as in @long:1-200"},
		{"but lines of it", "@long:3", []string{"<file name=\"long\" lines=\"3\">\nlong ä line\n</file>"}, "attached @long:3 (13 B)", ""},
		{"not too many of them", "@long:2-", nil, "", "these lines have more than 512 KiB"},
		{"a huge image is not sent", "@big.png", nil, "", "@big.png is not attached: the image has more than 5 MiB"},
		{"lines behind the end", "@ten:11", nil, "", "@ten:11 is not attached: it has 10 lines"},
		{"lines the wrong way round", "@ten:4-3", nil, "", "@ten is not attached: line 3 comes before line 4"},
		{"lines begin with one", "@ten:0", nil, "", "0 is no line"},
		{"lines of an image", "@p.dat:1", nil, "", "an image has no lines"},
		{"lines of a folder", "@src:1", nil, "", "a folder has no lines"},
	} {
		t.Run(c.name, func(t *testing.T) {
			found := Find(c.text, o)
			var got []string
			for _, b := range found.Blocks() {
				got = append(got, b.Text+b.MimeType)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("blocks %q, want %q", got, c.want)
			}
			if found.Words() != c.words {
				t.Errorf("words %q, want %q", found.Words(), c.words)
			}
			if n := len(found.Problems); n > 1 || (n == 0) != (c.problem == "") || n == 1 && !strings.Contains(found.Problems[0], c.problem) {
				t.Errorf("problems %q, want %q", found.Problems, c.problem)
			}
		})
	}
}

func TestAnAbsolutePathOfAnImageNeedsNoSign(t *testing.T) {
	o := place(t, map[string]string{
		"shot.png": shot, "my shot.png": shot, "it's.PNG": shot, "fake.png": "text", "home/pic.jpg": shot, "note.txt": "x", "shot.dat": shot,
	})
	for _, c := range []struct{ name, text, want string }{
		{"alone", "DIR/shot.png", "attached shot.png (image, 1024×768)"},
		{"in a sentence", "what is in DIR/shot.png?", "attached shot.png (image, 1024×768)"},
		{"with backslashes", `look at DIR/my\ shot.png please`, "attached my shot.png (image, 1024×768)"},
		{"in quotes", `'DIR/my shot.png' "DIR/it's.PNG"`, "attached my shot.png (image, 1024×768), it's.PNG (image, 1024×768)"},
		{"as an address", "file://DIR/my%20shot.png", "attached my shot.png (image, 1024×768)"},
		{"at home", "~/pic.jpg", "attached pic.jpg (image, 1024×768)"},
		{"twice", "DIR/shot.png @DIR/shot.png", "attached @DIR/shot.png (image, 1024×768)"},
		{"one that is none", "DIR/fake.png", ""},
		{"another ending", "DIR/shot.dat DIR/note.txt", ""},
		{"not there", "DIR/nothing.png", ""},
		{"relative", "shot.png ./shot.png", ""},
		{"a quote that is not closed", "don't look at DIR/shot.png", "attached shot.png (image, 1024×768)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			found := Find(strings.ReplaceAll(c.text, "DIR", o.Cwd), o)
			if want := strings.ReplaceAll(c.want, "DIR", o.Cwd); found.Words() != want || len(found.Problems) > 0 {
				t.Errorf("%q, %q, want %q", found.Words(), found.Problems, want)
			}
			for _, b := range found.Blocks() {
				if b.Type != message.BlockImage || b.MimeType != "image/png" || b.Data == "" {
					t.Errorf("block %+v", b)
				}
			}
		})
	}
}

func TestWhatGoesAlongTogetherIsBounded(t *testing.T) {
	files, text := map[string]string{}, ""
	for i := range mostFiles + 2 {
		name := fmt.Sprintf("f%d", i)
		files[name] = "x"
		text += " @" + name
	}
	found := Find(text, place(t, files))
	if len(found.Attached) != mostFiles || len(found.Problems) != 1 || !strings.Contains(found.Problems[0], "more than 64 files") {
		t.Errorf("%d attached, problems %q", len(found.Attached), found.Problems)
	}
	files, text = map[string]string{}, ""
	for i := range 5 {
		name := fmt.Sprintf("p%d", i)
		files[name] = shot + strings.Repeat("x", mostImage-len(shot))
		text += " @" + name
	}
	found = Find(text, place(t, files))
	if len(found.Attached) != 3 || len(found.Problems) != 2 || !strings.Contains(found.Problems[0], "@p3 is not attached: with the files before it that would be more than 16 MiB") {
		t.Errorf("%d attached, problems %q", len(found.Attached), found.Problems)
	}
}

func TestATextFullOfImagesIsAText(t *testing.T) {
	files, text := map[string]string{}, ""
	for i := range mostBare + 1 {
		files[fmt.Sprintf("p%d.png", i)] = shot
	}
	o := place(t, files)
	for name := range files {
		text += filepath.Join(o.Cwd, name) + " saved\n"
	}
	if found := Find(text, o); len(found.Attached) > 0 || len(found.Problems) != 1 || !strings.Contains(found.Problems[0], "more than 8 images") {
		t.Errorf("%q, problems %q", found.Words(), found.Problems)
	}
	if found := Find(text[:strings.LastIndex(text[:len(text)-1], "\n")], o); len(found.Attached) != mostBare || len(found.Problems) > 0 {
		t.Errorf("one less: %q, problems %q", found.Words(), found.Problems)
	}
}

// A text that is pasted may be long, and made to be slow.
func BenchmarkALongText(b *testing.B) {
	for name, piece := range map[string]string{"words": "some words and more ", "signs": "(@", "quotes": "@\"", "images": "/tmp/a.png ", "one word": "x"} {
		text := strings.Repeat(piece, (1<<20)/len(piece))
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				Find(text, Options{Cwd: "/nowhere"})
			}
		})
	}
}

func TestALongFolderIsListedInPart(t *testing.T) {
	files := map[string]string{}
	for i := range mostListed + 7 {
		files[fmt.Sprintf("d/%04d", i)] = ""
	}
	found := Find("@d", place(t, files))
	if len(found.Attached) != 1 || found.Words() != "attached @d/ (507 entries)" {
		t.Fatalf("%q, %q", found.Words(), found.Problems)
	}
	if text := found.Attached[0].Block.Text; !strings.HasSuffix(text, "\n0499\n[500 of 507 entries; find narrows it]\n</folder>") {
		t.Errorf("ends in %q", text[len(text)-100:])
	}
}

// Lines that are cut out are those that a split of the whole text has.
func FuzzCutLines(f *testing.F) {
	f.Add("a\nb\nc", 1, 2)
	f.Add("a\n\n", 2, 0)
	f.Add(strings.Repeat("x", 5000)+"\ny\n", 1, 1)
	f.Add("", 1, 0)
	f.Fuzz(func(t *testing.T, text string, from, to int) {
		if from < 1 || to != 0 && to < from || len(text) > mostText {
			return
		}
		got, last, err := cutLines(strings.NewReader(text), lines{from, to})
		all := slices.Collect(strings.Lines(text))
		want, wantLast := "", len(all)
		if to != 0 {
			wantLast = min(to, len(all))
		}
		if from <= len(all) {
			want = strings.Join(all[from-1:wantLast], "")
		}
		if err != nil || string(got) != want || last != wantLast {
			t.Errorf("lines %d to %d of %q: %q, last %d, %v; want %q, last %d", from, to, text, got, last, err, want, wantLast)
		}
	})
}

// No text makes the search fail, and what is found is in the text.
func FuzzMentions(f *testing.F) {
	f.Add(`see @a.go, @"my file":3 and '/tmp/a b.png'`)
	f.Add("@@ -1,3 +1,4 @@")
	f.Add(`/a\`)
	f.Fuzz(func(t *testing.T, text string) {
		for _, m := range mentions(text) {
			if !strings.Contains(text, "@"+m.name) && !strings.Contains(text, `@"`+m.name+`"`+m.lines) {
				t.Errorf("%q names %+v", text, m)
			}
			if m.from < 0 || m.to > len(text) || text[m.from] != '@' || m.to <= m.from {
				t.Errorf("%q is at the wrong place in %q: %+v", m.name, text, m)
			}
		}
		for _, bare := range imagePaths(text) {
			if !isImagePath(bare.path) || bare.from < 0 || bare.from >= bare.to || bare.to > len(text) {
				t.Errorf("%q has the image %+v", text, bare)
			}
		}
	})
}

// Only what was typed names a file: the text of a page that was pasted does not.
func TestOnlyWhatWasTypedNamesFiles(t *testing.T) {
	o := place(t, map[string]string{"a.txt": "a", "b.txt": "b", "shot.png": shot, "my shot.png": shot})
	for _, c := range []struct {
		name, typed, pasted, placed string
		want, problem               string
	}{
		{"typed", "@a.txt", "", "", "attached @a.txt (1 B)", ""},
		{"pasted", "see ", "@a.txt", "", "", ""},
		{"one of each", "@b.txt and ", "@a.txt", "", "attached @b.txt (1 B)", ""},
		{"a name that is pasted behind a typed sign", "@", "a.txt", "", "", "@a.txt was not typed, so it is sent as it stands"},
		{"a name whose end is pasted", "@a.t", "xt", "", "", "@a.txt was not typed, so it is sent as it stands"},
		{"a name of which the beginning is pasted", "", "@a.t", "xt", "", ""},
		{"a pasted end of the sentence", "(@a.txt", ")", "", "attached @a.txt (1 B)", ""},
		{"a quoted name", "@\"a.txt\"", " it", "", "attached @a.txt (1 B)", ""},
		{"an image that is typed", "DIR/shot.png", "", "", "attached shot.png (image, 1024×768)", ""},
		{"a name that the program put there", "", "", "see @a.txt", "", "@a.txt was not typed, so it is sent as it stands"},
		{"a word that it put there and that names nothing", "", "", "see a@b.txt and @once", "", ""},
		{"an image in a pasted text", "", "see DIR/shot.png", "", "", ""},
	} {
		typed := strings.ReplaceAll(c.typed, "DIR", o.Cwd)
		pasted := strings.ReplaceAll(c.pasted, "DIR", o.Cwd)
		asked := o
		asked.Typed = func(from, to int) bool { return to <= len(typed) }
		asked.Pasted = func(from, to int) bool { return from < len(typed+pasted) && to > len(typed) }
		found := Find(typed+pasted+c.placed, asked)
		if found.Words() != c.want || strings.Join(found.Problems, "; ") != c.problem {
			t.Errorf("%s: %q, problems %q", c.name, found.Words(), found.Problems)
		}
	}
	o.Images = []string{filepath.Join(o.Cwd, "my shot.png"), filepath.Join(o.Cwd, "gone.png")}
	found := Find("look at "+o.Images[0]+" and @a.txt", o)
	if found.Words() != "attached my shot.png (image, 1024×768), @a.txt (1 B)" || len(found.Problems) != 1 || !strings.HasPrefix(found.Problems[0], "gone.png is not attached") {
		t.Errorf("%q, problems %q", found.Words(), found.Problems)
	}
}

func TestAPasteThatIsThePathOfAnImageIsKnown(t *testing.T) {
	o := place(t, map[string]string{"shot.png": shot, "my shot.png": shot, "fake.png": "text", "note.txt": "x", "home/pic.jpg": shot})
	for text, want := range map[string]string{
		"DIR/shot.png":                 "shot.png (image, 1024×768)",
		" DIR/shot.png \n":             "shot.png (image, 1024×768)",
		"DIR/my shot.png":              "my shot.png (image, 1024×768)",
		`DIR/my\ shot.png`:             "my shot.png (image, 1024×768)",
		"'DIR/my shot.png'":            "my shot.png (image, 1024×768)",
		"file://DIR/my%20shot.png":     "my shot.png (image, 1024×768)",
		"~/pic.jpg":                    "pic.jpg (image, 1024×768)",
		"DIR/shot.png DIR/my shot.png": "",
		"see DIR/shot.png":             "",
		"DIR/shot.png\nis it":          "",
		"DIR/fake.png":                 "", "DIR/note.txt": "", "DIR/gone.png": "", "shot.png": "", "": "",
	} {
		path, words, ok := PastedImage(strings.ReplaceAll(text, "DIR", o.Cwd), o)
		if words != want || ok != (want != "") || ok && !filepath.IsAbs(path) {
			t.Errorf("%q: %q, %q, %v", text, path, words, ok)
		}
	}
}
