package pick

// Palette paints text in the styles of the theme, by their names. The zero Palette leaves
// text as it is.
type Palette struct {
	On   bool // there are colours
	With func(style, text string) string
}

// Paint is text in a style.
func (p Palette) Paint(style, text string) string {
	if !p.On {
		return text
	}
	return p.With(style, text)
}
