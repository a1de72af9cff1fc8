package picture

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/color/palette"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
)

// encoded is what write writes.
func encoded(tb testing.TB, write func(io.Writer) error) []byte {
	tb.Helper()
	var b bytes.Buffer
	if err := write(&b); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

func asPNG(tb testing.TB, m image.Image) []byte {
	return encoded(tb, func(w io.Writer) error { return (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(w, m) })
}

func asJPEG(tb testing.TB, m image.Image, quality int) []byte {
	return encoded(tb, func(w io.Writer) error { return jpeg.Encode(w, m, &jpeg.Options{Quality: quality}) })
}

func asGIF(tb testing.TB, m image.Image) []byte {
	return encoded(tb, func(w io.Writer) error { return gif.Encode(w, m, nil) })
}

// filled is an image in one colour.
func filled(width, height int, c color.NRGBA) *image.NRGBA {
	m := image.NewNRGBA(image.Rect(0, 0, width, height))
	for i := 0; i < len(m.Pix); i += 4 {
		copy(m.Pix[i:], []uint8{c.R, c.G, c.B, c.A})
	}
	return m
}

// noise is an image that cannot be compressed.
func noise(width, height int, alpha uint8) *image.NRGBA {
	m := image.NewNRGBA(image.Rect(0, 0, width, height))
	r := rand.New(rand.NewPCG(1, 2))
	for i := 0; i < len(m.Pix); i += 4 {
		binary.LittleEndian.PutUint32(m.Pix[i:], r.Uint32())
		m.Pix[i+3] = alpha
	}
	return m
}

// heavy is an image with more bytes than it may have; decoders leave out what is behind
// an image.
func heavy(data []byte) []byte { return append(data, make([]byte, MostBytes)...) }

// oneColourWebP is a lossless WebP in one colour, which takes no bits for its pixels: each
// of its five codes has one symbol.
func oneColourWebP(width, height int, c color.NRGBA) []byte {
	var bits []byte
	used := 0
	put := func(v uint32, n int) {
		for ; n > 0; n, v, used = n-1, v>>1, used+1 {
			if used%8 == 0 {
				bits = append(bits, 0)
			}
			bits[used/8] |= byte(v&1) << (used % 8)
		}
	}
	put(0x2F, 8)
	put(uint32(width-1), 14)
	put(uint32(height-1), 14)
	put(1, 1) // it may be transparent
	put(0, 3) // the version
	put(0, 3) // no transform, no cache of colours, one set of codes
	for _, v := range []uint8{c.G, c.R, c.B, c.A, 0} {
		put(0b101, 3) // a simple code, of one symbol, of eight bits
		put(uint32(v), 8)
	}
	chunk := append([]byte("VP8L"), binary.LittleEndian.AppendUint32(nil, uint32(len(bits)))...)
	if chunk = append(chunk, bits...); len(bits)%2 == 1 {
		chunk = append(chunk, 0)
	}
	return append(binary.LittleEndian.AppendUint32([]byte("RIFF"), uint32(4+len(chunk))), append([]byte("WEBP"), chunk...)...)
}

// claiming is a PNG that claims to have a size, and has no pixels.
func claiming(width, height uint32) []byte {
	head := binary.BigEndian.AppendUint32([]byte("IHDR"), width)
	head = append(binary.BigEndian.AppendUint32(head, height), 8, 6, 0, 0, 0)
	data := append([]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\x0d"), head...)
	return binary.BigEndian.AppendUint32(data, crc32.ChecksumIEEE(head))
}

var (
	red    = color.NRGBA{200, 30, 20, 255}
	glass  = color.NRGBA{200, 30, 20, 0}
	yellow = color.NRGBA{240, 220, 20, 255}
)

// What is within the bounds stays as it is, to the byte; of what is not, a copy is made that is.
func TestAnImageIsMadeAsSmallAsModelsTakeIt(t *testing.T) {
	lossy, err := base64.StdEncoding.DecodeString("UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA")
	if err != nil {
		t.Fatal(err)
	}
	paletted := image.NewPaletted(image.Rect(0, 0, 2500, 50), palette.Plan9)
	for _, c := range []struct {
		name   string
		data   []byte
		was    string // in pixels
		kind   string // of the copy; "": there is none
		pixels string // of the copy
	}{
		{"a small PNG", asPNG(t, filled(3, 2, red)), "3×2", "", ""},
		{"a transparent one", asPNG(t, filled(3, 2, glass)), "3×2", "", ""},
		{"as wide as it may be", asPNG(t, filled(2000, 20, red)), "2000×20", "", ""},
		{"as high as it may be", asPNG(t, filled(20, 2000, red)), "20×2000", "", ""},
		{"one column too many", asPNG(t, filled(2001, 100, red)), "2001×100", "image/jpeg", "2000×100"},
		{"wide", asPNG(t, filled(4000, 100, red)), "4000×100", "image/jpeg", "2000×50"},
		{"high", asPNG(t, filled(50, 6000, red)), "50×6000", "image/jpeg", "17×2000"},
		{"a line", asPNG(t, filled(9000, 1, red)), "9000×1", "image/jpeg", "2000×1"},
		{"a column", asPNG(t, filled(1, 9000, red)), "1×9000", "image/jpeg", "1×2000"},
		{"transparent and wide", asPNG(t, filled(4000, 100, glass)), "4000×100", "image/png", "2000×50"},
		{"a PNG of too many bytes", heavy(asPNG(t, filled(120, 90, red))), "120×90", "image/jpeg", "120×90"},
		{"16 bits", asPNG(t, image.NewGray16(image.Rect(0, 0, 2400, 30))), "2400×30", "image/jpeg", "2000×25"},
		{"a palette", asPNG(t, paletted), "2500×50", "image/jpeg", "2000×40"},
		{"a small JPEG", asJPEG(t, filled(640, 480, red), 75), "640×480", "", ""},
		{"a large one", asJPEG(t, filled(4000, 300, red), 75), "4000×300", "image/jpeg", "2000×150"},
		{"a grey one", asJPEG(t, image.NewGray(image.Rect(0, 0, 4000, 20)), 75), "4000×20", "image/jpeg", "2000×10"},
		{"a JPEG of too many bytes", heavy(asJPEG(t, filled(120, 90, red), 75)), "120×90", "image/jpeg", "120×90"},
		{"a transparent PNG of too many bytes", heavy(asPNG(t, filled(120, 90, glass))), "120×90", "image/png", "120×90"},
		{"a small GIF", asGIF(t, filled(12, 8, red)), "12×8", "", ""},
		{"a large one", asGIF(t, paletted), "2500×50", "image/jpeg", "2000×40"},
		{"a lossy WebP", lossy, "1×1", "", ""},
		{"a lossless one", oneColourWebP(640, 480, red), "640×480", "", ""},
		{"a large one", oneColourWebP(4000, 300, red), "4000×300", "image/jpeg", "2000×150"},
		{"a transparent one", oneColourWebP(4000, 300, glass), "4000×300", "image/png", "2000×150"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, err := Fit(c.data)
			if err != nil {
				t.Fatal(err)
			}
			if f.Was.Pixels() != c.was || f.Was.Bytes != len(c.data) || f.Type != c.kind {
				t.Errorf("was %v, copy %q; want %s, %q", f.Was, f.Type, c.was, c.kind)
			}
			if c.kind == "" {
				if !bytes.Equal(f.Data, c.data) || f.Is != f.Was || f.String() != f.Was.String() {
					t.Errorf("it did not stay as it was: %v", f)
				}
				return
			}
			m, format, err := image.Decode(bytes.NewReader(f.Data))
			if err != nil || "image/"+format != c.kind || f.Is.Pixels() != c.pixels || f.Is != SizeOf(f.Data) ||
				m.Bounds().Dx() != f.Is.Width || !f.Is.within() {
				t.Errorf("copy %s of %v, %v; want %s of %s", format, f.Is, err, c.kind, c.pixels)
			}
			if want := fmt.Sprintf("%v, sent as %v", f.Was, f.Is); f.String() != want {
				t.Errorf("said %q, want %q", f, want)
			}
		})
	}
}

// A copy that is still too large gets smaller in steps.
func TestWhatIsStillTooLargeGetsSmaller(t *testing.T) {
	for _, c := range []struct {
		alpha uint8
		most  int
		want  string
	}{
		{255, 300_000, "image/jpeg 600×400"}, {255, 100_000, "image/jpeg 450×300"}, {255, 50_000, "image/jpeg 337×225"},
		{128, 2_000_000, "image/png 600×400"}, {128, 100_000, "image/jpeg 450×300"},
	} {
		data, kind, err := shrink(noise(600, 400, c.alpha), upright, c.most)
		if got := kind + " " + SizeOf(data).Pixels(); err != nil || got != c.want || len(data) > c.most {
			t.Errorf("at most %d: %s of %d bytes, %v; want %s", c.most, got, len(data), err, c.want)
		}
	}
}

// The copy looks like the original: its quarters have the colours that they had, also at
// the seams where it was made in parts.
func TestACopyLooksLikeItsOriginal(t *testing.T) {
	for _, size := range []image.Point{{2100, 300}, {4100, 200}, {9000, 400}, {100, 5000}} {
		f, err := Fit(asPNG(t, quarters(size.X, size.Y)))
		if err != nil {
			t.Fatal(err)
		}
		m, err := jpeg.Decode(bytes.NewReader(f.Data))
		if err != nil {
			t.Fatal(err)
		}
		want := quarters(f.Is.Width, f.Is.Height)
		for y := 0; y < f.Is.Height; y += 3 {
			for x := 0; x < f.Is.Width; x += 3 {
				isEdge := max(x-f.Is.Width/2, f.Is.Width/2-x) < 20 || max(y-f.Is.Height/2, f.Is.Height/2-y) < 20
				if !isEdge && !similar(m.At(x, y), want.At(x, y)) {
					t.Fatalf("%v: %v at %d,%d is %v, want %v", size, f, x, y, m.At(x, y), want.At(x, y))
				}
			}
		}
	}
}

// Fine lines, each of a pixel, become grey, and no pattern that was not there.
func TestFineLinesBecomeGrey(t *testing.T) {
	for _, width := range []int{4000, 6000, 7900} {
		m := image.NewGray(image.Rect(0, 0, width, 40))
		for i := range m.Pix {
			m.Pix[i] = uint8(255 * (i % 2))
		}
		small := scaled(m, inside(width, 40, MostSide))
		for x := 10; x < small.Rect.Dx()-10; x++ {
			if v := int(small.RGBAAt(x, 2).R); v < 95 || v > 160 {
				t.Fatalf("%d wide: %d at %d", width, v, x)
			}
		}
	}
}

// quarters is an image of four colours.
func quarters(width, height int) *image.NRGBA {
	m := image.NewNRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			m.SetNRGBA(x, y, corners[2*(2*y/height)+2*x/width])
		}
	}
	return m
}

var corners = []color.NRGBA{{220, 20, 20, 255}, {20, 200, 20, 255}, {20, 20, 220, 255}, {250, 250, 250, 255}}

// similar reports whether two colours differ no more than a JPEG makes them.
func similar(a, b color.Color) bool {
	r, g, bl, _ := a.RGBA()
	r2, g2, bl2, _ := b.RGBA()
	near := func(a, b uint32) bool { return max(a, b)-min(a, b) < 0x1800 }
	return near(r, r2) && near(g, g2) && near(bl, bl2)
}

// withOrientation puts EXIF data with an orientation into a JPEG.
func withOrientation(jpeg []byte, order binary.AppendByteOrder, orientation uint16) []byte {
	tiff := []byte("II*\x00")
	if order == binary.AppendByteOrder(binary.BigEndian) {
		tiff = []byte("MM\x00*")
	}
	tiff = order.AppendUint32(tiff, 8)
	tiff = order.AppendUint16(tiff, 2)
	for tag, v := range map[uint16]uint16{0x0100: 7, 0x0112: orientation} {
		tiff = order.AppendUint16(order.AppendUint16(tiff, tag), 3)
		tiff = order.AppendUint16(order.AppendUint16(order.AppendUint32(tiff, 1), v), 0)
	}
	exif := append([]byte("Exif\x00\x00"), order.AppendUint32(tiff, 0)...)
	segment := append(binary.BigEndian.AppendUint16([]byte("\xFF\xE0\x00\x04JF\xFF\xFF\xE1"), uint16(2+len(exif))), exif...)
	return bytes.Join([][]byte{jpeg[:2], segment, jpeg[2:]}, nil)
}

func TestACopyOfAPhotoStandsUpright(t *testing.T) {
	photo := asJPEG(t, quarters(2100, 84), 90)
	for orientation, want := range map[uint16]string{ // the corners, by their numbers in the original
		0: "0123", 1: "0123", 2: "1032", 3: "3210", 4: "2301", 5: "0213", 6: "2031", 7: "3120", 8: "1302", 9: "0123",
	} {
		for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
			f, err := Fit(withOrientation(photo, order, orientation))
			if err != nil {
				t.Fatal(err)
			}
			size := "2000×80"
			if orientation >= 5 && orientation <= 8 {
				size = "80×2000"
			}
			m, err := jpeg.Decode(bytes.NewReader(f.Data))
			if err != nil || f.Is.Pixels() != size {
				t.Fatalf("orientation %d: %v, %v", orientation, f, err)
			}
			for i, corner := range want {
				x, y := f.Is.Width/4+i%2*f.Is.Width/2, f.Is.Height/4+i/2*f.Is.Height/2
				if !similar(m.At(x, y), corners[corner-'0']) {
					t.Errorf("orientation %d: corner %d is %v, want %v", orientation, i, m.At(x, y), corners[corner-'0'])
				}
			}
		}
	}
	small := withOrientation(asJPEG(t, quarters(300, 200), 90), binary.BigEndian, 6)
	if f, err := Fit(small); err != nil || !bytes.Equal(f.Data, small) {
		t.Errorf("a photo that is small enough did not stay as it was: %v, %v", f, err)
	}
}

func TestWhatIsTransparentBecomesWhiteInAJPEG(t *testing.T) {
	m := noise(200, 300, 255)
	for y := range 100 {
		for x := range 200 {
			m.SetNRGBA(x, y, color.NRGBA{})
		}
	}
	data, kind, err := shrink(m, upright, 100_000) // too little for a PNG
	if err != nil || kind != "image/jpeg" {
		t.Fatal(kind, err)
	}
	got, err := jpeg.Decode(bytes.NewReader(data))
	if err != nil || !similar(got.At(50, 50), color.White) {
		t.Errorf("%v, %v", got.At(50, 50), err)
	}
}

// An animation within the bounds stays one; of another the first picture is left, which may
// cover only a part.
func TestAnAnimation(t *testing.T) {
	animation := func(width int, part image.Rectangle) []byte {
		first, second := image.NewPaletted(part, palette.Plan9), image.NewPaletted(image.Rect(0, 0, width, 40), palette.Plan9)
		for i := range first.Pix {
			first.Pix[i] = uint8(first.Palette.Index(yellow))
		}
		g := &gif.GIF{Image: []*image.Paletted{first, second}, Delay: []int{1, 1}, Config: image.Config{Width: width, Height: 40}}
		return encoded(t, func(w io.Writer) error { return gif.EncodeAll(w, g) })
	}
	small := animation(100, image.Rect(0, 0, 100, 40))
	if f, err := Fit(small); err != nil || !bytes.Equal(f.Data, small) {
		t.Errorf("%v, %v", f, err)
	}
	f, err := Fit(animation(4000, image.Rect(2000, 0, 4000, 40)))
	if err != nil || f.Type != "image/png" || f.Is.Pixels() != "2000×20" {
		t.Fatal(f, err)
	}
	m, err := png.Decode(bytes.NewReader(f.Data))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, _, alpha := m.At(500, 10).RGBA(); alpha != 0 || !similar(m.At(1500, 10), yellow) {
		t.Errorf("%v and %v", m.At(500, 10), m.At(1500, 10))
	}
}

// layered is a JPEG with so many layers more, which are empty.
func layered(t *testing.T, more int) []byte {
	whole := asJPEG(t, filled(2500, 40, red), 75)
	at := bytes.Index(whole, []byte("\xFF\xDA"))
	head := whole[at : at+2+int(binary.BigEndian.Uint16(whole[at+2:]))]
	body := bytes.TrimSuffix(whole, []byte("\xFF\xD9"))
	return append(append(body, bytes.Repeat(head, more)...), "\xFF\xD9"...)
}

func TestWhatCannotBeScaled(t *testing.T) {
	whole := asPNG(t, filled(2500, 40, red))
	long := strings.Repeat("x", MostBytes)
	const unknown = "it is damaged or of a kind that is not known; make a smaller copy"
	for _, c := range []struct{ name, data, err string }{
		{"no image at all", "x", unknown},
		{"nothing", "", unknown},
		{"a head alone", "\x89PNG\r\n\x1a\n", unknown},
		{"one that is cut off", string(whole[:len(whole)/2]), "it is damaged ("},
		{"a size that nobody has pixels for", string(claiming(7999, 1)), "it is damaged ("},
		{"no image, and long", long + "x", "the image (3.8 MB) cannot be brought within what models take (2000 pixels a side, 3.75 MB), for " + unknown},
		{"cut off, and long", string(whole[:len(whole)/2]) + long, "the image (2500×40, 3.8 MB) cannot be brought within what models take"},
		{"a bomb", string(claiming(100_000, 100_000)), "it has too many pixels"},
		{"a bomb of one line", string(claiming(1<<31-1, 1)), "it has too many pixels"},
		{"a bomb that is whole", string(oneColourWebP(16384, 16384, red)), "it has too many pixels"},
		{"many layers", string(layered(t, mostScans)), "it is in more than 100 layers"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if f, err := Fit([]byte(c.data)); err == nil || !strings.Contains(err.Error(), c.err) {
				t.Fatalf("%v, error %v, want %q", f, err, c.err)
			}
		})
	}
}

// What a phone puts behind a photograph, a film for one, is no part of the picture.
func TestWhatStandsBehindAPictureDoesNotCount(t *testing.T) {
	photo := append(asJPEG(t, filled(2500, 40, red), 75), strings.Repeat("\xFF\xDA\x00\x0C film ", 1000)...)
	if f, err := Fit(append(photo, make([]byte, MostBytes)...)); err != nil || f.Is.Pixels() != "2000×32" {
		t.Errorf("%v, %v", f, err)
	}
	if n := scans(photo); n != 1 {
		t.Errorf("%d layers", n)
	}
}

// What a decoder has to hold counts, and that differs.
func TestLargerPixelsAreFewer(t *testing.T) {
	head := func(depth, interlaced byte) []byte {
		data := claiming(9000, 9000)
		data[24], data[28] = depth, interlaced
		binary.BigEndian.PutUint32(data[29:], crc32.ChecksumIEEE(data[12:29]))
		return data
	}
	progressive := asJPEG(t, filled(20, 20, red), 75)
	at := bytes.Index(progressive, []byte("\xFF\xC0"))
	progressive[at+1] = progressiveHead
	binary.BigEndian.PutUint32(progressive[at+5:], 9000<<16|9000)
	for name, c := range map[string]struct {
		data []byte
		many bool
	}{"a PNG": {head(8, 0), false}, "16 bits": {head(16, 0), false}, "16 bits, interlaced": {head(16, 1), true}, "a JPEG in layers": {progressive, true}} {
		if _, err := Fit(c.data); err == nil || strings.Contains(err.Error(), "too many pixels") != c.many {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTheSizeIsReadFromTheHead(t *testing.T) {
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"PNG": {claiming(1024, 768), "1024×768, 33 B"}, "WebP": {oneColourWebP(9, 7, red)[:26], "9×7, 26 B"},
		"nothing": {nil, "0 B"}, "no image": {[]byte("GIF89"), "5 B"},
	} {
		if got := SizeOf(c.data).String(); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// A photo of 24 megapixels is scaled while a user waits.
func BenchmarkFit(b *testing.B) {
	for name, m := range map[string]image.Image{"24 megapixels": noisyPhoto(6000, 4000), "4K": noisyPhoto(3840, 2160)} {
		for kind, data := range map[string][]byte{"jpeg": asJPEG(b, m, 90), "png": asPNG(b, m)} {
			b.Run(name+" "+kind, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := Fit(data); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// noisyPhoto has slopes and some noise.
func noisyPhoto(width, height int) *image.NRGBA {
	m := noise(width, height, 255)
	for y := range height {
		for x := range width {
			i := m.PixOffset(x, y)
			m.Pix[i] = m.Pix[i]/16 + uint8(240*x/width)
			m.Pix[i+1] = m.Pix[i+1]/16 + uint8(240*y/height)
			m.Pix[i+2] = m.Pix[i+2]/16 + uint8((x+y)%200)
		}
	}
	return m
}

// Whatever it is given, Fit returns an image within the bounds, or the same bytes, or an
// error and nothing.
func FuzzFit(f *testing.F) {
	for _, m := range []image.Image{filled(2001, 1, red), filled(1, 2001, glass), quarters(9, 7), image.NewGray16(image.Rect(0, 0, 2100, 3))} {
		f.Add(asPNG(f, m))
		f.Add(asGIF(f, m))
		photo := asJPEG(f, m, 80)
		f.Add(photo)
		f.Add(photo[:len(photo)*2/3])
		f.Add(withOrientation(photo, binary.LittleEndian, 6))
	}
	f.Add(oneColourWebP(2001, 2, glass))
	f.Add(oneColourWebP(16384, 16384, red))
	f.Add(claiming(100_000, 100_000))
	f.Add([]byte("\xFF\xD8\xFF\xE1\x00\x08Exif\x00\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		was := bytes.Clone(data)
		fitted, err := Fit(data)
		switch {
		case !bytes.Equal(data, was):
			t.Error("the image that was given is changed")
		case err != nil && (fitted.Data != nil || fitted.Type != ""):
			t.Errorf("%v, and an image", err)
		case err == nil && fitted.Type == "" && !bytes.Equal(fitted.Data, data):
			t.Error("another image, and no type")
		case err == nil && fitted.Type != "":
			if c, kind, err := image.DecodeConfig(bytes.NewReader(fitted.Data)); err != nil || "image/"+kind != fitted.Type ||
				c.Width > MostSide || c.Height > MostSide || len(fitted.Data) > MostBytes {
				t.Errorf("%v, %q of %v", err, kind, fitted.Is)
			}
		}
	})
}
