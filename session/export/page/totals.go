package page

import (
	"fmt"
	"strconv"

	"pi/internal/markup"
	"pi/internal/printable"
	"pi/session"
	"pi/session/message"
)

// totals is what the whole session used, all branches and calls beside the conversation
// included.
type totals struct {
	used     message.Usage
	answers  int
	prompts  int
	unpriced bool // something cost nothing: it is free, or its price is not known
}

// entry counts an entry.
func (t *totals) entry(e *session.Entry) {
	t.add(t.usageOf(e))
}

func (t *totals) usageOf(e *session.Entry) *message.Usage {
	switch e.Type {
	case session.TypeMessage:
		m := e.Message()
		switch {
		case m == nil:
			return nil
		case m.Role == message.RoleAssistant:
			t.answers++
		case m.Role == message.RoleUser:
			t.prompts++
		}
		return m.Usage
	case session.TypeUsage:
		if c, err := session.Body[session.UsageEntry](e); err == nil {
			return c.Usage
		}
	case session.TypeCompaction:
		if c, err := session.Body[session.Compaction](e); err == nil {
			return c.Usage
		}
	case session.TypeBranchSummary:
		if c, err := session.Body[session.BranchSummary](e); err == nil {
			return c.Usage
		}
	}
	return nil
}

func (t *totals) add(u *message.Usage) {
	if u == nil || *u == (message.Usage{}) {
		return
	}
	t.used.Add(u)
	t.unpriced = t.unpriced || u.Cost.Total <= 0
}

// write writes the sums. The style shows them below the header.
func (t *totals) write(w *markup.Writer) {
	w.Raw(`<section id="totals"><h2>Totals</h2><p>`)
	w.Text(printable.Count(t.prompts, "prompt") + " · " + printable.Count(t.answers, "answer"))
	if text := usageText(&t.used); text != "" {
		w.Raw(" · ")
		if t.used.Cost.Total > 0 && t.unpriced {
			text += " (without what has no known price)"
		}
		w.Text(text)
	}
	w.Raw("</p></section>\n")
}

// usage writes the attribute of an element that used tokens.
func (p *page) usage(u *message.Usage) {
	if u == nil || *u == (message.Usage{}) {
		return
	}
	p.w.Raw(` data-u="`)
	for _, n := range []int{u.Input, u.Output, u.CacheRead, u.CacheWrite} {
		p.w.Int(n)
		p.w.Raw(" ")
	}
	p.w.Text(strconv.FormatFloat(u.Cost.Total, 'g', 6, 64))
	p.w.Raw(`"`)
}

// usageText words what was used: what was read, from the cache and newly, what was written,
// and the cost.
func usageText(u *message.Usage) string {
	if u == nil || *u == (message.Usage{}) {
		return ""
	}
	text := "↑" + short(u.Input+u.CacheRead+u.CacheWrite) + " ↓" + short(u.Output)
	if u.Cost.Total > 0 {
		text += fmt.Sprintf(" $%.3f", u.Cost.Total)
	}
	return text
}

// short is a number of tokens in few characters, such as 12.3k.
func short(n int) string {
	switch {
	case n < 1000:
		return strconv.Itoa(n)
	case n < 100_000:
		return fmt.Sprintf("%.1fk", float64(n)/1e3)
	case n < 1_000_000:
		return fmt.Sprintf("%dk", n/1000)
	}
	return fmt.Sprintf("%.1fM", float64(n)/1e6)
}
