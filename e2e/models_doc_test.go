//go:build unix

package e2e

import (
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pi/agent/provider"
	"pi/agent/provider/anthropic"
	"pi/agent/provider/catalogue"
	"pi/agent/provider/google"
	"pi/agent/provider/openai"
	"pi/agent/provider/responses"
	"pi/cli/config"
	"pi/cli/keyring"
	"pi/cli/providers"
)

// wireAPI is a wire API with the file whose package comment describes its
// switches.
type wireAPI struct {
	name, file string
	check      func(map[string]any) error
}

func wireAPIs() []wireAPI {
	return []wireAPI{
		{"anthropic-messages", "agent/provider/anthropic/anthropic.go", anthropic.CheckCompat},
		{"openai-completions", "agent/provider/openai/openai.go", openai.CheckCompat},
		{"openai-responses", "agent/provider/responses/responses.go", responses.CheckCompat},
		{"google-generative-ai", "agent/provider/google/google.go", google.CheckCompat},
	}
}

// described is a switch and what the package comment says of it.
type described struct{ name, text string }

// switchesIn reads the list behind the line that speaks of Model.Compat.
func switchesIn(t *testing.T, file string) []described {
	t.Helper()
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
	for _, api := range wireAPIs() {
		var unknown *provider.UnknownSwitch
		if !errors.As(api.check(map[string]any{"?": true}), &unknown) {
			t.Fatalf("%s does not say which switches it has", api.name)
		}
		var names []string
		for _, d := range switchesIn(t, api.file) {
			names = append(names, d.name)
		}
		if slices.Sort(names); !slices.Equal(names, unknown.Known) {
			t.Errorf("%s describes\n%q\nand has\n%q", api.name, names, unknown.Known)
		}
	}
}

func TestTheGuideToModelsHasTheSwitchesOfTheProgram(t *testing.T) {
	var b strings.Builder
	for _, api := range wireAPIs() {
		fmt.Fprintf(&b, "\n### %s\n\n| switch | |\n|---|---|\n", api.name)
		for _, d := range switchesIn(t, api.file) {
			fmt.Fprintf(&b, "| `%s` | %s |\n", d.name, inCell(d.text))
		}
	}
	b.WriteString("\n")
	generated(t, "docs/models.md", "<!-- switches -->\n", "<!-- /switches -->\n", b.String())
}

func TestNamesOfTheReadmeFitOneModel(t *testing.T) {
	readme, err := os.ReadFile(inModule("README.md"))
	if err != nil {
		t.Fatal(err)
	}
	keys := map[string]string{"ANTHROPIC_API_KEY": "a", "OPENAI_API_KEY": "o", "GEMINI_API_KEY": "g"}
	models := providers.New(config.Config{}, keyring.New(keyring.Options{AgentDir: t.TempDir(), Getenv: func(name string) string { return keys[name] }}), catalogue.Models)
	sentence := regexp.MustCompile(`(?s)A name is whatever fits one model only: (.*?)\.\s`).FindString(string(readme))
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
