package tool

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// What a model gets to read of one result.
const (
	maxLines = 2000
	maxBytes = 50 * 1024
)

// Truncation is how much of a text is left. Lines are counted as an editor
// does: a newline at the end starts no further line.
type Truncation struct {
	Truncated   bool `json:"truncated"`
	TotalLines  int  `json:"totalLines"`
	OutputLines int  `json:"outputLines"`

	partial bool // the one line that is left is not whole: it is longer than maxBytes
}

// Head returns as much of the beginning of a text as a model gets to read of one result.
func Head(text string) (string, Truncation) { return head(text) }

// head returns the first lines of s that fit the limits. If even the first does not
// fit, it returns the beginning of that one.
func head(s string) (string, Truncation) {
	t := Truncation{TotalLines: countLines(s)}
	end := 0
	for end < len(s) && t.OutputLines < maxLines {
		n := lineLength(s[end:])
		if end+n > maxBytes && end+len(strings.TrimSuffix(s[end:end+n], "\n")) > maxBytes {
			break
		}
		end += n
		t.OutputLines++
	}
	if end == 0 && s != "" {
		end = cutBefore(s, maxBytes)
		t.OutputLines, t.partial = 1, true
	}
	t.Truncated = end < len(s)
	return s[:end], t
}

// tail returns the last lines of s that fit the limits. If even the last does not fit,
// it returns the end of that one.
func tail(s string) (string, Truncation) {
	t := Truncation{TotalLines: countLines(s)}
	limit := maxBytes
	if strings.HasSuffix(s, "\n") {
		limit++ // the newline at the very end is not counted
	}
	start := len(s)
	for start > 0 && t.OutputLines < maxLines {
		n := 1 + strings.LastIndexByte(s[:start-1], '\n')
		if len(s)-n > limit {
			break
		}
		start = n
		t.OutputLines++
	}
	if start == len(s) && s != "" {
		start = cutAfter(s, len(s)-limit)
		t.OutputLines, t.partial = 1, true
	}
	t.Truncated = start > 0
	return s[start:], t
}

// countLines counts lines as an editor does.
func countLines(s string) int {
	n := strings.Count(s, "\n")
	if s != "" && !strings.HasSuffix(s, "\n") {
		n++
	}
	return n
}

// lineLength is the length of the first line of s, its newline included.
func lineLength(s string) int {
	if i := strings.IndexByte(s, '\n'); i >= 0 {
		return i + 1
	}
	return len(s)
}

// cutBefore returns the last rune boundary of s at or before n.
func cutBefore(s string, n int) int {
	if n >= len(s) {
		return len(s)
	}
	for i := n; i > n-utf8.UTFMax && i > 0; i-- {
		if utf8.RuneStart(s[i]) {
			return i
		}
	}
	return n
}

// cutAfter returns the first rune boundary of s at or after n.
func cutAfter(s string, n int) int {
	for i := max(n, 0); i < len(s) && i < n+utf8.UTFMax; i++ {
		if utf8.RuneStart(s[i]) {
			return i
		}
	}
	return max(n, 0)
}

// listing is the result of a tool that lists lines: what fits, then the notes,
// then a notice if something did not fit. hint says how to see more.
func listing(lines []string, hint string, notes ...string) (string, listDetails) {
	text, t := head(strings.Join(lines, "\n"))
	text = strings.TrimSuffix(text, "\n")
	var d listDetails
	if t.Truncated {
		d.Truncation = &t
		notes = append(notes, fmt.Sprintf("[%d of %d lines shown, %s at most; %s]",
			t.OutputLines, t.TotalLines, size(maxBytes), hint))
	}
	return withNotes(text, notes...), d
}

// withNotes sets notes below a text, after an empty line.
func withNotes(text string, notes ...string) string {
	if len(notes) == 0 {
		return text
	}
	if text != "" {
		text = strings.TrimSuffix(text, "\n") + "\n\n"
	}
	return text + strings.Join(notes, "\n")
}

// size words a number of bytes for people.
func size(n int64) string {
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%d bytes", n)
	case n < 1<<20:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	case n < 1<<30:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
}

// listDetails are the details of read, grep, find and ls.
type listDetails struct {
	Truncation *Truncation `json:"truncation,omitempty"`
}
