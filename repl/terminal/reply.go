package terminal

import (
	"strconv"
	"strings"
)

// The terminal is asked a few things at the start. It answers among the keys, when it
// likes, and some terminals never do. The last question is one that nearly all answer,
// so that the answer to it tells that no other will come.
const (
	askBackground = askedBackground + "?\x1b\\"
	askName       = "\x1b[>0q"
	askPasteMode  = "\x1b[?2004$p"
	askKeyboard   = "\x1b7\x1b[?u\x1b8" // some terminals take it as a sequence that moves the cursor
	askAlternate  = "\x1b[?1049$p"
	askVersion    = "\x1b[>c" // many that do not tell their name tell who they are in this way
	askKind       = "\x1b[c"
)

// askedBackground begins the answer to askBackground, as it begins the question.
const askedBackground = "\x1b]11;"

// isReply reports whether a sequence ESC [ … is an answer of the terminal, and no key.
func isReply(s string) bool {
	if len(s) < 3 || s[1] != '[' || s[2] == 'M' {
		return false
	}
	return strings.IndexByte("?>=", s[2]) >= 0 || strings.IndexByte("cntxy", s[len(s)-1]) >= 0
}

// replies is what the terminal has answered.
type replies struct {
	light      bool
	background bool   // the background is known
	name       string // of the terminal, with its version
	version    string // the answer to askVersion: numbers
	noPaste    bool   // it does not know bracketed paste
	kitty      bool   // it knows the keyboard protocol of kitty
	alternate  bool   // the alternate screen is shown
	all        bool   // no more answers to the first questions will come
}

// note remembers an answer.
func (r *replies) note(s string) {
	switch {
	case strings.HasPrefix(s, askedBackground):
		r.light, r.background = isLight(s[len(askedBackground):])
	case strings.HasPrefix(s, "\x1bP>|"):
		r.name = s[len("\x1bP>|"):]
	case strings.HasPrefix(s, "\x1b[>") && strings.HasSuffix(s, "c"):
		r.version = s[len("\x1b[>") : len(s)-1]
	case strings.HasPrefix(s, "\x1b[?2004;") && strings.HasSuffix(s, "$y"):
		mode := s[len("\x1b[?2004;") : len(s)-2]
		r.noPaste = mode == "0" || mode == "4" // not known, or never on
	case strings.HasPrefix(s, "\x1b[?1049;") && strings.HasSuffix(s, "$y"):
		r.alternate = s[len("\x1b[?1049;"):len(s)-2] == "1"
	case strings.HasPrefix(s, "\x1b[?") && strings.HasSuffix(s, "u"):
		r.kitty = true
	case strings.HasPrefix(s, "\x1b[?") && strings.HasSuffix(s, "c"):
		r.all = true
	}
}

// isLight reports whether a colour, as rgb:RRRR/GGGG/BBBB, is nearer to white than to
// black; ok is false if it is none.
func isLight(colour string) (light, ok bool) {
	_, values, found := strings.Cut(colour, ":")
	parts := strings.Split(values, "/")
	if !found || len(parts) < 3 {
		return false, false
	}
	var brightness float64
	for i, weight := range []float64{0.299, 0.587, 0.114} {
		n, err := strconv.ParseUint(parts[i], 16, 32)
		if err != nil {
			return false, false
		}
		brightness += weight * float64(n) / float64(uint64(1)<<(4*len(parts[i]))-1)
	}
	return brightness > 0.5, true
}
