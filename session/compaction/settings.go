package compaction

// Settings say when a context is compacted, and what of it stays.
type Settings struct {
	Enabled          bool
	ReserveTokens    int
	KeepRecentTokens int
}

// Within returns the settings lowered to what a window has room for, so that a small one
// still has a reserve and retains something. A window of 0 is unknown and changes
// nothing.
func (s Settings) Within(window int) Settings {
	if window > 0 {
		s.ReserveTokens = min(s.ReserveTokens, window/2)
		s.KeepRecentTokens = min(s.KeepRecentTokens, (window-s.ReserveTokens)/2)
	}
	return s
}

// Full reports whether a context of so many tokens leaves less than the reserve of the
// window free. It is false if compaction is off or the window is not known.
func (s Settings) Full(tokens, window int) bool {
	return s.Enabled && window > 0 && tokens > window-s.Within(window).ReserveTokens
}

// The reserve has room for what a compaction adds to the messages that remain: a summary
// (at most a half), that of the beginning of a turn (a quarter), lists of files (an
// eighth). The rest is for messages that cannot be cut at the best place.
const (
	leastSummary = 512  // tokens, whatever the settings say
	leastInput   = 1000 // likewise
)

// Summary returns how many tokens a summary may have at most.
func (s Settings) Summary() int { return max(s.ReserveTokens/2, leastSummary) }

// Input is how many tokens of a conversation one request for a summary may have, besides
// an earlier summary and the answer; a quarter is left for errors of the estimates. 0 is
// no limit.
func (s Settings) Input(window int) int {
	if window <= 0 {
		return 0
	}
	return max((window-s.ReserveTokens)*3/4, leastInput)
}
