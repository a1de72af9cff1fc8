// Package picture makes images small enough for models.
//
// [Fit] returns an image of at most [MostSide] pixels a side and [MostBytes] bytes. One
// that is within these bounds keeps its bytes; of another a smaller copy is made: a JPEG, or
// a PNG where it is transparent. The copy keeps the proportions, is turned as the EXIF data
// of a JPEG say, and has only the first picture of an animation.
//
// The bounds are those of the strictest server: Anthropic's refuses an image of more than
// 5 MB in base64 or 8000 pixels a side, and of more than 2000 where a conversation has
// more than twenty of them. As a conversation is sent whole each time, one such image would
// have all further requests refused.
//
// Images come from anywhere. What an image claims to be is looked at before it is decoded,
// and what decoding and scaling take is bounded by that, at about a gigabyte: a photograph of
// 100 megapixels is scaled, one in layers of half of that.
package picture

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"image"
	"image/color"
	_ "image/gif" // the formats that are known, for image.Decode
	"image/jpeg"
	"image/png"
	"strings"

	"pi/internal/printable"

	"golang.org/x/image/draw"
	_ "golang.org/x/image/webp"
)

// Bounds of images.
const (
	MostSide  = 2000        // pixels of a side of what Fit returns
	MostBytes = 3_750_000   // bytes of what Fit returns: 5 MB in base64
	MostRead  = 64 << 20    // bytes of a file that Fit is worth being given
	decodable = 800_000_000 // bytes that a decoder may have to hold
	quality   = 80          // of a JPEG
)

// Size is how large an image is.
type Size struct {
	Width, Height int // in pixels; 0: not known
	Bytes         int
}

// SizeOf is the size of an image of which data is the beginning, as its head states it.
func SizeOf(data []byte) Size {
	c, _, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return Size{Bytes: len(data)}
	}
	return Size{c.Width, c.Height, len(data)}
}

// Pixels words width and height, such as 1024×768; "" if they are not known.
func (s Size) Pixels() string {
	if s.Width <= 0 || s.Height <= 0 {
		return ""
	}
	return fmt.Sprintf("%d×%d", s.Width, s.Height)
}

// String words the size for people, such as 1024×768, 1.2 MB.
func (s Size) String() string {
	bytes := printable.Size(int64(s.Bytes))
	if pixels := s.Pixels(); pixels != "" {
		return pixels + ", " + bytes
	}
	return bytes
}

// within reports whether an image of this size is within the bounds.
func (s Size) within() bool {
	return s.Bytes <= MostBytes && s.Width <= MostSide && s.Height <= MostSide
}

// IsWithin reports whether an image, in base64, is within the bounds, by its head and its
// length. Where it says no, [Fit] knows.
func IsWithin(encoded string) bool {
	c, _, err := image.DecodeConfig(base64.NewDecoder(base64.StdEncoding, strings.NewReader(encoded)))
	size := Size{c.Width, c.Height, base64.StdEncoding.DecodedLen(len(encoded))}
	return err == nil && size.Width > 0 && size.within()
}

// Fitted is an image within the bounds.
type Fitted struct {
	Data    []byte
	Type    string // the MIME type of a copy; "" if Data are the bytes that were given
	Was, Is Size
}

// String words the sizes for people: of an image that stayed as it is the one, of another
// both, such as 4000×3000, 9.1 MB, sent as 2000×1500, 412.3 kB.
func (f Fitted) String() string {
	if f.Type == "" {
		return f.Is.String()
	}
	return fmt.Sprintf("%v, sent as %v", f.Was, f.Is)
}

// Fit returns the image data within the bounds. The error says why there is no image that
// could be sent, and what to do: servers refuse one that is none, each time anew.
func Fit(data []byte) (Fitted, error) {
	f := Fitted{Data: data, Was: SizeOf(data)}
	f.Is = f.Was
	if f.Was.within() && f.Was.Width > 0 {
		return f, nil
	}
	m, err := decode(data)
	if err != nil {
		return Fitted{}, fmt.Errorf("the image (%v) cannot be brought within what models take (%d pixels a side, 3.75 MB), for %w; make a smaller copy as PNG or JPEG",
			f.Was, MostSide, err)
	}
	f.Data, f.Type, err = shrink(m, orientation(data), MostBytes)
	f.Is = SizeOf(f.Data)
	return f, err
}

// decode decodes the image data: of an animation the first picture, in its place.
func decode(data []byte) (image.Image, error) {
	claimed, format, err := image.DecodeConfig(bytes.NewReader(data))
	switch {
	case err != nil || claimed.Width <= 0 || claimed.Height <= 0:
		return nil, errors.New("it is damaged or of a kind that is not known")
	case claimed.Width > decodable/claimed.Height/perPixel(claimed, format, data):
		return nil, errors.New("it has too many pixels")
	case format == "jpeg" && scans(data) > mostScans:
		return nil, fmt.Errorf("it is in more than %d layers", mostScans)
	}
	m, _, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("it is damaged (%w)", err)
	}
	if canvas := image.Rect(0, 0, claimed.Width, claimed.Height); m.Bounds() != canvas {
		whole := image.NewNRGBA(canvas)
		draw.Draw(whole, m.Bounds(), m, m.Bounds().Min, draw.Src)
		return whole, nil
	}
	return m, nil
}

// perPixel is how many bytes a decoder holds for each pixel: those of the picture, twice of an
// interlaced PNG, and of a JPEG in layers four more for each colour.
func perPixel(c image.Config, format string, data []byte) int {
	bytes := 4
	switch c.ColorModel {
	case color.RGBA64Model, color.NRGBA64Model:
		bytes = 8
	case color.CMYKModel, color.YCbCrModel, color.NYCbCrAModel:
		bytes = 4
	}
	const interlace = 28 // where the head of a PNG says that it is interlaced
	switch {
	case format == "png" && len(data) > interlace && data[interlace] != 0:
		bytes *= 2
	case format == "jpeg" && isLayered(data):
		bytes *= 5
	}
	return bytes
}

// shrink encodes a copy of m of at most so many bytes and [MostSide] pixels a side, turned
// as its EXIF orientation says.
func shrink(m image.Image, orientation, most int) (data []byte, kind string, err error) {
	b := m.Bounds()
	small := turned(scaled(m, inside(b.Dx(), b.Dy(), MostSide)), orientation)
	if !small.Opaque() {
		if data, err = encode(small, "image/png"); err == nil && len(data) <= most {
			return data, "image/png", nil
		}
		small = onWhite(small)
	}
	for {
		data, err = encode(small, "image/jpeg")
		if err != nil || len(data) <= most {
			return data, "image/jpeg", err
		}
		// Even noise of 2000 by 2000 is within the bounds as a JPEG; this is for what nobody thought of.
		b := small.Rect
		small = scaled(small, inside(b.Dx(), b.Dy(), max(b.Dx(), b.Dy())*3/4))
	}
}

// encode encodes an image in one of the two types that copies have.
func encode(m image.Image, kind string) ([]byte, error) {
	var b bytes.Buffer
	var err error
	if kind == "image/png" {
		err = png.Encode(&b, m)
	} else {
		err = jpeg.Encode(&b, m, &jpeg.Options{Quality: quality})
	}
	if err != nil {
		return nil, fmt.Errorf("encode the smaller image: %w", err)
	}
	return b.Bytes(), nil
}
