package tool

import (
	"bytes"
	"net/http"
	"strings"
)

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
