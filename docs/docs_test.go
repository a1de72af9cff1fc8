package docs

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestSectionsAreFound(t *testing.T) {
	t.Parallel()
	hooks, err := Find("hooks")
	if err != nil || hooks.Title != "Hooks" || !strings.Contains(hooks.Text(), "## In brief") {
		t.Fatalf("%q, %v", hooks.Title, err)
	}
	reference, err := Find("reference")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		in                     Guide
		name, begins, has, not string
	}{
		{hooks, "A gate", "## A gate\n", "pi.sh", "## A command"},
		{hooks, "a GATE", "## A gate\n", "", ""},
		{hooks, "gate", "## A gate\n", "", ""},
		{hooks, "## Patterns", "## Patterns\n", "Split a hook", "## In brief"},
		{reference, "tool_call", "#### tool_call\n", "tool_name", "#### tool_result"},
		{reference, "Everything by name", "## Everything by name\n", "### ctx\n", ""},
		{reference, "Records", "### Records\n", "", ""},
		{reference, "pi.spawn", "### pi\n", "| `spawn(cmd, args?, opts?)`", "`spawned("},
		{reference, "ctx.ui.confirm", "### ctx.ui\n", "| `confirm(", "`select("},
		{reference, "fs.read", "### pi.fs\n", "| `read(", "`write("},
		{reference, "pi.fs.read()", "### pi.fs\n", "| `read(", "`write("},
		{reference, "pi.paths", "### pi\n", "| `paths` ", "`version`"},
		{reference, "pi.TestAnswers", "`pi.TestAnswers`: ", "| `confirm` ", "`pi.TestStep"},
		{reference, "TestAnswers", "`pi.TestAnswers`: ", "| `confirm` ", ""},
		{reference, "pi.HttpResponse", "`pi.HttpResponse`", "| `status` ", "###"},
		{reference, "HttpResponse.status", "`pi.HttpResponse`\n", "| `status` ", "| `body`"},
		{reference, "ctx.session.id", "`pi.Session`\n", "| `id()`", "`tree("},
		{reference, "theme.fg", "`pi.Theme`\n", "| `fg(", "`bold("},
		{reference, "ctx.ui.theme.fg", "`pi.Theme`\n", "| `fg(", "`bold("},
		{reference, "t.clock.advance", "`pi.TestClock`\n", "| `advance(", "`now("},
		{reference, "t.partial", "### pi.test\n", "| `partial(", "`mcp_calls("},
		{reference, "pi.provider", "### pi\n", "| `provider(", ""},
	} {
		text, err := c.in.Section(c.name)
		if err != nil || !strings.HasPrefix(text, c.begins) || !strings.Contains(text, c.has) || c.not != "" && strings.Contains(text, c.not) {
			t.Errorf("%s: %v\n%.200s", c.name, err, text)
		}
	}
	for name, want := range map[string]string{"Recods": `did you mean "Records"?`, "": "no section", "pi.spwan": `no "spwan" in the section "pi", did you mean "spawn"?`, "po.spawn": `no section "po.spawn"`, "zebra": `no section "zebra"`, "ctx.session.idd": `no "idd" in the section "pi.Session", did you mean "id"?`, "Debugging": "`pi docs hooks --section \"Debugging\"`"} {
		if _, err := reference.Section(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", name, err)
		}
	}
	if _, err := Find("hoks"); err == nil || !strings.Contains(err.Error(), `did you mean "hooks"?`) {
		t.Error(err)
	}
}

// What the index does not name, pi docs does not find.
func TestTheIndexNamesEveryGuideOnce(t *testing.T) {
	t.Parallel()
	entries, err := files.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	guides, err := Guides()
	if err != nil {
		t.Fatal(err)
	}
	var want, have []string
	for _, e := range entries {
		if e.Name() != "README.md" {
			want = append(want, strings.TrimSuffix(e.Name(), ".md"))
		}
	}
	for _, g := range guides {
		have = append(have, g.Name)
	}
	if have[0] != "using" || have[len(have)-1] != "architecture" {
		t.Errorf("it begins with %s and ends with %s", have[0], have[len(have)-1])
	}
	if slices.Sort(have); !slices.Equal(have, want) {
		t.Errorf("it names %q, there are %q", have, want)
	}
}

// What a comment of Lua begins with is no heading.
func TestLinesOfCodeAreNoHeadings(t *testing.T) {
	t.Parallel()
	g := Guide{text: "# A\n```sh\n# not\n```\n## B\n#not\n"}
	var titles []string
	for _, s := range g.Sections() {
		titles = append(titles, s.Title)
	}
	if strings.Join(titles, " ") != "A B" {
		t.Errorf("headings are %q", titles)
	}
}

// A model that writes a hook reads this section, which is to cost no more than 2,000 tokens
// of about four bytes, so that there is room for one more section.
func TestTheBriefIsShort(t *testing.T) {
	t.Parallel()
	hooks, err := Find("hooks")
	if err != nil {
		t.Fatal(err)
	}
	text, err := hooks.Section("In brief")
	if err != nil || len(text) > 8000 || len(text) < 2000 {
		t.Errorf("%d bytes, %v", len(text), err)
	}
}

// The guide is to be read, in an hour: what is looked up stands in the reference.
func TestTheGuideIsShort(t *testing.T) {
	t.Parallel()
	hooks, err := Find("hooks")
	if err != nil {
		t.Fatal(err)
	}
	if words := len(strings.Fields(hooks.Text())); words > 12000 {
		t.Errorf("it has %d words", words)
	}
}

// A page that begins with its contents names all of them, in their order.
func TestContentsAreThoseOfThePage(t *testing.T) {
	t.Parallel()
	guides, err := Guides()
	if err != nil {
		t.Fatal(err)
	}
	item := regexp.MustCompile(`(?m)^[0-9]+\. \[([^\]]+)\]\(#[^)]+\)$`)
	pages := 0
	for _, g := range guides {
		head, _, _ := strings.Cut(g.Text(), "\n## ")
		var named, there []string
		for _, match := range item.FindAllStringSubmatch(head, -1) {
			named = append(named, match[1])
		}
		if named == nil {
			continue
		}
		pages++
		for _, s := range g.Sections() {
			if s.Level == 2 {
				there = append(there, s.Title)
			}
		}
		if !slices.Equal(named, there) {
			t.Errorf("%s names %q, and has %q", g.Name, named, there)
		}
	}
	if pages == 0 {
		t.Error("no page begins with its contents")
	}
}
