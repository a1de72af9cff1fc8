package cells

import "strings"

// Cut shortens a line to a number of columns: what is missing is shown by an ellipsis,
// which counts too. Colours that the line leaves open are ended. With 0 columns or less
// the line stays as long as it is.
func Cut(s string, columns int) string {
	if columns <= 0 || plain(s) == len(s) && len(s) <= columns {
		return s
	}
	var now, have pen // what the text sets, and what is set at the end of out
	out := make([]byte, 0, min(len(s), 4*columns)+8)
	room, ellipsis := columns, ""
	if Width(s) > columns {
		room, ellipsis = columns-1, "…"
	}
	for piece, width := range Pieces(s) {
		if width > room {
			break
		}
		room -= width
		if piece[0] == esc {
			now.apply(piece)
			continue
		}
		out = have.change(out, &now)
		have = now
		if piece == "\t" {
			piece = " "
		}
		out = append(out, piece...)
	}
	return string(have.change(append(out, ellipsis...), &pen{}))
}

// keepEnd returns the last cells of a text: blanks at its beginning give way first, then
// its first clusters, never its sequences.
func keepEnd(s string, columns int) string {
	surplus := Width(s) - columns
	switch {
	case surplus <= 0:
		return s
	case columns <= 0:
		return ""
	}
	var out strings.Builder
	for piece, width := range Pieces(s) {
		if width == 0 || surplus <= 0 {
			out.WriteString(piece)
		}
		surplus -= width
	}
	return out.String()
}
