package child

import (
	"slices"
	"strings"
	"testing"
)

// pieces is what a stream that is read in parts of n bytes is divided into, and how many bytes
// the pieces stand for.
func pieces(in string, n int, f Form) (all []string, total int) {
	s := &Stream{}
	for more := true; more; {
		part := in[:min(n, len(in))]
		in = in[len(part):]
		s.rest = append(s.rest, part...)
		more = len(in) > 0
		s.ended = !more
		for {
			piece, size := s.next(f)
			if size == 0 {
				break
			}
			s.rest = s.rest[size:]
			all, total = append(all, piece), total+size
		}
	}
	return all, total
}

// FuzzPieces: a stream comes as it was written, however it is read; its lines are those of
// strings.Lines.
func FuzzPieces(f *testing.F) {
	for _, in := range []string{"", "a\nb\r\n\nlast", "ä€öü", "\xff\xfe\n\xe2\x82", "\r\r\n\n\r", "12345678\n1234567890\n"} {
		f.Add(in, 3, 4)
	}
	f.Fuzz(func(t *testing.T, in string, n, max int) {
		n, max = 1+(n%50+50)%50, 1+(max%50+50)%50
		parts, total := pieces(in, n, Form{Max: max})
		if total != len(in) || strings.Join(parts, "") != in {
			t.Errorf("%q as it comes: %q", in, parts)
		}
		lines, total := pieces(in, n, Form{Lines: true, Max: max})
		if total != len(in) {
			t.Errorf("%q in lines: %d of %d bytes in %q", in, total, len(in), lines)
		}
		for _, piece := range append(parts, lines...) {
			if len(piece) > max {
				t.Errorf("%q is longer than %d", piece, max)
			}
		}
		var want []string
		for line := range strings.Lines(in) {
			if whole, ended := strings.CutSuffix(line, "\n"); ended {
				line = strings.TrimSuffix(whole, "\r")
			}
			want = append(want, line)
		}
		if lines, _ := pieces(in, n, Form{Lines: true, Max: len(in) + 1}); !slices.Equal(lines, want) {
			t.Errorf("%q in lines: %q, want %q", in, lines, want)
		}
	})
}
