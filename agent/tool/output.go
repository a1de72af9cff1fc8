package tool

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"unicode/utf8"
)

// output keeps the end of a command's output, and more of it in a file once it is more
// than the model may read. The counts are of all of it.
type output struct {
	dir   string // for the file
	end   []byte // the last of it: all, or at least the window
	bytes int
	lines int // newlines
	file  *os.File
	saved int64 // bytes in the file
	cut   bool  // the file has the last of it only
	err   error // why there is no file
}

// Bounds of the file: a command that writes without end must not fill the disk.
// The file keeps the last keptOutput bytes. While the command runs it may have
// spareOutput more, so that it is not moved at each write.
const (
	keptOutput  = 64 << 20
	spareOutput = 32 << 20
)

// window is how much of the end is looked at: more than tail can keep, so that
// the first line that it keeps is always whole.
const window = maxBytes + 2

func newOutput(dir string) *output { return &output{dir: dir} }

// write adds output, and begins the file once there is more than the model may read.
func (o *output) write(b []byte) {
	o.bytes += len(b)
	o.lines += bytes.Count(b, []byte("\n"))
	if o.file == nil && o.err == nil && (o.bytes > maxBytes || o.lines > maxLines) {
		o.file, o.err = os.CreateTemp(o.dir, "pi-bash-*.log") // made with mode 0600
		o.save(o.end)
	}
	o.save(b)
	o.end = append(o.end, b...)
	if len(o.end) > 4*window {
		o.end = append(o.end[:0], o.end[len(o.end)-window:]...)
	}
}

// Write is write for those who want a writer. It never fails.
func (o *output) Write(b []byte) (int, error) {
	o.write(b)
	return len(b), nil
}

// save adds to the file, if there is one. If that fails the file is removed, since one
// with a gap is worth nothing.
func (o *output) save(b []byte) {
	if o.file == nil {
		return
	}
	n, err := o.file.Write(b)
	if o.saved += int64(n); err == nil && o.saved > keptOutput+spareOutput {
		err = o.shorten()
	}
	if err != nil {
		o.file.Close()
		os.Remove(o.file.Name())
		o.file, o.err = nil, err
	}
}

// shorten moves the end of the file to its beginning, from the first whole line
// that there is room for.
func (o *output) shorten() error {
	o.cut = true
	from := o.saved - keptOutput
	head := make([]byte, 64<<10)
	n, err := o.file.ReadAt(head, from-1)
	if i := bytes.IndexByte(head[:n], '\n'); i >= 0 {
		from += int64(i)
	}
	if err == nil {
		o.saved, err = io.Copy(io.NewOffsetWriter(o.file, 0), io.NewSectionReader(o.file, from, o.saved-from))
	}
	if err == nil {
		err = o.file.Truncate(o.saved)
	}
	if err == nil {
		_, err = o.file.Seek(o.saved, io.SeekStart)
	}
	return err
}

// tail returns the end of the output so far, as much as the model may read, and how
// much of all that is.
func (o *output) tail() (string, Truncation) {
	end := o.end
	if len(end) > window {
		end = end[len(end)-window:]
	}
	text, t := tail(string(end))
	t.TotalLines = o.lines
	if len(end) > 0 && end[len(end)-1] != '\n' {
		t.TotalLines++
	}
	return cleanText(text), t
}

// finish returns the end of the output and closes the file with more of it. The file is
// removed, and path is empty, if the text is all of the output.
func (o *output) finish() (text string, t Truncation, path string, err error) {
	text, t = o.tail()
	if o.file != nil {
		path = o.file.Name()
		e := error(nil)
		if o.saved > keptOutput {
			e = o.shorten()
		}
		if e = errors.Join(e, o.file.Close()); e != nil {
			os.Remove(path)
			path, o.err = "", e
		}
		o.file = nil
	}
	if t.Truncated {
		return text, t, path, o.err
	}
	if path != "" {
		os.Remove(path)
	}
	return text, t, "", nil
}

// sequences are the control sequences of terminals: CSI, OSC and two-byte ones.
const sequences = `\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[@-_a-z0-9=>]`

// cleanText removes from a command's output what means something to a terminal only,
// and replaces what is not UTF-8.
func cleanText(s string) string {
	s = validText([]byte(s))
	if strings.IndexByte(s, 0x1b) >= 0 {
		s = regexp.MustCompile(sequences).ReplaceAllString(s, "")
	}
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' && r != '\r' {
			return -1
		}
		return r
	}, strings.ReplaceAll(s, "\r\n", "\n"))
}

func validText(b []byte) string { return strings.ToValidUTF8(string(b), "\uFFFD") }

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
