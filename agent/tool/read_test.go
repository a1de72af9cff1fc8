package tool

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"net"
	"path/filepath"
	"strings"
	"testing"

	"pi/internal/picture"
	"pi/session/message"
)

func numbered(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "line %d\n", i+1)
	}
	return b.String()
}

func TestReadGivesTextAsItStands(t *testing.T) {
	b := newHarness(t, Options{})
	for _, c := range []struct {
		content       string
		offset, limit int
		want          string
	}{
		{content: "a\r\n\tb", want: "a\r\n\tb"},
		{content: "\uFEFFa\n", want: "a\n"},
		{content: "", want: "(the file is empty)"},
		{content: "1\n2\n3\n4\n5\n", want: "1\n2\n3\n4\n5\n"},
		{content: "1\n2\n3\n4\n5\n", offset: 4, want: "4\n5\n"},
		{content: "1\n2\n3\n4\n5\n", offset: 2, limit: 2, want: "2\n3\n\n[lines 2-3 of 5; more with offset=4]"},
		{content: "1\n2\n3\n4\n5\n", offset: 4, limit: 9, want: "4\n5\n"},
		{content: "1\n2\n3\n4\n5", offset: 5, want: "5"},
		{content: "latin \xe9\n", want: "latin \uFFFD\n\n[the file is not valid UTF-8: every \uFFFD stands for bytes that are something else]"},
	} {
		b.file("f", c.content)
		a := args{"path": "f"}
		if c.offset > 0 {
			a["offset"] = c.offset
		}
		if c.limit > 0 {
			a["limit"] = c.limit
		}
		r := b.run("read", a)
		equal(t, textOf(r), c.want)
		equal(t, string(r.Details), "{}")
	}
}

func TestReadPastTheEndNamesTheLength(t *testing.T) {
	b := newHarness(t, Options{})
	b.file("f", numbered(20))
	b.file("one", "x")
	b.file("empty", "")
	b.refused("read", args{"path": "f", "offset": 21}, "read f: offset 21 is past the end: the file has 20 lines")
	b.refused("read", args{"path": "one", "offset": 2}, "the file has 1 line")
	b.refused("read", args{"path": "empty", "offset": 2}, "the file has 0 lines")
}

func TestReadStopsAtWholeLinesAndSaysHowToGoOn(t *testing.T) {
	b := newHarness(t, Options{})
	b.file("long", numbered(5000))
	r := b.run("read", args{"path": "long"})
	if text := textOf(r); !strings.HasSuffix(text, "\nline 2000\n\n[lines 1-2000 of 5000; more with offset=2001]") {
		t.Errorf("ends %q", text[len(text)-80:])
	}
	equal(t, string(r.Details), `{"truncation":{"truncated":true,"totalLines":5000,"outputLines":2000}}`)

	b.file("wide", strings.Repeat(strings.Repeat("x", 999)+"\n", 300))
	text := b.text("read", args{"path": "wide", "offset": 100})
	if !strings.HasSuffix(text, "x\n\n[lines 100-150 of 300; more with offset=151]") || strings.Count(text, "x\n") != 51 {
		t.Errorf("ends %q", text[len(text)-80:])
	}
}

func TestReadCutsALineThatIsTooLong(t *testing.T) {
	b := newHarness(t, Options{})
	b.file("f", "first\n"+strings.Repeat("é", 40000)+"\nlast\n")
	text := b.text("read", args{"path": "f", "offset": 2})
	want := strings.Repeat("é", maxBytes/2) + "\n\n[only the first 50.0 KiB of line 2; the rest with bash: sed -n '2p' FILE | tail -c +51201]\n[lines 2-2 of 3; more with offset=3]"
	if text != want {
		t.Errorf("%d bytes, ends %q", len(text), text[len(text)-140:])
	}
	equal(t, b.text("read", args{"path": "f"}), "first\n\n[lines 1-1 of 3; more with offset=2]")
}

func TestReadShowsImagesByTheirBytes(t *testing.T) {
	b := newHarness(t, Options{})
	img := image.NewPaletted(image.Rect(0, 0, 3, 2), color.Palette{color.White})
	webp, err := base64.StdEncoding.DecodeString("UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA")
	if err != nil {
		t.Fatal(err)
	}
	var p, j, g bytes.Buffer
	for _, err := range []error{png.Encode(&p, img), jpeg.Encode(&j, img, nil), gif.Encode(&g, img, nil)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for mime, c := range map[string]struct{ data, about string }{
		"image/png": {p.String(), ", 3×2"}, "image/jpeg": {j.String(), ", 3×2"}, "image/gif": {g.String(), ", 3×2"}, "image/webp": {string(webp), ", 1×1"},
	} {
		b.file("picture.txt", c.data) // names lie
		r := b.run("read", args{"path": "picture.txt"})
		if len(r.Content) != 2 {
			t.Fatalf("%s: %d blocks", mime, len(r.Content))
		}
		block := r.Content[1]
		if block.Type != message.BlockImage || block.MimeType != mime || block.Data != base64.StdEncoding.EncodeToString([]byte(c.data)) {
			t.Errorf("%s: %s %s", mime, block.Type, block.MimeType)
		}
		if want := fmt.Sprintf("Image picture.txt (%s%s, %d B)", mime, c.about, len(c.data)); textOf(r) != want {
			t.Errorf("got %q, want %q", textOf(r), want)
		}
	}
	b.file("huge", p.String()+strings.Repeat("x", picture.MostBytes))
	b.refused("read", args{"path": "huge"}, "image/png", "more than 3.75 MB", "too large")
}

func TestReadShowsALargeImageAsASmallerCopy(t *testing.T) {
	scale := true
	b := newHarness(t, Options{ImageScale: func() bool { return scale }})
	var large bytes.Buffer
	if err := png.Encode(&large, image.NewGray(image.Rect(0, 0, 2500, 100))); err != nil {
		t.Fatal(err)
	}
	b.file("large.png", large.String())
	r := b.run("read", args{"path": "large.png"})
	sent, err := base64.StdEncoding.DecodeString(r.Content[1].Data)
	if err != nil || r.Content[1].MimeType != "image/jpeg" || picture.SizeOf(sent).Pixels() != "2000×80" {
		t.Errorf("%s of %v, %v", r.Content[1].MimeType, picture.SizeOf(sent), err)
	}
	if want := fmt.Sprintf("Image large.png (image/png, %v, sent as %v)", picture.SizeOf(large.Bytes()), picture.SizeOf(sent)); textOf(r) != want {
		t.Errorf("got %q, want %q", textOf(r), want)
	}
	b.file("damaged.png", large.String()[:100]+strings.Repeat("x", picture.MostBytes))
	b.refused("read", args{"path": "damaged.png"}, "read damaged.png: the image (2500×100, 3.8 MB) cannot be brought within what models take", "make a smaller copy")
	scale = false
	if r := b.run("read", args{"path": "large.png"}); r.Content[1].Data != base64.StdEncoding.EncodeToString(large.Bytes()) {
		t.Error("it is not as it was, though nothing is scaled")
	}
}

func TestReadRefusesWhatIsNotText(t *testing.T) {
	b := newHarness(t, Options{})
	for content, kind := range map[string]string{
		"\x7FELF\x02\x01":         "ELF program",
		"%PDF-1.7\nall text":      "application/pdf",
		"PK\x03\x04":              "application/zip",
		"\x1F\x8B\x08\x00":        "application/gzip",
		"text\x00more":            "application/octet-stream",
		"\x00\x01\x02":            "application/octet-stream",
		"\xFF\xFEh\x00i\x00":      "UTF-16",
		"SQLite format 3\x00":     "SQLite",
		"\x00asm\x01\x00\x00\x00": "application/wasm",
	} {
		b.file("f.txt", content)
		b.refused("read", args{"path": "f.txt"}, "read f.txt: it is a binary file ("+kind)
	}
	b.refused("read", args{"path": "."}, "it is a directory; use ls")
	l, err := net.Listen("unix", filepath.Join(b.dir, "s"))
	if err != nil {
		t.Skip(err)
	}
	defer l.Close()
	b.refused("read", args{"path": "s"}, "it is a socket, not a regular file")
}
