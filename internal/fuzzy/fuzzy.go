// Package fuzzy finds what a user means by a few typed characters.
//
// There are two ways to look, both case aside, and both blind to whether an accent is
// part of its letter or a character of its own:
//
//   - A [Filter] narrows a list to the rows that have every typed word, in any order,
//     each somewhere in a column. The rows keep their order. A picker uses it.
//   - An [Index] ranks candidates that have the typed characters in their order, with
//     anything between them: "agto" is agent/tool. Completion uses it.
//
// [WordSpans] and [Spans] say which bytes of a text matched, for who shows it.
//
// It knows nothing of the rest of the program. No type may be used by two goroutines at a
// time.
package fuzzy

// Span is a part of a text, in bytes: text[Start:End].
type Span struct{ Start, End int }

// addSpan appends a span, and joins it with the last one where they touch. Spans come in
// the order of their starts.
func addSpan(spans []Span, s Span) []Span {
	if last := len(spans) - 1; last >= 0 && spans[last].End >= s.Start {
		spans[last].End = max(spans[last].End, s.End)
		return spans
	}
	return append(spans, s)
}
