package compaction

// Limits bound a compaction, in tokens as the provider counts them.
type Limits struct {
	Keep int  // about as much of the newest conversation stays as it is
	Room int  // what is kept may be at most this much; more is shortened by edits; 0: no limit
	All  bool // a person asked for it: where Keep would keep everything, all is summarised and nothing kept
}
