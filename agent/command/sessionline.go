package command

import (
	"fmt"
	"strings"
	"time"
	"unicode"

	"pi/session"
)

// SessionLine describes a session in one line: id, age, size, messages, whether
// it is a copy of another one, name or first prompt. No two are the same, for
// each begins with the id.
func SessionLine(i session.Info, now time.Time) string {
	forked := ""
	if i.Parent != "" {
		forked = "(a copy)  "
	}
	return fmt.Sprintf("%s  %8s  %7s  %4d messages  %s%s", i.ID, Age(i.Modified, now), Size(i.Size), i.Messages, forked, Title(i))
}

// Age is how long ago a time was.
func Age(t, now time.Time) string {
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

// Size is a number of bytes as people write it.
func Size(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d B", n)
	case n < 1e6:
		return fmt.Sprintf("%.1f kB", float64(n)/1e3)
	case n < 1e9:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	}
	return fmt.Sprintf("%.1f GB", float64(n)/1e9)
}

// titleLength is as much of a first prompt as a list has room for.
const titleLength = 60

// Title is the name of a session, or the beginning of its first prompt.
func Title(info session.Info) string {
	text := info.Name
	if text == "" {
		text = info.FirstPrompt
	}
	text, _, _ = strings.Cut(strings.TrimSpace(text), "\n")
	return cutTo(text, titleLength)
}

// cutTo is text without what could command a terminal or turn its reading
// direction, and no longer than n.
func cutTo(text string, n int) string {
	runes := []rune(strings.Map(visible, text))
	if len(runes) > n {
		return string(runes[:n-1]) + "…"
	}
	return string(runes)
}

func visible(r rune) rune {
	if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
		return -1
	}
	return r
}
