package terminal

import (
	"strings"
	"testing"
)

func TestANoticeGoesInTheWayOfTheSettings(t *testing.T) {
	for _, tt := range []struct {
		way, text string
		tmux      bool
		want      string
	}{
		{"off", "done", false, ""},
		{"", "done", false, ""},
		{"bell", "done", false, "\x07"},
		{"bell", "done", true, "\x07"},
		{"osc9", "done", false, "\x1b]9;pi: done\x07"},
		{"osc9", "done", true, "\x1bPtmux;\x1b\x1b]9;pi: done\x07\x1b\\"},
		{"osc9", "4;1\x07\x1b]52;c;aGk=\x07\n2", false, "\x1b]9;pi: 4;1 2\x07"},
		{"osc9", strings.Repeat("x", 200), false, "\x1b]9;pi: " + strings.Repeat("x", 99) + "…\x07"},
	} {
		if got := Notice(tt.way, tt.text, tt.tmux); got != tt.want {
			t.Errorf("%s %.20q: %q, want %q", tt.way, tt.text, got, tt.want)
		}
	}
}
