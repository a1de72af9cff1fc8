package terminal

import (
	"strings"
	"testing"
	"time"
)

func TestAPersonWhoDoesNotLookIsTold(t *testing.T) {
	const long, short = LongRun + time.Millisecond, LongRun
	for _, tt := range []struct {
		name, way, tmux string
		focus           []bool // reports of the terminal
		took            time.Duration
		text, want      string // of a run that ended
		question        string
	}{
		{"off", "off", "", nil, long, "done", "", ""},
		{"nothing is set", "", "", nil, long, "done", "", ""},
		{"bell", "bell", "", nil, long, "done", "\x07", "\x07"},
		{"bell in tmux", "bell", "x", nil, long, "done", "\x07", "\x07"},
		{"a short run", "bell", "", nil, short, "done", "", "\x07"},
		{"osc9", "osc9", "", nil, long, "done", "\x1b]9;pi: done\x07", "\x1b]9;pi: done\x07"},
		{"osc9 in tmux", "osc9", "x", nil, long, "done", "\x1bPtmux;\x1b\x1b]9;pi: done\x07\x1b\\", "\x1bPtmux;\x1b\x1b]9;pi: done\x07\x1b\\"},
		{"in front", "bell", "", []bool{true}, long, "done", "", ""},
		{"left", "bell", "", []bool{true, false}, long, "done", "\x07", "\x07"},
		{"back again", "osc9", "", []bool{false, true}, long, "done", "", ""},
		{"a text that commands", "osc9", "", nil, long, "4;1\x07\x1b]52;c;aGk=\x07\n2", "\x1b]9;pi: 4;1 2\x07", "\x1b]9;pi: 4;1 2\x07"},
	} {
		a := NewAttention(tt.way, func(name string) string { return map[string]string{"TMUX": tt.tmux}[name] })
		for _, in := range tt.focus {
			a.Focus(in)
		}
		if got := a.RunEnded(tt.took, tt.text); got != tt.want {
			t.Errorf("%s: a run that ended: %q, want %q", tt.name, got, tt.want)
		}
		if got := a.QuestionWaits(tt.text); got != tt.question {
			t.Errorf("%s: a question: %q, want %q", tt.name, got, tt.question)
		}
	}
	a := NewAttention("off", func(string) string { return "" })
	a.SetWay("osc9")
	if got := a.QuestionWaits(strings.Repeat("日", 500)); len(got) < 100 || len(got) > 320 {
		t.Errorf("a long text: %d bytes", len(got))
	}
	if got := new(Attention).QuestionWaits("x"); got != "" {
		t.Errorf("the zero value: %q", got)
	}
}
