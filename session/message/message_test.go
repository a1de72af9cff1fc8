package message

import "testing"

func TestAFileIsTakenAlongByItsBytes(t *testing.T) {
	for _, c := range []struct {
		what, name, content string
		want                Block
		ok                  bool
	}{
		{"a text", "a.txt", "hello", TextBlock("<file name=\"a.txt\">\nhello\n</file>"), true},
		{"a text without a name", "", "hello", TextBlock("hello"), true},
		{"an image", "a.txt", "\x89PNG\r\n\x1a\n0000", Block{Type: BlockImage, MimeType: "image/png", Data: "iVBORw0KGgowMDAw"}, true},
		{"a program", "a.txt", "\x7fELF\x00\xff", Block{}, false},
		{"bytes that are no text", "a.txt", "a\xff", Block{}, false},
		{"a text with a zero", "a.txt", "a\x00b", Block{}, false},
	} {
		got, ok := FileBlock(c.name, []byte(c.content))
		if ok != c.ok || got.Type != c.want.Type || got.Text != c.want.Text || got.MimeType != c.want.MimeType || got.Data != c.want.Data {
			t.Errorf("%s: %+v %v, want %+v %v", c.what, got, ok, c.want, c.ok)
		}
	}
}

func TestWhatWasTypedIsTheFirstText(t *testing.T) {
	file, image := NamedText("a.txt", "alpha"), Block{Type: BlockImage}
	for want, content := range map[string][]Block{
		"":         {},
		"see @a":   {TextBlock("see @a"), file},
		"see both": {image, TextBlock("see both"), file, image},
	} {
		if got := (&Message{Role: RoleUser, Content: content}).Typed(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
