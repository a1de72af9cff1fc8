package definitions

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pi/internal/frontmatter"
)

// checks are those of a session with a few tools and models.
func checks() Checks {
	return Checks{Tools: []string{"bash", "edit", "find", "grep", "ls", "read", "write"}, Model: func(ref string) error {
		if ref == "big" || ref == "small" {
			return nil
		}
		return fmt.Errorf("there is no model %q", ref)
	}}
}

// file is one of the user's own.
func file(name, text string) File {
	return File{Path: "/agents/" + name, Shown: name, Text: text, From: "yours"}
}

// only returns the one definition that a text makes.
func only(t *testing.T, text string) (Definition, []frontmatter.Problem) {
	t.Helper()
	s := New([]File{file("reviewer.md", text)}, checks())
	if len(s.All) != 1 {
		t.Fatalf("%d definitions", len(s.All))
	}
	return s.All[0], s.Problems
}

func TestAFileSaysWhatAnAgentIsFor(t *testing.T) {
	d, problems := only(t, "---\nname: critic\ndescription: Reads with care\ntools: [read, grep]\nmodel: big\nthinking: high\nmax_turns: 12\nmax_cost: 0.5\n---\n\nYou read code.\n\nBe brief.\n")
	want := Definition{Name: "critic", Long: "critic", Description: "Reads with care", Role: "You read code.\n\nBe brief.", Tools: []string{"read", "grep"}, HasTools: true,
		Model: "big", Thinking: "high", MaxTurns: 12, MaxCost: 0.5, Path: "/agents/reviewer.md", Shown: "reviewer.md", From: "yours"}
	if !reflect.DeepEqual(d, want) || len(problems) > 0 {
		t.Errorf("%+v, want %+v; problems %v", d, want, problems)
	}
}

func TestWhatAFileLeavesOutIsThatOfTheAgentAbove(t *testing.T) {
	d, problems := only(t, "# Reads with care\n\nYou read code.\n")
	want := Definition{Name: "reviewer", Long: "reviewer", Description: "Reads with care", Role: "# Reads with care\n\nYou read code.", Path: "/agents/reviewer.md", Shown: "reviewer.md", From: "yours"}
	if !reflect.DeepEqual(d, want) || len(problems) > 0 {
		t.Errorf("%+v, want %+v; problems %v", d, want, problems)
	}
}

func TestToolsAreNamedInManyWays(t *testing.T) {
	for _, c := range []struct {
		head string
		want []string // nil: all
	}{
		{"tools: [read, grep]", []string{"read", "grep"}},
		{"tools: read, grep", []string{"read", "grep"}},
		{"tools: read grep read", []string{"read", "grep"}},
		{"tools:\n  - read\n  - grep", []string{"read", "grep"}},
		{"tools: []", []string{}},
		{"tools: \"*\"", nil},
		{"tools: Read, Grep, Glob, Bash, LS, Write, Edit, MultiEdit", []string{"read", "grep", "find", "bash", "ls", "write", "edit"}},
		{"tools: Read, WebFetch, TodoWrite", []string{"read"}},
		{"tools: WebFetch", []string{}},
		{"tools: mcp__notes__find, read", []string{"mcp__notes__find", "read"}},
		{"disallowedTools: Write, Edit, Bash", []string{"find", "grep", "ls", "read"}},
		{"tools: Read, Write\ndisallowedTools: Write", []string{"read"}},
		{"model: inherit", nil},
	} {
		d, _ := only(t, "---\n"+c.head+"\n---\n")
		if !slices.Equal(d.Tools, c.want) || d.HasTools != (c.want != nil) || d.Err != nil {
			t.Errorf("%s: %v (%v), %v; want %v", c.head, d.Tools, d.HasTools, d.Err, c.want)
		}
	}
}

func TestAToolOfOursThatIsCalledLikeOneOfClaudeIsThatTool(t *testing.T) {
	c := checks()
	c.Tools = append(c.Tools, "WebFetch", "Read")
	s := New([]File{file("a.md", "---\ntools: Read, WebFetch\n---\n")}, c)
	if want := []string{"Read", "WebFetch"}; !slices.Equal(s.All[0].Tools, want) || len(s.Problems) > 0 {
		t.Errorf("%v, %v; want %v", s.All[0].Tools, s.Problems, want)
	}
}

func TestADefinitionThatMayBoundLessThanItSaysIsNotUsed(t *testing.T) {
	for _, c := range []struct{ head, want string }{
		{"tools: read, grpe", `reviewer.md:2: tools: there is no tool "grpe", did you mean "grep"?`},
		{"name: x\ntools: Bash(git diff:*)", `reviewer.md:3: tools: "Bash(git diff:*)": a tool is given whole or not at all; a gate says what it may be used for`},
		{"tools:", "reviewer.md:2: tools: it names no tool: [] is for none, and without the field there are all"},
		{"disallowedTools: Wirte", `reviewer.md:2: disallowedTools: there is no tool "Wirte", did you mean "write"?`},
		{"model: huge", `reviewer.md:2: model: there is no model "huge"`},
		{"thinking: deep", `reviewer.md:2: thinking: unknown thinking level "deep"; levels are off, minimal, low, medium, high, xhigh, max`},
		{"max_turns: many", `reviewer.md:2: max_turns: "many" is no number of turns, 1 or more`},
		{"max_turns: 0", `reviewer.md:2: max_turns: "0" is no number of turns, 1 or more`},
		{"max_cost: -1", `reviewer.md:2: max_cost: "-1" is no number of dollars above 0`},
		{"max_cost: NaN", `reviewer.md:2: max_cost: "NaN" is no number of dollars above 0`},
		{"name: project:x", `reviewer.md:2: name: "project:x" is no name for an agent: letters, digits, - and _, at most 32`},
		{"name: " + strings.Repeat("x", 33), "is no name for an agent"},
		{"tools [read]", "reviewer.md:2: "},
		{"tools: [read", "reviewer.md:2: the list is not closed with ]; what this bounds is not known, so the agent is not used"},
		{"tools:\n  - read\n  grep", `reviewer.md:4: "grep" is no item`},
		{"max_turns 3", "reviewer.md:2: "},
	} {
		d, _ := only(t, "---\n"+c.head+"\n---\nYou read.\n")
		if d.Err == nil || !strings.Contains(d.Err.Error(), c.want) {
			t.Errorf("%q: %v, want %s", c.head, d.Err, c.want)
		}
	}
	if d, _ := only(t, "---\nname: x\ntools: [read]\n"); d.Err == nil || !strings.Contains(d.Err.Error(), "reviewer.md:1: the fields that begin here have no end") {
		t.Errorf("a head without end: %v", d.Err)
	}
}

func TestWhatBoundsNothingIsToldAndTheRestCounts(t *testing.T) {
	for _, c := range []struct{ head, want string }{
		{"name: x\nwhat is this", `reviewer.md:3: "what is this" is no field`},
		{"description: \"open", "reviewer.md:2: the quote"},
		{"colour: red", `reviewer.md:2: an agent has no field "colour"`},
		{"max_turn: 3", `reviewer.md:2: an agent has no field "max_turn", did you mean "max_turns"?`},
		{"permissionMode: plan", "reviewer.md:2: permissionMode has no effect here"},
		{"tools: Read, WebFetch", "reviewer.md:2: tools: WebFetch of Claude Code has no counterpart here"},
		{"description: a\u202eb", "reviewer.md: "},
	} {
		d, problems := only(t, "---\n"+c.head+"\n---\nYou read.\n")
		if d.Err != nil || len(problems) != 1 || !strings.Contains(problems[0].Error(), c.want) {
			t.Errorf("%q: %v, problems %v, want %s", c.head, d.Err, problems, c.want)
		}
	}
	if _, problems := only(t, "---\ncolor: red\n---\n"); len(problems) > 0 {
		t.Errorf("a colour is told: %v", problems)
	}
}

// mixed are files of the user, of packages and of the project.
func mixed() []File {
	return []File{
		file("reviewer.md", "---\ndescription: mine\n---\n"),
		{Path: "/home/.claude/agents/reviewer.md", Shown: "~/.claude/agents/reviewer.md", Text: "farther"},
		file("broken.md", "---\nmodel: none\n---\n"),
		{Path: "/p/tidy/agents/reviewer.md", Shown: "tidy/reviewer.md", Owner: "tidy", Text: "of tidy"},
		{Path: "/p/tidy/agents/tester.md", Shown: "tidy/tester.md", Owner: "tidy", Text: "tests"},
		{Path: "/x/.pi/agents/reviewer.md", Shown: ".pi/agents/reviewer.md", Owner: Project, Text: "of the project"},
		{Path: "/x/.pi/agents/broken.md", Shown: ".pi/agents/broken.md", Owner: Project, Text: "of the project"},
		{Path: "/x/.pi/agents/tester.md", Shown: ".pi/agents/tester.md", Owner: Project, Text: "of the project"},
		{Path: "/x/.pi/agents/builder.md", Shown: ".pi/agents/builder.md", Owner: Project, Text: "builds"},
		{Path: "/x/.pi/agents/new.md", Shown: ".pi/agents/new.md", Owner: Project, Err: errors.New(".pi/agents/new.md is not approved")},
		{Path: "/x/.claude/agents/builder.md", Shown: ".claude/agents/builder.md", Owner: Project, Text: "builds too"},
	}
}

func TestAProjectsAgentNeverTakesTheNameOfOneOfTheUsers(t *testing.T) {
	s := New(mixed(), checks())
	if got, want := strings.Join(s.Names(), " "), "broken builder new project:broken project:reviewer project:tester reviewer tester tidy:reviewer"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	for name, want := range map[string]string{
		"reviewer": "mine", "project:reviewer": "of the project", "tidy:reviewer": "of tidy", "tester": "tests", "tidy:tester": "tests",
		"project:tester": "of the project", "builder": "builds", "project:builder": "builds", "project:broken": "of the project",
	} {
		if d, err := s.Find(name); err != nil || d.Description != want {
			t.Errorf("%s: %q, %v; want %q", name, d.Description, err, want)
		}
	}
	for name, want := range map[string]string{
		"broken":  `broken.md:2: model: there is no model "none"`, // and not the project's, which can be used
		"new":     ".pi/agents/new.md is not approved",
		"reviwer": `there is no agent "reviwer", did you mean "reviewer"?; /agents lists them`,
		"other":   "; .pi/agents/new.md is not approved",
	} {
		if _, err := s.Find(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
	var twice []string
	for _, p := range s.Problems {
		twice = append(twice, p.Error())
	}
	want := []string{
		"~/.claude/agents/reviewer.md: the agent reviewer is also in reviewer.md, which is nearer and counts",
		".claude/agents/builder.md: the agent project:builder is also in .pi/agents/builder.md, which is nearer and counts",
	}
	if !slices.Equal(twice, want) {
		t.Errorf("%q, want %q", twice, want)
	}
}

// Whatever a file says, an agent has a name that cannot be taken for that of another owner,
// no other tools than those that are known, and each problem names a line of the file.
func FuzzRead(f *testing.F) {
	f.Add("---\nname: x\ntools: Read, Bash(git:*)\nmax_turns: 3\n---\nbody")
	f.Add("---\ntools:\n - read\n grep\n---\n")
	f.Add("---\ndisallowedTools: [Write\nname: project:x\n")
	f.Add("\uFEFF---\r\ntools : read\r\nmax_cost: 1e999\r\n---\r\n")
	f.Fuzz(func(t *testing.T, text string) {
		s := New([]File{{Path: "/x/a.md", Shown: "a.md", Text: text, Owner: Project}}, checks())
		d := s.All[0]
		if d.Long != Project+":"+d.Name || strings.Contains(d.Name, ":") || len(d.Name) > mostName {
			t.Errorf("names %q and %q", d.Name, d.Long)
		}
		for _, name := range d.Tools {
			if !slices.Contains(checks().Tools, name) && !strings.HasPrefix(name, ofServer) {
				t.Errorf("tool %q", name)
			}
		}
		if d.MaxTurns < 0 || !(d.MaxCost >= 0) {
			t.Errorf("limits %d and %v", d.MaxTurns, d.MaxCost)
		}
		lines := strings.Count(text, "\n") + 1
		problems := s.Problems
		if p, ok := d.Err.(frontmatter.Problem); ok {
			problems = append(problems, p)
		}
		for _, p := range problems {
			if p.Line < 0 || p.Line > lines {
				t.Errorf("line %d of %d: %s", p.Line, lines, p.Text)
			}
		}
	})
}
