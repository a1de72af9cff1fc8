package edit

import (
	"strings"
	"testing"
)

func TestABoxIsEditedAsTheInputIs(t *testing.T) {
	x := &Box{Prompt: "> ", Placeholder: "what is new", Faint: func(text string) string { return "<" + text + ">" }}
	if v := x.Render(8, 3); strings.Join(v.Rows, "|") != "> <what …>" || v.Row != 0 || v.Column != 2 {
		t.Errorf("empty it is %q, the cursor at %d, %d", v.Rows, v.Row, v.Column)
	}
	for _, c := range []struct {
		name, text string
		want       Outcome
	}{
		{"a", "a", Used}, {"ctrl+j", "", Used}, {"b", "b", Used}, {"shift+enter", "", Used}, {"paste", "c\r\nd", Used},
		{"up", "", Used}, {"up", "", Used}, {"up", "", Used}, {"up", "", Unused}, {"x", "x", Used}, {"f5", "", Unused},
		{"down", "", Used}, {"enter", "", Submitted}, {"esc", "", Cancelled}, {"ctrl+c", "", Cancelled}, {"ctrl+d", "", Used},
	} {
		if got := x.Key(c.name, c.text); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
	if got := x.Text(); got != "ax\nbc\nd" {
		t.Errorf("the text is %q", got)
	}
	if v := x.Render(8, 2); strings.Join(v.Rows, "|") != "> ax|  bc" || v.Row != 1 || v.Column != 3 || v.Below != 1 {
		t.Errorf("two rows of it are %q, the cursor at %d, %d", v.Rows, v.Row, v.Column)
	}
	x.Set("")
	if got := x.Key("ctrl+d", ""); got != Cancelled {
		t.Errorf("Ctrl+D without a text: %v", got)
	}
	x.Key("paste", strings.Repeat("line\n", 10))
	if v := x.Render(40, 3); !strings.Contains(v.Rows[0], "[paste #1: 10 lines") || x.Text() != strings.Repeat("line\n", 10) {
		t.Errorf("a large paste is %q", v.Rows)
	}
}
