// Package compaction decides what becomes of a context that is too long: where it is
// cut, what is shortened, and what the model that writes the summary is shown. Its
// functions are pure: they look at a branch and at what a model sees of it, ask
// nobody, and write nothing.
//
//	plan, err := compaction.NewPlan(s.Branch(), seen, tokens, compaction.Limits{Keep: 20000})
//	text := compaction.Transcript(plan.Summarize)
//
// [NewPlan] says where the cut falls, by which rules, and what it means. [Transcript] is
// a conversation as text, [Chunks] divides one that is too long for one request.
// The caller that makes the summary appends it as a compaction entry, with the names of
// the files that were read and modified ([FilesOf]) in its details.
//
// A [Gauge] measures how long a context is while it grows: what the provider counted for
// the last good answer, and an estimate for what follows.
package compaction
