package hooktest

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"pi/internal/printable"
)

// Report writes results as they come.
type Report struct {
	Out     io.Writer
	Verbose bool // also what passed
	JSON    bool // a record for each line
}

// Done writes how a case ended: a line for one that failed, with what was got and wanted
// below it.
func (r Report) Done(o Outcome) {
	switch {
	case r.JSON:
		r.record(o)
	case o.Passed && r.Verbose:
		r.line("ok    %s: %s (%s)", o.File, o.Case, short(o.Took))
	case !o.Passed:
		for _, f := range o.Failures {
			r.failure(o, f)
		}
	}
}

func (r Report) failure(o Outcome, f Failure) {
	name := ""
	if o.Case != "" {
		name = o.Case + ": "
	}
	r.line("FAIL  %s:%d: %s%s", f.File, f.Line, name, f.Message)
	if f.Want != "" {
		r.below("got ", f.Got)
		r.below("want", f.Want)
	}
	for _, n := range f.Notices {
		r.below("said", n)
	}
}

// below writes a text under the line of a failure.
func (r Report) below(what, text string) {
	r.line("      %s: %s", what, strings.ReplaceAll(text, "\n", "\n            "))
}

// Print writes a line that a test printed.
func (r Report) Print(file, line string) {
	switch {
	case r.JSON:
		r.record(map[string]string{"file": file, "print": line})
	case r.Verbose:
		r.line("      %s: %s", file, line)
	}
}

// End writes how many cases passed, and how many did not.
func (r Report) End(s Summary, took time.Duration) {
	switch {
	case r.JSON:
		r.record(map[string]any{"files": s.Files, "cases": s.Cases, "failed": s.Failed, "ms": took.Milliseconds()})
	case s.Failed > 0:
		r.line("FAIL  %d of %s failed (%s)", s.Failed, printable.Count(s.Cases, "case"), short(took))
	default:
		r.line("ok    %s in %s (%s)", printable.Count(s.Cases, "case"), printable.Count(s.Files, "file"), short(took))
	}
}

func (r Report) record(v any) {
	if raw, err := json.Marshal(v); err == nil {
		_, _ = fmt.Fprintf(r.Out, "%s\n", raw)
	}
}

func (r Report) line(format string, args ...any) {
	_, _ = fmt.Fprintln(r.Out, printable.Text(fmt.Sprintf(format, args...)))
}

// short is a time as a user reads it.
func short(d time.Duration) string { return fmt.Sprintf("%.2fs", d.Seconds()) }
