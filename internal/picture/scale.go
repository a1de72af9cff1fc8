package picture

import (
	"image"

	"golang.org/x/image/draw"
)

// inside returns the size of an image of width by height that is scaled down so far that no
// side has more than most pixels; one that is small enough keeps its size.
func inside(width, height, most int) image.Point {
	longer := int64(max(width, height, most))
	part := func(n int) int { return max(1, int((int64(n)*int64(most)+longer/2)/longer)) }
	return image.Pt(part(width), part(height))
}

// scaled returns a copy of m of another size, which is not larger. A side that has more
// than twice the pixels is halved first: halving takes each pixel into account and needs
// little memory, of which the filter needs the more the more it leaves out.
func scaled(m image.Image, to image.Point) *image.RGBA {
	for b := m.Bounds(); b.Dx() >= 2*to.X || b.Dy() >= 2*to.Y; b = m.Bounds() {
		half := image.NewRGBA(image.Rect(0, 0, halved(b.Dx(), to.X), halved(b.Dy(), to.Y)))
		draw.ApproxBiLinear.Scale(half, half.Rect, m, b, draw.Src, nil)
		m = half
	}
	if b := m.Bounds(); b.Size() == to {
		if rgba, ok := m.(*image.RGBA); ok && b.Min == (image.Point{}) {
			return rgba
		}
		same := image.NewRGBA(image.Rectangle{Max: to})
		draw.Draw(same, same.Rect, m, b.Min, draw.Src)
		return same
	}
	return filtered(m, to)
}

// halved returns half of a side, or all of it if that is less than it has to be.
func halved(side, to int) int {
	if side < 2*to {
		return side
	}
	return (side + 1) / 2
}

// band is how many rows or columns are filtered at a time.
const band = 64

// filtered scales m with a filter that keeps text sharp: first the width, then the height,
// each in bands, so that no more than a band is on its way.
func filtered(m image.Image, to image.Point) *image.RGBA {
	b := m.Bounds()
	narrow := image.NewRGBA(image.Rect(0, 0, to.X, b.Dy()))
	rows := draw.CatmullRom.NewScaler(to.X, band, b.Dx(), band)
	for y := 0; y < b.Dy(); y += band {
		end := min(y+band, b.Dy())
		rows.Scale(narrow, image.Rect(0, y, to.X, end), m, image.Rect(0, y, b.Dx(), end).Add(b.Min), draw.Src, nil)
	}
	small := image.NewRGBA(image.Rectangle{Max: to})
	columns := draw.CatmullRom.NewScaler(band, to.Y, band, b.Dy())
	for x := 0; x < to.X; x += band {
		end := min(x+band, to.X)
		columns.Scale(small, image.Rect(x, 0, end, to.Y), narrow, image.Rect(x, 0, end, b.Dy()), draw.Src, nil)
	}
	return small
}

// onWhite returns an image as it looks on white: a JPEG has no transparency, and would have
// black in its place.
func onWhite(m *image.RGBA) *image.RGBA {
	flat := image.NewRGBA(m.Rect)
	draw.Draw(flat, flat.Rect, image.White, image.Point{}, draw.Src)
	draw.Draw(flat, flat.Rect, m, m.Rect.Min, draw.Over)
	return flat
}
