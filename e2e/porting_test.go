//go:build unix

package e2e

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"pi/luahooks/event"
)

// docs/porting.md is a map of the extensions API of another program: every name that the
// published types of that have stands in it, in the section of its kind, and each name of
// ours that it leads to exists.

// mapRow is a row of the map: names there, and what is said of them here.
type mapRow struct {
	theirs []string
	here   string
}

var codeSpan = regexp.MustCompile("`([^`]+)`")

// mapRows are the rows of each section, by its title.
func mapRows(t *testing.T) map[string][]mapRow {
	t.Helper()
	rows, title := map[string][]mapRow{}, ""
	for line := range strings.Lines(mustRead(t, inModule("docs/porting.md"))) {
		if heading, ok := strings.CutPrefix(line, "## "); ok {
			title = strings.TrimSpace(heading)
		}
		cells := strings.Split(strings.ReplaceAll(line, `\|`, "\x00"), "|")
		if len(cells) != 4 || !strings.HasPrefix(cells[1], " `") {
			continue
		}
		row := mapRow{here: strings.TrimSpace(strings.ReplaceAll(cells[2], "\x00", "|"))}
		for _, name := range codeSpan.FindAllStringSubmatch(cells[1], -1) {
			row.theirs = append(row.theirs, name[1])
		}
		rows[title] = append(rows[title], row)
	}
	return rows
}

// publishedNames are the names of the other API, by the section that they belong to.
func publishedNames(t *testing.T) map[string][]string {
	t.Helper()
	names, title := map[string][]string{}, ""
	for line := range strings.Lines(mustRead(t, "testdata/porting/names.txt")) {
		if heading, ok := strings.CutPrefix(strings.TrimSpace(line), "["); ok {
			title = strings.TrimSuffix(heading, "]")
		} else if !strings.HasPrefix(line, "#") {
			names[title] = append(names[title], strings.Fields(line)...)
		}
	}
	return names
}

func TestTheMapHasARowForEveryPublishedName(t *testing.T) {
	rows, total := mapRows(t), 0
	for title, names := range publishedNames(t) {
		mapped := map[string]bool{}
		for _, row := range rows[title] {
			for _, name := range row.theirs {
				mapped[name] = true
				if !slices.Contains(names, name) {
					t.Errorf("%s: there is no %s in that API", title, name)
				}
			}
			if row.here == "" || strings.HasPrefix(row.here, "not here") && !strings.Contains(row.here, "because") && !strings.Contains(row.here, "see ") {
				t.Errorf("%s: nothing is said of %s", title, row.theirs)
			}
		}
		for _, name := range names {
			total++
			if !mapped[name] {
				t.Errorf("%s: %s has no row", title, name)
			}
		}
	}
	if total < 250 {
		t.Errorf("only %d names were looked for", total)
	}
}

// awaited are the names that the documents tell of while they are still being built. One that
// is there is of no use in this list, which is empty when all of them are.
var awaited []string

// isAwaited reports whether a name is not there yet, and may be missing.
func isAwaited(t *testing.T, name string) bool {
	t.Helper()
	if !slices.Contains(awaited, name) {
		return false
	}
	t.Logf("%s is awaited", name)
	return true
}

// awaits reports whether a hook of a document uses what is still being built.
func awaits(t *testing.T, a *annotations, code string) bool {
	t.Helper()
	missing := unknownMembers(a, code)
	for _, name := range missing {
		if !isAwaited(t, name) {
			return false
		}
	}
	return len(missing) > 0
}

// mapOwners are what the page writes before the dot, and the type that has the names behind it.
func mapOwners(a *annotations) map[string][]string {
	owners := map[string][]string{
		"t": a.names(a.modules["pi.test"]), "opts": slices.Concat(a.names(a.classes["pi.RenderOptions"]), a.names(a.classes["pi.CallRenderOptions"]), a.names(a.classes["pi.KeyOptions"])),
		"pi": a.names(a.classes["pi"]), "ctx": append(a.names(a.classes["pi.Context"]), a.names(a.classes["pi.CommandContext"])...),
		"ctx.ui": a.names(a.classes["pi.UI"]), "ctx.session": a.names(a.classes["pi.Session"]), "ctx.ui.theme": a.names(a.classes["pi.Theme"]),
		"theme": a.names(a.classes["pi.Theme"]), "surface": append(a.names(a.classes["pi.Surface"]), a.names(a.classes["pi.DrawSurface"])...), "data": a.names(a.classes["pi.DrawData"]), "call": a.names(a.classes["pi.ToolCallHandle"]),
		"pi.paths": a.names(a.classes["pi.Paths"]),
	}
	for name, module := range a.modules {
		owners[strings.TrimPrefix(name, "pi.")] = a.names(module)
	}
	return owners
}

var memberName = regexp.MustCompile(`\b(?:ctx\.ui\.theme|ctx\.ui|ctx\.session|pi\.paths|[a-z]\w*)\.\w+`)

// unknownMembers are the members that a text names and that are not there; a name whose owner
// is not one of ours, such as opts.text, is passed over.
func unknownMembers(a *annotations, text string) (unknown []string) {
	owners := mapOwners(a)
	for _, name := range memberName.FindAllString(text, -1) {
		dot := strings.LastIndexByte(name, '.')
		if members, ours := owners[name[:dot]]; ours && !slices.Contains(members, name[dot+1:]) && a.modules[name] == nil && a.classes[name] == nil {
			unknown = append(unknown, name)
		}
	}
	return unknown
}

func TestTheMapLeadsToNamesThatExist(t *testing.T) {
	a, seen := readAnnotations(t), 0
	page := regexp.MustCompile("(?s)```ts\n.*?```").ReplaceAllString(mustRead(t, inModule("docs/porting.md")), "")
	for _, span := range regexp.MustCompile("(?s)```lua\n(.*?)```|`([^`\n]+)`").FindAllStringSubmatch(page, -1) {
		seen++
		for _, name := range unknownMembers(a, span[1]+span[2]) {
			if !isAwaited(t, name) {
				t.Errorf("there is no %s", name)
			}
		}
	}
	if seen < 250 {
		t.Errorf("only %d pieces of code were looked at", seen)
	}
}

// TestWhatTheMapCallsTheSameIsTheSame: a row that says so means the name there in snake case.
func TestWhatTheMapCallsTheSameIsTheSame(t *testing.T) {
	a := readAnnotations(t)
	owners := mapOwners(a)
	var events []string
	for _, e := range event.Infos() {
		events = append(events, e.Name)
	}
	ours := map[string][]string{
		"Events": events, "pi": owners["pi"], "ctx": owners["ctx"], "ctx.ui": slices.Concat(owners["ctx.ui"], owners["theme"]),
		"Tools": a.names(a.classes["pi.ToolOptions"]),
	}
	seen := 0
	for title, rows := range mapRows(t) {
		for _, row := range rows {
			if row.here != "same" && !regexp.MustCompile(`^same[,:; ]`).MatchString(row.here) {
				continue
			}
			for _, name := range row.theirs {
				seen++
				if !slices.Contains(ours[title], inSnakeCase(name)) {
					t.Errorf("%s: there is no %s", title, inSnakeCase(name))
				}
			}
		}
	}
	if seen < 70 {
		t.Errorf("only %d names are the same", seen)
	}
}

func inSnakeCase(name string) string {
	var b strings.Builder
	for _, r := range name {
		if unicode.IsUpper(r) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// TestTheEventsOfTheMapAreThere: in the section of events a word alone in code is an event, or
// what one carries or takes.
func TestTheEventsOfTheMapAreThere(t *testing.T) {
	known, seen := map[string]bool{}, 0
	for _, e := range event.Infos() {
		known[e.Name] = true
		for _, f := range append(slices.Clone(e.Fields), e.Results...) {
			known[f.Name] = true
		}
	}
	for _, name := range publishedNames(t)["Events"] {
		known[name] = true
	}
	_, section, _ := strings.Cut(mustRead(t, inModule("docs/porting.md")), "\n## Events\n")
	section, _, _ = strings.Cut(section, "\n## ")
	for _, span := range codeSpan.FindAllStringSubmatch(section, -1) {
		if !regexp.MustCompile(`^[a-z]+_[a-z_]+$`).MatchString(span[1]) {
			continue
		}
		if seen++; !known[span[1]] && !isAwaited(t, span[1]) {
			t.Errorf("there is no %s", span[1])
		}
	}
	if seen < 50 {
		t.Errorf("only %d names were looked at", seen)
	}
}

// A model that ports reads the page whole: with its tables, a token is about 3.5 characters.
func TestTheMapIsShort(t *testing.T) {
	if tokens := len([]rune(mustRead(t, inModule("docs/porting.md")))) * 2 / 7; tokens > 8000 {
		t.Errorf("about %d tokens", tokens)
	}
}

// portedPrograms are the hooks that the page has made of extensions, by their names.
func portedPrograms(t *testing.T) map[string]string {
	t.Helper()
	programs := map[string]string{}
	for _, block := range luaBlock.FindAllStringSubmatch(mustRead(t, inModule("docs/porting.md")), -1) {
		if name := regexp.MustCompile(`^-- (\w+)\.lua\n`).FindStringSubmatch(block[1]); name != nil {
			programs[name[1]] = block[1]
		}
	}
	return programs
}

// portedTests say what each of the programs is for.
var portedTests = map[string]string{
	"push": `
t.case("a push is asked about", function(t)
  t.hook("hooks/push.lua")
  t.model { { tool = "bash", input = { command = "git push" } }, "done" }
  t.prompt("push")
  t.blocked("bash", "not now")
end)
t.case("a push gets a time", function(t)
  t.hook("hooks/push.lua")
  t.answers { confirm = true }
  t.model { { tool = "bash", input = { command = "git  push" } }, "done" }
  t.prompt("push")
  t.ran("bash", '"timeout":60')
end)`,
	"until": `
t.case("goes on until the check passes", function(t)
  t.hook("hooks/until.lua")
  t.answers { continuations = true }
  t.model { "I try", { tool = "write", input = { path = "ok", content = "" } }, "done" }
  t.command("/until test -e ok")
  t.equal(#t.requests(), 3)
  t.match(require("pi.text").of(t.requests()[1].messages[1]), "Make .test %-e ok. pass")
end)`,
	"branch_footer": `
t.case("is as wide as the window", function(t)
  t.hook("hooks/branch_footer.lua")
  t.model { "hello" }
  t.prompt("hello")
  local text = require "pi.text"
  t.equal(text.width(t.footer(40)[1]), 40)
  t.equal(text.width(t.footer(100)[1]), 100)
end)`,
	"lines": `
t.case("counts", function(t)
  t.hook("hooks/lines.lua")
  t.file("two.txt", "a\nb\n")
  t.match(t.tool("lines", { path = "two.txt" }).text, "2 two.txt")
  local none = t.tool("lines", { path = "none.txt" })
  t.equal(none.is_error, true)
  t.match(none.text, "wc ended with 1")
end)`,
	"scout": `
t.case("looks around beside the conversation", function(t)
  t.hook("hooks/scout.lua")
  t.file("notes.txt", "buy milk")
  t.model { { calls = { { tool = "read", input = { path = "notes.txt" } }, { tool = "bash", input = { command = "touch made" } } } }, "Milk is to be bought." }
  t.equal(t.command("/scout what is to be bought?"), "Milk is to be bought.")
  t.ran("read", "notes.txt")
  t.equal(t.read("made"), nil)
  t.equal(t.calls("read")[1].agent, "agent")
  local sent = t.requests()[2].messages
  t.match(require("pi.text").of(sent[3]), "buy milk")
  t.equal(sent[4].is_error, true)
  t.equal(#t.messages(), 0)
end)`,
	"snippets": `
t.case("puts the text into the line", function(t)
  t.hook("hooks/snippets.lua")
  t.config { hook = { snippets = { texts = { { name = "fix", text = "Fix the tests." } } } } }
  t.answers { select = "fix" }
  t.command("/snippet")
  t.equal(t.typed(), "Fix the tests.")
end)`,
}

func TestTheProgramsOfTheMapDoWhatTheirOriginalsDo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	programs := portedPrograms(t)
	if want := slices.Sorted(maps.Keys(portedTests)); !slices.Equal(slices.Sorted(maps.Keys(programs)), want) {
		t.Fatalf("the page has %q, tested are %q", slices.Sorted(maps.Keys(programs)), want)
	}
	tests, a := "local t = require \"pi.test\"\n", readAnnotations(t)
	for name, code := range programs {
		if awaits(t, a, code+portedTests[name]) {
			continue
		}
		path := w.agentFile("ported/hooks/" + name + ".lua")
		w.write(path, code)
		if out, _ := w.piTells("hooks", "check", path); !strings.Contains(out, "loads") || strings.Contains(out, "problem") {
			t.Errorf("pi hooks check %s says\n%s", name, out)
		}
		tests += portedTests[name]
	}
	w.write(w.agentFile("ported/ported_test.lua"), tests)
	if out := w.pi("test", w.agentFile("ported/ported_test.lua")); !strings.HasPrefix(out, "ok ") {
		t.Errorf("pi test says\n%s", out)
	}
}
