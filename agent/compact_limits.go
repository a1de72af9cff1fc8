package agent

// within is the settings as far as a window allows them: one that is smaller than
// what is to be free and to be kept still has room for both. A window of 0 is
// unknown and allows all.
func (s CompactionSettings) within(window int) CompactionSettings {
	if window > 0 {
		s.ReserveTokens = min(s.ReserveTokens, window/2)
		s.KeepRecentTokens = min(s.KeepRecentTokens, (window-s.ReserveTokens)/2)
	}
	return s
}

// full reports whether a context leaves less free of a window than it should.
func (s CompactionSettings) full(tokens, window int) bool {
	return s.Enabled && window > 0 && tokens > window-s.within(window).ReserveTokens
}

// The reserve holds what a compaction adds to what is kept: a summary (at most a
// half), that of the beginning of a turn (a quarter), lists of files (an eighth).
// What remains is room for messages that cannot be cut where one would like to.
const (
	leastSummary = 512  // tokens, whatever the settings say
	leastInput   = 1000 // likewise
)

// summary is how long a summary may be at most, in tokens.
func (s CompactionSettings) summary() int { return max(s.ReserveTokens/2, leastSummary) }

// room is how much may be kept at most.
func (s CompactionSettings) room() int { return s.KeepRecentTokens + s.ReserveTokens/16 }

// input is how much of a conversation goes into one request for a summary, beside
// an earlier one and the answer; a quarter of it is for what estimates miss. 0 is
// no limit.
func (s CompactionSettings) input(window int) int {
	if window <= 0 {
		return 0
	}
	return max((window-s.ReserveTokens)*3/4, leastInput)
}
