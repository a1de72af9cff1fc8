package tool

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"pi/agent"
	"pi/internal/picture"
	"pi/internal/printable"
	"pi/session/message"
)

//go:embed read.md
var readText string

const readSchema = `{
  "type": "object",
  "properties": {
    "path": {"type": "string", "description": "File to read, relative to the working directory or absolute"},
    "offset": {"type": "integer", "minimum": 1, "description": "Line to start at; the first line is 1"},
    "limit": {"type": "integer", "minimum": 1, "description": "How many lines to read"}
  },
  "required": ["path"],
  "additionalProperties": false
}`

type readArgs struct {
	Path   string `json:"path"`
	Offset whole  `json:"offset"`
	Limit  whole  `json:"limit"`
}

// read shows a text file, or some of its lines, or an image. It remembers how the file
// was, for a later write.
func (k *kit) read(ctx context.Context, a readArgs, _ agent.Update) (agent.Result, error) {
	p, info, err := k.locateExisting(a.Path)
	if errors.Is(err, fs.ErrNotExist) {
		if text, ok := k.unsaved(ctx, p); ok {
			return k.readText(p, text, a)
		}
	}
	if err != nil {
		return agent.Result{}, fmt.Errorf("read: %w", err)
	}
	if info.IsDir() {
		return agent.Result{}, fmt.Errorf("read %s: it is a directory; use ls to list it", p.name)
	}
	if !info.Mode().IsRegular() {
		return agent.Result{}, fmt.Errorf("read %s: it is %s, not a regular file; use bash if it must be read", p.name, kindOf(info.Mode()))
	}
	if f, ok := k.reader(p); ok {
		text, err := f.load(ctx)
		if err != nil {
			return agent.Result{}, fmt.Errorf("read %s: %w", p.name, err)
		}
		return k.readText(p, text, a)
	}
	r, fileState, err := k.readFile(ctx, p, info, a)
	if err != nil {
		return agent.Result{}, fmt.Errorf("read %s: %w", p.name, err)
	}
	k.note(p, fileState)
	r.Touched = k.touched(p, int(a.Offset))
	return r, nil
}

// readText is read for a file whose text the front end has.
func (k *kit) readText(p location, text []byte, a readArgs) (agent.Result, error) {
	r, err := readLines(bufio.NewReader(bytes.NewReader(bytes.TrimPrefix(text, utf8BOM))), p, a)
	if err != nil {
		return agent.Result{}, fmt.Errorf("read %s: %w", p.name, err)
	}
	k.note(p, stateOf(text))
	r.Touched = k.touched(p, int(a.Offset))
	return r, nil
}

// readFile reads a file that info describes, and returns the state in which it was. One
// that grows while it is read, as some of the system do without end, is not read to its
// end.
func (k *kit) readFile(ctx context.Context, p location, info fs.FileInfo, a readArgs) (agent.Result, fileState, error) {
	f, err := p.open()
	if err != nil {
		return agent.Result{}, fileState{}, plain(err)
	}
	defer f.Close()
	_ = f.SetReadDeadline(time.Now().Add(maxSilence)) // regular files have none, and never wait
	sum := sha256.New()
	whole := io.TeeReader(io.LimitReader(&ctxReader{ctx, f}, info.Size()+maxSearch), sum)
	result, err := k.readContent(bufio.NewReaderSize(whole, 64<<10), p, a)
	s := fileState{size: info.Size(), modified: info.ModTime()}
	copy(s.sum[:], sum.Sum(nil))
	return result, s, err
}

// readContent makes the result of a file, text or image. It reads to the end, so that
// the caller has a hash of the whole file, unless there is an error.
func (k *kit) readContent(r *bufio.Reader, p location, a readArgs) (agent.Result, error) {
	start, err := r.Peek(sniffLength)
	if err != nil && !errors.Is(err, io.EOF) {
		return agent.Result{}, plain(err)
	}
	if mime := message.ImageType(start); mime != "" {
		return k.readImage(r, p, mime)
	}
	if kind := binaryType(start); kind != "" {
		return agent.Result{}, fmt.Errorf("it is a binary file (%s) and cannot be shown as text; use bash with a program made for it", kind)
	}
	if bytes.HasPrefix(start, utf8BOM) {
		r.Discard(len(utf8BOM))
	}
	return readLines(r, p, a)
}

// readImage returns an image as a block, with a line about it. One that is too large for
// models becomes a smaller copy; where that is not wanted, or not possible, it fails.
func (k *kit) readImage(r io.Reader, p location, mime string) (agent.Result, error) {
	scales := k.ImageScale != nil && k.ImageScale()
	most := picture.MostBytes
	if scales {
		most = picture.MostRead
	}
	data, err := io.ReadAll(io.LimitReader(r, int64(most)+1))
	if err != nil {
		return agent.Result{}, plain(err)
	}
	if len(data) > most {
		return agent.Result{}, fmt.Errorf("it is an image (%s) of more than %s, too large to be sent; make a smaller copy with bash and read that", mime, printable.Bytes(most))
	}
	f := picture.Fitted{Data: data, Is: picture.SizeOf(data)}
	if scales {
		k.scaling.Lock()
		defer k.scaling.Unlock()
		if f, err = picture.Fit(data); err != nil {
			return agent.Result{}, err
		}
	}
	result := textResult(fmt.Sprintf("Image %s (%s, %v)", p.name, mime, f), listDetails{})
	result.Content = append(result.Content, message.ImageBlock(cmp.Or(f.Type, mime), f.Data))
	return result, nil
}

// readLines reads the lines that were asked for and counts all the others.
func readLines(r *bufio.Reader, p location, a readArgs) (agent.Result, error) {
	first, limit := a.Offset.or(1), a.Limit.or(maxLines)
	text, total, err := excerpt(r, first, min(limit, maxLines))
	if err != nil {
		return agent.Result{}, plain(err)
	}
	if total == 0 && first == 1 {
		return textResult("(the file is empty)", listDetails{}), nil
	}
	if first > total {
		return agent.Result{}, fmt.Errorf("offset %d is past the end: the file has %s", first, printable.Count(total, "line"))
	}
	kept, t := head(text)
	t.TotalLines = total
	last := first + t.OutputLines - 1
	t.Truncated = t.partial || last < min(total, first+limit-1) || last < total && a.Limit <= 0
	var d listDetails
	if t.Truncated {
		d.Truncation = &t
	}
	var notes []string
	if !utf8.ValidString(kept) {
		kept = strings.ToValidUTF8(kept, "\uFFFD")
		notes = append(notes, "[the file is not valid UTF-8: every \uFFFD stands for bytes that are something else]")
	}
	if t.partial {
		notes = append(notes, fmt.Sprintf("[only the first %s of line %d; the rest with bash: sed -n '%dp' FILE | tail -c +%d]",
			size(int64(len(kept))), first, first, len(kept)+1))
	}
	if last < total {
		notes = append(notes, fmt.Sprintf("[lines %d-%d of %d; more with offset=%d]", first, last, total, last+1))
	}
	return textResult(withNotes(kept, notes...), d), nil
}

// excerpt returns the lines from first on, at most count, but little more than
// maxBytes of them, and the number of lines that there are in all.
func excerpt(r *bufio.Reader, first, count int) (text string, total int, err error) {
	var b strings.Builder
	atStart := true
	for {
		chunk, err := r.ReadSlice('\n')
		if len(chunk) > 0 {
			if atStart {
				total++
			}
			if total >= first && total < first+count && b.Len() <= maxBytes+utf8.UTFMax {
				b.Write(chunk)
			}
			atStart = chunk[len(chunk)-1] == '\n'
		}
		switch {
		case errors.Is(err, io.EOF):
			return b.String(), total, nil
		case err != nil && !errors.Is(err, bufio.ErrBufferFull):
			return "", 0, err
		}
	}
}

// sniffLength is how many bytes at the start of a file tell what it is.
const sniffLength = 8 << 10

var utf8BOM = []byte("\xEF\xBB\xBF")

// binaryType names the type of a file by its first bytes; "" if it is text.
func binaryType(start []byte) string {
	for _, k := range binaryKinds {
		if strings.HasPrefix(string(start), k.magic) {
			return k.name
		}
	}
	if bytes.IndexByte(start, 0) < 0 {
		return ""
	}
	kind := http.DetectContentType(start)
	if strings.HasPrefix(kind, "text/") {
		return "application/octet-stream"
	}
	return kind
}

// binaryKinds are kinds that the standard library does not know, or whose
// beginning may look like text.
var binaryKinds = []struct{ magic, name string }{
	{"\x7FELF", "ELF program or library"},
	{"MZ\x90\x00", "Windows program"},
	{"\xCF\xFA\xED\xFE", "Mach-O program or library"},
	{"\xCE\xFA\xED\xFE", "Mach-O program or library"},
	{"\xCA\xFE\xBA\xBE", "Java class or Mach-O universal program"},
	{"SQLite format 3\x00", "SQLite database"},
	{"!<arch>\n", "static library or Debian package"},
	{"%PDF-", "application/pdf"},
	{"PK\x03\x04", "application/zip"},
	{"\x1F\x8B", "application/gzip"},
	{"BZh", "application/x-bzip2"},
	{"\xFD7zXZ\x00", "application/x-xz"},
	{"\x28\xB5\x2F\xFD", "application/zstd"},
	{"7z\xBC\xAF\x27\x1C", "application/x-7z-compressed"},
	{"\xFF\xFE", "UTF-16 text; convert it with iconv -f UTF-16 -t UTF-8"},
	{"\xFE\xFF", "UTF-16 text; convert it with iconv -f UTF-16 -t UTF-8"},
}
