package terminal

import (
	"strings"
	"sync"
	"time"

	"pi/internal/cells"
	"pi/internal/printable"
)

// LongRun is how long a run takes at least for its end to be told to a person who may have
// turned to something else.
const LongRun = 20 * time.Second

// Attention decides whether a person is told of something in a way that reaches them where
// they do not look at the terminal, and with which sequence. It writes nothing itself. The
// zero value tells nothing. It is safe for concurrent use.
type Attention struct {
	mu    sync.Mutex
	way   string // bell, osc9; anything else is none
	tmux  bool
	front bool // the terminal has said that it is in front
}

// NewAttention returns one that tells in that way: "bell", "osc9" (a notice of the desktop,
// where the terminal shows such) or "off". getenv tells whether tmux is around it.
func NewAttention(way string, getenv func(name string) string) *Attention {
	return &Attention{way: way, tmux: getenv("TMUX") != ""}
}

// SetWay changes the way.
func (a *Attention) SetWay(way string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.way = way
}

// Focus notes that the window came to the front or left it. Before the first call it is not
// known where the window is, and the person is told. A terminal that is known to report
// changes may be believed to be in front until it does.
func (a *Attention) Focus(in bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.front = in
}

// RunEnded returns the sequence to write when a run ended by itself that took so long; "":
// none. text says what ended, and may be anybody's.
func (a *Attention) RunEnded(took time.Duration, text string) string {
	if took <= LongRun {
		return ""
	}
	return a.sequence(text)
}

// QuestionWaits returns the sequence to write when a question to the person was opened;
// "": none. text is the question, and may be anybody's.
func (a *Attention) QuestionWaits(text string) string { return a.sequence(text) }

func (a *Attention) sequence(text string) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.front:
	case a.way == "bell":
		return "\x07" // tmux passes it on
	case a.way == "osc9":
		const most = 100 // cells; longer notices are cut by those who show them
		// It begins with a letter: a number would be a command of some terminals.
		notice := "\x1b]9;pi: " + cells.Cut(printable.Line(text), most) + "\x07"
		if a.tmux {
			return "\x1bPtmux;" + strings.ReplaceAll(notice, "\x1b", "\x1b\x1b") + "\x1b\\"
		}
		return notice
	}
	return ""
}
