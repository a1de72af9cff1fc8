//go:build unix

package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"pi/luahooks"
)

// update makes the test of the guide write what it would compare.
var update = flag.Bool("update", false, "write the table of events into docs/hooks.md")

func mustRead(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

const (
	eventsBegin = "<!-- events -->\n"
	eventsEnd   = "<!-- /events -->\n"
)

// eventTable is the table of events as the guide has it.
func eventTable(events []luahooks.EventInfo) string {
	var b strings.Builder
	b.WriteString("| event | | it carries | a handler may return | several handlers |\n|---|---|---|---|---|\n")
	for _, e := range events {
		kind := "tells"
		if e.Asking {
			kind = "asks"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", e.Name, kind, cells(e.Fields), cells(e.Results), e.Rule)
	}
	return b.String()
}

// cells lists fields: `name` type, `name` type. In a table a bar has to be
// escaped.
func cells(fields []luahooks.Field) string {
	var parts []string
	for _, f := range fields {
		parts = append(parts, "`"+f.Name+"` "+strings.ReplaceAll(f.Type, "|", "\\|"))
	}
	return strings.Join(parts, ", ")
}

func TestTheHookGuideHasTheEventsOfTheProgram(t *testing.T) {
	const path = "docs/hooks.md"
	guide := mustRead(t, path)
	head, rest, begins := strings.Cut(guide, eventsBegin)
	have, tail, ends := strings.Cut(rest, eventsEnd)
	if !begins || !ends {
		t.Fatalf("%s has no place for the events", path)
	}
	want := eventTable(luahooks.Events())
	if *update {
		if err := os.WriteFile(path, []byte(head+eventsBegin+want+eventsEnd+tail), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if have != want {
		t.Errorf("the events of %s differ from those of the program; go test . -run TestTheHookGuide -update writes them", path)
	}
}

func TestTheHookGuideExplainsTheTypesOfTheEvents(t *testing.T) {
	guide := mustRead(t, "docs/hooks.md")
	name := regexp.MustCompile(`pi\.[A-Z]\w+`)
	seen := 0
	for _, e := range luahooks.Events() {
		for _, f := range append(append([]luahooks.Field{}, e.Fields...), e.Results...) {
			for _, typ := range name.FindAllString(f.Type, -1) {
				seen++
				if !strings.Contains(guide, "\n| `"+typ+"` | ") {
					t.Errorf("%s, which %s of %s is, is not explained", typ, f.Name, e.Name)
				}
			}
		}
	}
	if seen == 0 {
		t.Error("no event has a type of its own")
	}
}

var luaBlock = regexp.MustCompile("(?s)```lua\n(.*?)```")

func TestEveryExampleOfTheDocumentsLoads(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"README.md", "docs/hooks.md"} {
		blocks := luaBlock.FindAllStringSubmatch(mustRead(t, path), -1)
		if len(blocks) == 0 {
			t.Errorf("%s has no example", path)
		}
		for i, block := range blocks {
			t.Run(fmt.Sprintf("%s %d", path, i+1), func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				w.write(w.agentFile("hooks/example.lua"), block[1])
				answer, notices := w.piTells("-p", "read a.txt")
				if !strings.HasPrefix(answer, "a.txt has 2 lines:") || strings.Contains(notices, "hook") {
					t.Errorf("%s\n%s", answer, notices)
				}
			})
		}
	}
}

func TestTheFirstHookOfTheReadmeProtectsAFile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write(w.agentFile("hooks/careful.lua"), luaBlock.FindStringSubmatch(mustRead(t, "README.md"))[1])
	if got := w.pi("-p", "run `rm a.txt`"); !strings.Contains(got, "do not remove files") {
		t.Errorf("the answer is %q", got)
	}
	if _, err := os.Stat(filepath.Join(w.project, "a.txt")); err != nil {
		t.Error(err)
	}
}

func TestTheGuideForgetsAsItSays(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := newModelServer("openai-completions", "text noted\n---\ntext no idea", "")
	t.Cleanup(s.http.Close)
	w.write(w.agentFile("config.toml"), s.settings())
	for _, block := range luaBlock.FindAllStringSubmatch(mustRead(t, "docs/hooks.md"), -1) {
		if strings.Contains(block[1], `"forget"`) {
			w.write(w.agentFile("hooks/forget.lua"), block[1])
		}
	}
	w.pi("-p", "the word is xyzzy", "/forget", "what was the word?")
	asked := s.asked()
	if len(asked) != 2 {
		t.Fatalf("the model was asked %d times, want 2", len(asked))
	}
	for i, want := range []bool{true, false} {
		if got := strings.Contains(string(asked[i].body), "xyzzy"); got != want {
			t.Errorf("request %d has the word: %v, want %v", i, got, want)
		}
	}
}

func TestTheReadmeNamesPlacesThatExist(t *testing.T) {
	readme := mustRead(t, "README.md")
	_, tree, _ := strings.Cut(readme, "## The code")
	tree, _, _ = strings.Cut(tree, "## ")
	var paths []string
	for _, line := range strings.Split(tree, "\n") {
		for _, word := range strings.Fields(line) {
			if !strings.HasSuffix(word, "/") && !strings.HasSuffix(word, ".go") {
				break // from here on the line says what is there
			}
			paths = append(paths, word)
		}
	}
	for _, link := range regexp.MustCompile(`\]\(([^)]+)\)`).FindAllStringSubmatch(readme, -1) {
		paths = append(paths, link[1])
	}
	if len(paths) < 10 {
		t.Fatalf("the README has only %q", paths)
	}
	for _, p := range paths {
		if _, err := os.Stat(p); err != nil {
			t.Error(err)
		}
	}
}

func TestTheSettingsWithoutEffectAreNamedAlike(t *testing.T) {
	named := func(file, from, to string) string {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		_, text, found := strings.Cut(string(raw), from)
		list, _, ends := strings.Cut(text, to)
		if !found || !ends {
			t.Fatalf("%s names no settings without effect", file)
		}
		return strings.Join(strings.Fields(strings.NewReplacer("`", "", "#", "").Replace(list)), " ")
	}
	readme := named("README.md", "have no effect in this version:", ".\n")
	if example := named("config.example.toml", "without effect in this version:", ".\n"); example != readme {
		t.Errorf("config.example.toml: %s\nREADME.md: %s", example, readme)
	}
}
