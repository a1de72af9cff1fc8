//go:build unix

package e2e

import (
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pi/agent/llm"
	"pi/agent/provider"
	"pi/agent/provider/catalogue"
	"pi/agent/provider/wire"
	"pi/cli/config"
	"pi/cli/keyring"
	"pi/cli/providers"
)

// described is a switch and what the package comment says of it.
type described struct{ name, text string }

// switchesOf reads the list of switches in the package comment of an API, behind the line
// that speaks of Model.Compat.
func switchesOf(t *testing.T, api string) []described {
	t.Helper()
	file := map[string]string{
		llm.AnthropicMessages:  "agent/provider/anthropic/anthropic.go",
		llm.OpenAICompletions:  "agent/provider/openai/openai.go",
		llm.OpenAIResponses:    "agent/provider/responses/responses.go",
		llm.GoogleGenerativeAI: "agent/provider/google/google.go",
	}[api]
	if file == "" {
		t.Fatalf("which file describes the switches of %s?", api)
	}
	f, err := parser.ParseFile(token.NewFileSet(), inModule(file), nil, parser.ParseComments|parser.PackageClauseOnly)
	if err != nil || f.Doc == nil {
		t.Fatalf("%s: %v", file, err)
	}
	_, rest, _ := strings.Cut(f.Doc.Text(), "Model.Compat")
	entry := regexp.MustCompile(`^\t([a-z_]+)\s{2,}(.+)$`)
	var list []described
	for line := range strings.Lines(rest) {
		line = strings.TrimRight(line, "\n")
		if m := entry.FindStringSubmatch(line); m != nil {
			list = append(list, described{m[1], m[2]})
		} else if strings.HasPrefix(line, "\t") && len(list) > 0 {
			list[len(list)-1].text += " " + strings.TrimSpace(line)
		} else if len(list) > 0 {
			break
		}
	}
	return list
}

func TestEverySwitchIsDescribedAtItsPackage(t *testing.T) {
	for _, api := range wire.APIs() {
		var unknown *provider.UnknownSwitch
		if !errors.As(api.CheckCompat(map[string]any{"?": true}), &unknown) {
			t.Fatalf("%s does not say which switches it has", api.Name)
		}
		var names []string
		for _, d := range switchesOf(t, api.Name) {
			names = append(names, d.name)
		}
		if slices.Sort(names); !slices.Equal(names, unknown.Known) {
			t.Errorf("%s describes\n%q\nand has\n%q", api.Name, names, unknown.Known)
		}
	}
}

func TestTheGuideToModelsHasTheSwitchesOfTheProgram(t *testing.T) {
	var b strings.Builder
	for _, api := range wire.APIs() {
		fmt.Fprintf(&b, "\n### %s\n\n| switch | |\n|---|---|\n", api.Name)
		for _, d := range switchesOf(t, api.Name) {
			fmt.Fprintf(&b, "| `%s` | %s |\n", d.name, inCell(d.text))
		}
	}
	b.WriteString("\n")
	generated(t, "docs/models.md", "<!-- switches -->\n", "<!-- /switches -->\n", b.String())
}

func TestEveryWireAPIIsNamedWhereUsersLook(t *testing.T) {
	guide := mustRead(t, inModule("docs/models.md"))
	if n := len(wire.APIs()); !strings.Contains(guide, "pi speaks "+[]string{"no", "one", "two", "three", "four", "five", "six", "seven"}[n]+" wire APIs") {
		t.Errorf("docs/models.md does not say that there are %d wire APIs", n)
	}
	for _, api := range wire.APIs() {
		for _, heading := range []string{"| api | who speaks it |\n", "| api | |\n"} {
			_, table, _ := strings.Cut(guide, heading)
			if table, _, _ = strings.Cut(table, "\n\n"); !strings.Contains(table, "| `"+api.Name+"` |") {
				t.Errorf("docs/models.md has no row of %s below %q", api.Name, heading)
			}
		}
		if _, how, _ := strings.Cut(mustRead(t, inModule("config.example.toml")), "# How it is spoken to:"); !strings.Contains(how[:strings.Index(how, "#api =")+1], api.Name) {
			t.Errorf("config.example.toml does not name %s", api.Name)
		}
		if !strings.Contains(mustRead(t, inModule("stdlib/meta/pi.lua")), `"`+api.Name+`"|`) {
			t.Errorf("editors are not told of %s", api.Name)
		}
	}
}

func TestNamesOfTheGuideFitOneModel(t *testing.T) {
	guide := mustRead(t, inModule("docs/using.md"))
	keys := map[string]string{"ANTHROPIC_API_KEY": "a", "OPENAI_API_KEY": "o", "GEMINI_API_KEY": "g"}
	models := providers.New(config.Config{}, keyring.New(keyring.Options{AgentDir: t.TempDir(), Getenv: func(name string) string { return keys[name] }}), catalogue.Models)
	sentence := regexp.MustCompile(`(?s)A name is whatever fits one model only: (.*?)\.\s`).FindString(guide)
	names := regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(sentence, -1)
	if len(names) < 3 {
		t.Fatalf("the sentence is %q", sentence)
	}
	for _, name := range names {
		if m, _, err := models.Match(name[1]); err != nil || m == nil {
			t.Errorf("%s: %v", name[1], err)
		}
	}
}
