package llm

import "strings"

// chunk is the size of the pieces of a longText, in bytes.
const chunk = 64 << 10

// longText is text that grows piece by piece, as an answer does. It is kept in
// chunks: a text of many megabytes that grows in one place is copied again and
// again, and each copy is garbage of its size. The zero value is empty.
type longText struct {
	full []string
	last strings.Builder
}

// add appends s. Chunks that are full are never copied again, so a long text grows in
// linear time.
func (t *longText) add(s string) {
	if t.last.Len() > 0 && t.last.Len()+len(s) > chunk {
		t.full = append(t.full, t.last.String())
		t.last = strings.Builder{}
		t.last.Grow(chunk)
	}
	t.last.WriteString(s)
}

func (t *longText) reset() { *t = longText{} }

// String returns the whole text. It joins the chunks anew at each call, so it is not
// cheap.
func (t *longText) String() string {
	if len(t.full) == 0 {
		return t.last.String()
	}
	return strings.Join(append(t.full[:len(t.full):len(t.full)], t.last.String()), "")
}

// head returns the beginning of the text, whole chunks with at least n bytes, or all of
// it.
func (t *longText) head(n int) string {
	size := 0
	for i, part := range t.full {
		if size += len(part); size >= n {
			return strings.Join(t.full[:i+1], "")
		}
	}
	return t.String()
}

func (t *longText) empty() bool { return len(t.full) == 0 && t.last.Len() == 0 }
