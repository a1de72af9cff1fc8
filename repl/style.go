package repl

// The few ways text is set off. A style is the parameters of a colour sequence.
type style string

const (
	styleDim     style = "2"
	styleError   style = "31"
	styleSuccess style = "32"
	styleWarning style = "33"
	styleTool    style = "36"
	styleBold    style = "1"
)

// palette colours text, or leaves it as it is.
type palette struct{ on bool }

func (p palette) paint(s style, text string) string {
	if !p.on || text == "" {
		return text
	}
	return "\x1b[" + string(s) + "m" + text + "\x1b[0m"
}

// open and close set off a piece that is written in several parts.
func (p palette) open(dst []byte, s style) []byte {
	if !p.on {
		return dst
	}
	return append(append(append(dst, "\x1b["...), s...), 'm')
}

func (p palette) close(dst []byte) []byte {
	if !p.on {
		return dst
	}
	return append(dst, "\x1b[0m"...)
}
