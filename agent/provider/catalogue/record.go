package catalogue

import (
	"slices"
	"strconv"
	"strings"

	"pi/agent/llm"
)

// record writes the models of a provider in the form that the package comment describes.
func (p *source) record() string {
	var b strings.Builder
	for i := range p.Models {
		b.WriteString(p.Models[i].line(p) + "\n")
	}
	return b.String()
}

// line is the record of a model, as the comment of package catalogue describes it,
// without what is the same as the provider's.
func (m *sourceModel) line(p *source) string {
	fields := []string{
		m.ID, unless(m.Name, m.ID), amount(m.Window), amount(m.Answer), "", m.thinking(), m.Price,
		unless(m.API, p.API), unless(m.BaseURL, p.BaseURL),
	}
	if m.Images {
		fields[4] = "i"
	}
	return strings.TrimRight(strings.Join(fields, "\t"), "\t")
}

// unless is s, or "" if a reader takes s for granted.
func unless(s, understood string) string {
	if s == understood {
		return ""
	}
	return s
}

func amount(n int64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatInt(n, 10)
}

// thinking is a digit for each thinking level; "?" if they are not known, "" for a
// model that does not reason.
func (m *sourceModel) thinking() string {
	if !m.Reasons {
		return ""
	}
	if len(m.Levels) == 0 {
		return "?"
	}
	all := llm.ThinkingLevels()
	var digits []int
	for _, level := range m.Levels {
		digits = append(digits, slices.Index(all, level))
	}
	slices.Sort(digits)
	var b strings.Builder
	for _, d := range slices.Compact(digits) {
		b.WriteString(strconv.Itoa(d)) // an unknown level is -1, which the tests find
	}
	return b.String()
}
