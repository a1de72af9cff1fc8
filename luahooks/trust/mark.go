package trust

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// mark is what the file of a window says. It is written in place while the program runs:
//
//   - running-123           tools are at work; with - they are not
//     live {"path":…}         a version that came into force after the window was written to the store
//     group 4711              a process group that a tool started
//     group                   the last line, without an end: one is being started, and its
//     number is written behind this as soon as there is one
//
// A text that is not byte for byte such lines is no mark, and counts as one of tools at work.
type mark struct {
	working  bool
	live     []liveFile
	groups   []int
	starting bool // a process is being started, before which that was written
}

// begunGroup is the line of a group whose number is not known yet.
const begunGroup = "group "

// liveFile is a version that came into force between two batches of tools.
type liveFile struct {
	Path string `json:"path"`
	File
}

// text returns the mark of the window with that name.
func (m mark) text(name string) string {
	var b strings.Builder
	b.WriteString(map[bool]string{true: "+ ", false: "- "}[m.working] + name + "\n")
	for _, f := range m.live {
		raw, _ := json.Marshal(f) // strings only
		b.WriteString("live " + string(raw) + "\n")
	}
	for _, group := range m.groups {
		b.WriteString(begunGroup + strconv.Itoa(group) + "\n")
	}
	if m.starting {
		b.WriteString(begunGroup)
	}
	return b.String()
}

// parseMark parses the text of the window with that name. It refuses what text does not
// return.
func parseMark(name string, text []byte) (m mark, err error) {
	damaged := fmt.Errorf("the mark of %s is not what pi wrote", name)
	head, rest, _ := strings.Cut(string(text), "\n")
	m.working = strings.HasPrefix(head, "+")
	if whole, begun := strings.CutSuffix(rest, begunGroup); begun {
		rest, m.starting = whole, true
	}
	for line := range strings.Lines(rest) {
		line = strings.TrimSuffix(line, "\n")
		if raw, ok := strings.CutPrefix(line, "live "); ok {
			var f liveFile
			if err := json.Unmarshal([]byte(raw), &f); err != nil || !isPath(f.Path) || !areSums(f.Sum, f.Kept) {
				return mark{}, damaged
			}
			m.live = append(m.live, f)
			continue
		}
		number, _ := strings.CutPrefix(line, begunGroup)
		group, err := strconv.Atoi(number)
		if err != nil {
			return mark{}, damaged
		}
		m.groups = append(m.groups, group)
	}
	if !bytes.Equal([]byte(m.text(name)), text) {
		return mark{}, damaged
	}
	return m, nil
}

// withLive returns the mark with other versions of some files.
func (m mark) withLive(files []liveFile) mark {
	m.live = slices.Clone(m.live)
	for _, f := range files {
		if at := m.indexOf(f.Path); at >= 0 {
			m.live[at] = f
			continue
		}
		m.live = append(m.live, f)
	}
	return m
}

// isLive reports whether the mark has a version of a file.
func (m mark) isLive(path string) bool { return m.indexOf(path) >= 0 }

func (m mark) indexOf(path string) int {
	return slices.IndexFunc(m.live, func(f liveFile) bool { return f.Path == path })
}

// withGroups returns the mark with more process groups.
func (m mark) withGroups(groups []int) mark {
	m.groups = slices.Clone(m.groups)
	for _, group := range groups {
		if !slices.Contains(m.groups, group) {
			m.groups = append(m.groups, group)
		}
	}
	return m
}
