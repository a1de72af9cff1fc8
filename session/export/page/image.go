package page

import (
	"encoding/base64"
	"strings"

	"pi/internal/markup"
	"pi/internal/picture"
	"pi/session/message"
)

// image writes an image into the page if its bytes begin as those of a PNG, JPEG, GIF or WebP
// do. Anything else, an SVG or a page that says it is an image, is named only.
func (p *page) image(b message.Block) {
	mime, width, height := imageHead(b.Data)
	if mime == "" || !isBase64(b.Data) {
		p.w.Raw(`<p class="stop">an image that is not shown: `)
		p.w.Line(b.MimeType)
		p.w.Raw("</p>")
		return
	}
	p.w.Raw(`<img alt="image" loading="lazy" decoding="async"`)
	if width > 0 && height > 0 && width < 1<<20 && height < 1<<20 {
		p.number("width", width)
		p.number("height", height)
	}
	p.w.Attr("src", "data:", mime, ";base64,", b.Data)
	p.w.Raw("/>")
}

func (p *page) number(name markup.Literal, n int) {
	p.w.Raw(" ")
	p.w.Raw(name)
	p.w.Raw(`="`)
	p.w.Int(n)
	p.w.Raw(`"`)
}

// imageHead reads the type and the size of an image from the beginning of its data; the type is
// "" if it is none that a page shows.
func imageHead(data string) (mime string, width, height int) {
	const enough = 64 << 10 // of a JPEG the size may be behind other things
	head, err := base64.StdEncoding.DecodeString(data[:min(len(data), enough)/4*4])
	if err != nil && len(data) > enough {
		return "", 0, 0
	}
	size := picture.SizeOf(head)
	return message.ImageType(head), size.Width, size.Height
}

// isBase64 reports whether a text consists of the characters of base64.
func isBase64(s string) bool {
	s = strings.TrimRight(s, "=")
	return strings.IndexFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '+' || r == '/')
	}) < 0
}
