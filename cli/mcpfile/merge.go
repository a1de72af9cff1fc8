package mcpfile

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"pi/agent/mcp"
	"pi/cli/config"
)

// Merge puts the servers of a user, of an approved project and of a client together. Each name is
// there once. What a project says of a server of the user may only turn it off or narrow its
// exposure; a server of a client goes before others of its name.
func Merge(user, project File, client []mcp.Entry) (entries []mcp.Entry, problems []config.Problem) {
	at := map[string]int{}
	add := func(e mcp.Entry) {
		at[e.Name] = len(entries)
		entries = append(entries, e)
	}
	for _, s := range user.Servers {
		add(s.Entry)
	}
	for _, s := range project.Servers {
		problem := func(text string) {
			problems = append(problems, config.Problem{File: s.Source.Path, Line: s.Source.Line, Text: fmt.Sprintf("server %q: %s", s.Name, text), Warning: true})
		}
		i, same := at[s.Name]
		switch {
		case !same && s.Narrows:
			problem("it has neither command nor url, and you have no server of this name")
		case !same:
			add(s.Entry)
		default:
			if !s.Narrows {
				problem("you have one of this name, which is used; a project may only turn it off or narrow its exposure")
			}
			if !narrow(&entries[i], &s.Entry) {
				problem("what it says of exposure would widen that of your server, and has no effect")
			}
		}
	}
	for _, e := range client {
		i, same := at[e.Name]
		if !same {
			add(e)
			continue
		}
		if old := entries[i].Source; old.Kind != mcp.FromClient {
			problems = append(problems, config.Problem{File: old.Path, Line: old.Line, Text: fmt.Sprintf("server %q: the editor has one of this name, which is used in this session", e.Name), Warning: true})
		}
		entries[i] = e
	}
	return entries, problems
}

// narrow applies what an entry of a project says of a server of the user. It reports whether all
// of it had an effect: what would offer more than the user has does not.
func narrow(of, by *mcp.Entry) (all bool) {
	all = true
	of.Disabled = of.Disabled || by.Disabled
	tools := maps.Clone(of.Tools)
	if tools == nil {
		tools = map[string]mcp.Exposure{}
	}
	if x := by.Exposure; x != "" {
		if x.Narrower(of.Exposure) {
			of.Exposure = x
		} else if x != cmp.Or(of.Exposure, mcp.Search) {
			all = false
		}
		for pattern, has := range tools {
			if x.Narrower(has) {
				tools[pattern] = x
			}
		}
	}
	for _, pattern := range slices.Sorted(maps.Keys(by.Tools)) {
		x := by.Tools[pattern]
		if x == mcp.Direct || x == mcp.Search && hasOff(of) {
			all = false // a longer pattern goes before a shorter one that turns tools off
			continue
		}
		if has, same := tools[pattern]; !same || x.Narrower(has) {
			tools[pattern] = x
		}
	}
	of.Tools = tools
	return all
}

// hasOff reports whether an entry turns some of its tools off.
func hasOff(e *mcp.Entry) bool {
	return e.Exposure == mcp.Off || slices.Contains(slices.Collect(maps.Values(e.Tools)), mcp.Off)
}
