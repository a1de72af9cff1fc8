package command

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"pi/internal/printable"
	"pi/session"
	"pi/session/folder"
)

// pickLine returns the line of a list to pick a session from: first what people know it by
// (name, first prompt), and last its id, which makes the line unique. where adds the
// directory in which it was started.
func pickLine(i folder.Info, now time.Time, where bool) string {
	parts := []string{Title(i)}
	if i.Name != "" && i.FirstPrompt != "" {
		parts = append(parts, printable.FirstLine(i.FirstPrompt, titleLength))
	}
	parts = append(parts, age(i.Modified, now), printable.Count(i.Messages, "message"), printable.Size(i.Size))
	if i.Branch != "" {
		parts = append(parts, ShortBranch(i))
	}
	if where {
		parts = append(parts, printable.Cut(i.Cwd, titleLength))
	}
	return strings.Join(append(parts, i.ID), " · ")
}

// shortAge is age in as few letters as a column wants.
func shortAge(t, now time.Time) string {
	d := now.Sub(t)
	switch {
	case d < time.Minute:
		return "0 min"
	case d < time.Hour:
		return fmt.Sprintf("%d min", d/time.Minute)
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", d/time.Hour)
	case d < 14*24*time.Hour:
		return fmt.Sprintf("%d d", d/(24*time.Hour))
	}
	return t.Local().Format(time.DateOnly)
}

// age returns in words how long before now t was, or its date after two weeks.
func age(t, now time.Time) string {
	d := now.Sub(t)
	switch {
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return fmt.Sprintf("%d min ago", d/time.Minute)
	case d < 24*time.Hour:
		return fmt.Sprintf("%d h ago", d/time.Hour)
	case d < 14*24*time.Hour:
		return fmt.Sprintf("%d d ago", d/(24*time.Hour))
	}
	return t.Local().Format(time.DateOnly)
}

// ShortID returns the beginning of a session id, which is long enough to find the session
// by.
func ShortID(id string) string { return id[:min(len(id), 13)] }

// ShortBranch returns the branch of git that a session was on last, as far as a list has
// room for it; "" if it was on none.
func ShortBranch(i folder.Info) string { return printable.Cut(printable.Line(i.Branch), 24) }

// BusyRow says in one row of a window which session another process has, who that is, and
// since when, as far as that is known.
func BusyRow(busy *session.BusyError, now time.Time) string {
	row := "the session"
	if info, err := folder.Describe(busy.Path); err == nil {
		row = cmp.Or(printable.Cut(Title(info), 22), ShortID(info.ID))
	}
	row += ": in use by another process"
	if busy.PID != 0 {
		row = strings.TrimSuffix(row, "another process") + fmt.Sprintf("process %d", busy.PID)
	}
	if busy.Host != "" {
		row += " on " + printable.Cut(busy.Host, 10)
	}
	if since := busy.Since.Local(); !busy.Since.IsZero() {
		layout := time.DateOnly
		if since.Format(layout) == now.Local().Format(layout) {
			layout = "15:04"
		}
		row += " since " + since.Format(layout)
	}
	return printable.Line(row)
}

// titleLength is as much of a first prompt as a list has room for.
const titleLength = 60

// Title returns the name of a session or, without one, the beginning of its first prompt,
// marked if the session is a copy of another.
func Title(info folder.Info) string {
	text := printable.FirstLine(cmp.Or(info.Name, info.FirstPrompt), titleLength)
	if info.Parent != "" {
		return "(a copy) " + text
	}
	return text
}
