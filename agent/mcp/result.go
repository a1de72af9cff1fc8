package mcp

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"mime"
	"os"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"pi/agent"
	"pi/agent/tool"
	"pi/internal/printable"
	"pi/session/message"
)

// What a server sends becomes what any tool gives: texts and images for the model, everything
// else in files that are named, and what is too long cut, with all of it in a file.

// details are those of a result.
type details struct {
	Server            string           `json:"server"`
	Tool              string           `json:"tool,omitempty"`
	StructuredContent json.RawMessage  `json:"structuredContent,omitempty"`
	Truncation        *tool.Truncation `json:"truncation,omitempty"`
	FullOutputPath    string           `json:"fullOutputPath,omitempty"`
	Files             []string         `json:"files,omitempty"`
}

// writer makes a result of what a server sends.
type writer struct {
	details details
	blocks  []message.Block
}

// result is what a call gives. notes are what the model is told behind it.
func (w *writer) result(r *sdk.CallToolResult, notes []string) *Result {
	for _, content := range r.Content {
		w.add(content)
	}
	if r.StructuredContent != nil {
		w.details.StructuredContent, _ = encode(r.StructuredContent) // it was JSON
		if !w.hasText() {
			w.text(string(w.details.StructuredContent))
		}
	}
	result := w.finish(notes)
	result.Tool.IsError = r.IsError
	return result
}

func (w *writer) hasText() bool {
	for _, b := range w.blocks {
		if b.Type == message.BlockText {
			return true
		}
	}
	return false
}

// finish returns the result of what was added.
func (w *writer) finish(notes []string) *Result {
	w.cut()
	for _, note := range notes {
		w.text(note)
	}
	r := &Result{Structured: w.details.StructuredContent}
	r.Tool.Content = w.blocks
	r.Tool.Details, _ = encode(w.details)
	return r
}

func (w *writer) text(text string) { w.blocks = append(w.blocks, message.TextBlock(text)) }

// add adds one of the contents of a result or a message.
func (w *writer) add(content sdk.Content) {
	switch c := content.(type) {
	case *sdk.TextContent:
		w.text(printable.Text(c.Text))
	case *sdk.ImageContent:
		w.bytes(c.Data, c.MIMEType)
	case *sdk.AudioContent:
		w.bytes(c.Data, c.MIMEType)
	case *sdk.ResourceLink:
		w.text(linkRow(c))
	case *sdk.EmbeddedResource:
		if c.Resource != nil {
			w.resource(c.Resource)
		}
	default:
		w.text(fmt.Sprintf("[content of a kind that is not known here: %T]", content))
	}
}

// linkRow is a link to a resource in a row.
func linkRow(c *sdk.ResourceLink) string {
	row := fmt.Sprintf("[resource %s: %s", cmp.Or(cleanText(printable.Line(c.Name), 200), "without a name"), printable.Line(c.URI))
	if c.MIMEType != "" {
		row += ", " + printable.Line(c.MIMEType)
	}
	if c.Size != nil {
		row += ", " + printable.Size(*c.Size)
	}
	if d := cleanText(printable.Line(c.Description), 300); d != "" {
		row += ": " + d
	}
	return row + "]"
}

// resource adds what a resource has in it.
func (w *writer) resource(r *sdk.ResourceContents) {
	if len(r.Blob) > 0 {
		w.bytes(r.Blob, r.MIMEType)
		return
	}
	w.text(printable.Text(r.Text))
}

// bytes adds an image, or writes a file of what is none.
func (w *writer) bytes(data []byte, kind string) {
	kind, _, _ = mime.ParseMediaType(kind)
	switch kind {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
		w.blocks = append(w.blocks, message.Block{Type: message.BlockImage, Data: base64.StdEncoding.EncodeToString(data), MimeType: kind})
		return
	}
	path, err := writeTemp(data, ending(kind))
	if err != nil {
		w.text(fmt.Sprintf("[%s, %s, which cannot be kept: %v]", cmp.Or(kind, "bytes"), printable.Size(int64(len(data))), err))
		return
	}
	w.details.Files = append(w.details.Files, path)
	w.text(fmt.Sprintf("[%s, %s: %s]", cmp.Or(kind, "bytes"), printable.Size(int64(len(data))), path))
}

// ending is the usual end of the name of a file of that kind.
func ending(kind string) string { return cmp.Or(endings()[kind], ".bin") }

// endings are the usual ones. The tables of the machine are not asked: they are others on each, and
// have no order.
func endings() map[string]string {
	return map[string]string{
		"audio/aac": ".aac", "audio/flac": ".flac", "audio/mp4": ".m4a", "audio/mpeg": ".mp3", "audio/ogg": ".ogg", "audio/wav": ".wav",
		"audio/webm": ".webm", "audio/x-wav": ".wav", "video/mp4": ".mp4", "video/mpeg": ".mpg", "video/quicktime": ".mov", "video/webm": ".webm",
		"image/avif": ".avif", "image/bmp": ".bmp", "image/heic": ".heic", "image/svg+xml": ".svg", "image/tiff": ".tif", "image/x-icon": ".ico",
		"application/gzip": ".gz", "application/x-gzip": ".gz", "application/x-tar": ".tar", "application/zip": ".zip", "application/zstd": ".zst",
		"application/x-bzip2": ".bz2", "application/x-7z-compressed": ".7z", "application/x-xz": ".xz",
		"application/json": ".json", "application/pdf": ".pdf", "application/rtf": ".rtf", "application/wasm": ".wasm", "application/xml": ".xml",
		"application/yaml": ".yaml", "application/toml": ".toml", "application/epub+zip": ".epub", "application/vnd.sqlite3": ".sqlite",
		"application/msword": ".doc", "application/vnd.ms-excel": ".xls", "application/vnd.ms-powerpoint": ".ppt",
		"application/vnd.openxmlformats-officedocument.wordprocessingml.document":   ".docx",
		"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet":         ".xlsx",
		"application/vnd.openxmlformats-officedocument.presentationml.presentation": ".pptx",
		"text/css": ".css", "text/csv": ".csv", "text/html": ".html", "text/javascript": ".js", "text/markdown": ".md", "text/plain": ".txt", "text/xml": ".xml",
	}
}

// writeTemp writes a file that others cannot read, and returns its path.
func writeTemp(data []byte, end string) (path string, err error) {
	f, err := os.CreateTemp("", "pi-mcp-*"+end)
	if err != nil {
		return "", err
	}
	_, err = f.Write(data)
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		os.Remove(f.Name())
		return "", err
	}
	return f.Name(), nil
}

// cut cuts the texts of the result where they are together longer than a model may read, and
// keeps all of them in a file.
func (w *writer) cut() {
	var all []string
	for _, b := range w.blocks {
		if b.Type == message.BlockText {
			all = append(all, b.Text)
		}
	}
	whole := strings.Join(all, "\n")
	shown, t := tool.Head(whole)
	if !t.Truncated {
		return
	}
	note := "[" + printable.Count(t.OutputLines, "line") + " of " + printable.Grouped(t.TotalLines) + " shown"
	path, err := writeTemp([]byte(whole), ".txt")
	if err != nil {
		note += fmt.Sprintf("; the rest is lost: %v]", err)
	} else {
		note += "; all of it: " + path + "]"
	}
	w.details.Truncation, w.details.FullOutputPath = &t, path
	images := w.blocks[:0:0]
	for _, b := range w.blocks {
		if b.Type != message.BlockText {
			images = append(images, b)
		}
	}
	w.blocks = append([]message.Block{message.TextBlock(shown + "\n\n" + note)}, images...)
}

// failure is the result of a call that failed, for the model.
func failure(err error, notes []string) agent.Result {
	r := agent.TextResult(strings.Join(append([]string{err.Error()}, notes...), "\n"))
	r.IsError = true
	return r
}
