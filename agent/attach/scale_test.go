package attach

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pi/internal/picture"
	"pi/session/message"
)

// asPNG is a PNG in one colour.
func asPNG(t *testing.T, width, height int) string {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, width, height))); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestALargeImageGoesAlongAsASmallerCopy(t *testing.T) {
	large, small := asPNG(t, 2500, 100), asPNG(t, 30, 20)
	heavy := large + strings.Repeat("x", mostImage) // decoders leave out what is behind an image
	damaged := small[:60] + strings.Repeat("x", picture.MostBytes)
	o := place(t, map[string]string{"large.png": large, "heavy.png": heavy, "small.png": small, "damaged.png": damaged})
	for _, c := range []struct {
		name    string
		scale   bool
		text    string
		words   string // WAS and IS are the numbers of bytes; behind them the MIME type of what is sent
		problem string
	}{
		{"wide", true, "@large.png", "attached @large.png (image, 2500×100, WAS, sent as 2000×80, IS) image/jpeg", ""},
		{"by its path", true, o.Cwd + "/large.png", "attached large.png (image, 2500×100, WAS, sent as 2000×80, IS) image/jpeg", ""},
		{"of more bytes than is sent otherwise", true, "@heavy.png", "attached @heavy.png (image, 2500×100, WAS, sent as 2000×80, IS) image/jpeg", ""},
		{"small", true, "@small.png", "attached @small.png (image, 30×20) image/png", ""},
		{"as it is", false, "@large.png", "attached @large.png (image, 2500×100) image/png", ""},
		{"as it is, with too many bytes", false, "@heavy.png", "", "@heavy.png is not attached: the image has more than 5 MiB; make a smaller copy"},
		{"one that cannot be scaled", true, "@damaged.png", "", "@damaged.png is not attached: the image (30×20, 3.8 MB) cannot be brought within what models take (2000 pixels a side, 3.75 MB), for it is damaged ("},
	} {
		t.Run(c.name, func(t *testing.T) {
			o.ImageScale = c.scale
			found := Find(c.text, o)
			if n := len(found.Problems); (n == 0) != (c.problem == "") || n > 0 && !strings.HasPrefix(found.Problems[0], c.problem) {
				t.Fatalf("problems %q, want %q", found.Problems, c.problem)
			}
			if c.problem != "" {
				return
			}
			file := strings.TrimPrefix(filepath.Base(c.text), "@")
			b := found.Blocks()[0]
			sent, err := base64.StdEncoding.DecodeString(b.Data)
			if err != nil || b.Type != message.BlockImage {
				t.Fatal(b.Type, err)
			}
			was, err := os.ReadFile(filepath.Join(o.Cwd, file))
			if err != nil {
				t.Fatal(err)
			}
			size := func(data []byte) string { return fmt.Sprint(picture.Size{Bytes: len(data)}) }
			want := strings.NewReplacer("WAS", size(was), "IS", size(sent)).Replace(c.words)
			if got := found.Words() + " " + b.MimeType; got != want {
				t.Errorf("%q, want %q", got, want)
			}
			if strings.Contains(c.words, "sent as") == bytes.Equal(sent, was) {
				t.Errorf("%d bytes are sent of %d", len(sent), len(was))
			}
		})
	}
	if data, err := os.ReadFile(filepath.Join(o.Cwd, "large.png")); err != nil || string(data) != large {
		t.Errorf("the file is not as it was: %v", err)
	}
}

// What is copied keeps its size until it is sent.
func TestTheImageOfTheClipboardIsNotScaled(t *testing.T) {
	large := asPNG(t, 2500, 100)
	a, err := programs(map[string]string{"pngpaste -": large}).Image(t.Context())
	if err != nil || a.Words != "clipboard (image, 2500×100)" || a.Block.Data != base64.StdEncoding.EncodeToString([]byte(large)) {
		t.Errorf("%s, %v", a.Words, err)
	}
}
