package message

import (
	"bytes"
	"image"
	"image/color/palette"
	"image/gif"
	"image/jpeg"
	"image/png"
	"testing"
)

// pictures are a picture of each kind, by name.
func pictures(tb testing.TB, width, height int) map[string][]byte {
	tb.Helper()
	area := image.Rect(0, 0, width, height)
	colour, grey, few := image.NewNRGBA(area), image.NewGray16(area), image.NewPaletted(area, palette.Plan9)
	made := map[string][]byte{}
	for name, encode := range map[string]func(*bytes.Buffer) error{
		"png":          func(b *bytes.Buffer) error { return png.Encode(b, colour) },
		"png, grey":    func(b *bytes.Buffer) error { return png.Encode(b, grey) },
		"png, palette": func(b *bytes.Buffer) error { return png.Encode(b, few) },
		"jpeg":         func(b *bytes.Buffer) error { return jpeg.Encode(b, colour, nil) },
		"jpeg, grey":   func(b *bytes.Buffer) error { return jpeg.Encode(b, grey, nil) },
		"gif":          func(b *bytes.Buffer) error { return gif.Encode(b, few, nil) },
	} {
		var b bytes.Buffer
		if err := encode(&b); err != nil {
			tb.Fatal(err)
		}
		made[name] = b.Bytes()
	}
	return made
}

func TestTheSizeOfAnImageIsReadFromItsHead(t *testing.T) {
	for _, size := range []image.Point{{1, 1}, {3, 2}, {640, 257}, {1, 4000}} {
		for name, data := range pictures(t, size.X, size.Y) {
			if w, h := ImageSize(data); w != size.X || h != size.Y {
				t.Errorf("%s: %d×%d, want %v", name, w, h, size)
			}
		}
	}
}

func TestWhatStandsBeforeAFrameOfAJPEGIsSkipped(t *testing.T) {
	frame := "\xFF\xC2\x00\x11\x08\x01\x02\x03\x04\x03"
	for name, before := range map[string]string{
		"nothing":                      "",
		"a segment":                    "\xFF\xE0\x00\x04JF",
		"a segment with 0xFF in it":    "\xFF\xE1\x00\x06\xFF\xC0\x00\x11",
		"filling":                      "\xFF\xFF\xFF",
		"tables named like frames":     "\xFF\xC4\x00\x03a\xFF\xCC\x00\x03b",
		"a marker without a segment":   "\xFF\x01\xFF\xD0",
		"bytes that belong to nothing": "junk\xFF\x00",
	} {
		if w, h := jpegSize([]byte("\xFF\xD8" + before + frame)); w != 0x0304 || h != 0x0102 {
			t.Errorf("%s: %d×%d", name, w, h)
		}
	}
	if w, h := jpegSize([]byte("\xFF\xD8\xFF\xDA\x00\x03a" + frame)); w != 0 || h != 0 {
		t.Errorf("after the beginning of the scan: %d×%d", w, h)
	}
}

func TestTheSizeOfAWebPIsReadFromItsFirstChunk(t *testing.T) {
	webp := func(chunk, content string) string {
		return "RIFF\x00\x00\x00\x00WEBP" + chunk + "\x0A\x00\x00\x00" + content
	}
	for name, c := range map[string]struct {
		data          string
		width, height int
	}{
		"lossy":                {webp("VP8 ", "\x30\x01\x00\x9D\x01\x2A\x80\x42\xE0\x01"), 0x280, 0x1E0}, // the upper bits say how it is scaled
		"lossy without mark":   {webp("VP8 ", "\x30\x01\x00\x00\x01\x2A\x80\x02\xE0\x01"), 0, 0},
		"lossless":             {webp("VP8L", "\x2F\x7F\xC2\x77\x10\x00\x00\x00\x00\x00"), 640, 480},
		"lossless, no mark":    {webp("VP8L", "\x00\x7F\xC2\x77\x10\x00\x00\x00\x00\x00"), 0, 0},
		"extended":             {webp("VP8X", "\x10\x00\x00\x00\x7F\x02\x00\xDF\x01\x00"), 640, 480},
		"cut in the chunk":     {webp("VP8X", "\x10\x00\x00\x00\x7F\x02\x00\xDF\x01"), 0, 0},
		"a chunk nobody knows": {webp("ICCP", "\x10\x00\x00\x00\x7F\x02\x00\xDF\x01\x00"), 0, 0},
	} {
		if w, h := ImageSize([]byte(c.data)); w != c.width || h != c.height {
			t.Errorf("%s: %d×%d, want %d×%d", name, w, h, c.width, c.height)
		}
	}
}

// What the decoders of the standard library read, is read the same.
func FuzzImageSize(f *testing.F) {
	for _, data := range pictures(f, 7, 5) {
		f.Add(data)
		f.Add(data[:len(data)/2])
	}
	f.Add([]byte("\xFF\xD8\xFF\xFF"))
	f.Fuzz(func(t *testing.T, data []byte) {
		mime := ImageType(data)
		w, h := ImageSize(data)
		want, kind, err := image.DecodeConfig(bytes.NewReader(data))
		if err == nil && "image/"+kind == mime && (w != want.Width || h != want.Height) {
			t.Errorf("%d×%d, want %d×%d", w, h, want.Width, want.Height)
		}
	})
}
