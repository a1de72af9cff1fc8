package message

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"unicode/utf8"
)

// FileBlock is a file that goes along with a prompt: an image, known by its bytes and
// not by its name, as an image block, a text as a text block that names the file
// ("" names none). It reports false for anything else.
func FileBlock(name string, content []byte) (b Block, ok bool) {
	if kind := ImageType(content); kind != "" {
		return ImageBlock(kind, content), true
	}
	if !utf8.Valid(content) || bytes.IndexByte(content, 0) >= 0 {
		return Block{}, false
	}
	return NamedText(name, string(content)), true
}

// ImageBlock is an image, of a MIME type, as a block.
func ImageBlock(kind string, content []byte) Block {
	return Block{Type: BlockImage, MimeType: kind, Data: base64.StdEncoding.EncodeToString(content)}
}

// NamedText is a text block that says which file the text is of; "" is none.
func NamedText(name, text string) Block {
	if name == "" {
		return TextBlock(text)
	}
	return TextBlock(fmt.Sprintf("<file name=%q>\n%s\n</file>", name, text))
}

// ImageType is the MIME type of an image that models can see, or "". It goes by the
// first bytes of a file, 12 of them: names lie.
func ImageType(start []byte) string {
	switch {
	case bytes.HasPrefix(start, []byte("\x89PNG\r\n\x1a\n")):
		return "image/png"
	case bytes.HasPrefix(start, []byte("\xFF\xD8\xFF")):
		return "image/jpeg"
	case bytes.HasPrefix(start, []byte("GIF87a")), bytes.HasPrefix(start, []byte("GIF89a")):
		return "image/gif"
	case len(start) >= 12 && bytes.HasPrefix(start, []byte("RIFF")) && string(start[8:12]) == "WEBP":
		return "image/webp"
	}
	return ""
}
