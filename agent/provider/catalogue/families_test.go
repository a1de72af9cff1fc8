package catalogue

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pi/agent/llm"
)

func TestAFamilyIsKnownByEveryFormOfTheId(t *testing.T) {
	for _, c := range []struct {
		ids, levels string
		answer      int
	}{
		{"claude-opus-5-5 anthropic/claude-opus-5.5 us.anthropic.claude-opus-5-5-20260901-v1:0 claude-opus-5-5@20260901 Claude-Opus-5.5-latest claude-opus-6", "low medium high xhigh max", 128000},
		{"claude-sonnet-5-5 claude-haiku-5-5 claude-opus-5 claude-opus-4-8 claude-sonnet-6-1", "off low medium high xhigh max", 128000},
		{"claude-fable-5-1 claude-mythos-5 claude-fable-6", "low medium high xhigh max", 128000},
		{"claude-opus-4-6 anthropic/claude-sonnet-4.6:beta", "off low medium high max", 128000},
		{"claude-opus-4-5-20251101 claude-sonnet-4-20250514 claude-3-7-sonnet", "off minimal low medium high xhigh", 64000},
		{"claude-instant", "never", 0},
		{"claude-3-5-sonnet-20241022 databricks-claude-3-5-haiku", "never", 8192},
		{"databricks-claude-opus-5-5 bedrock-claude-opus-5-5 cc-claude-fable-5-1 google-claude-mythos-5", "low medium high xhigh max", 128000},
		{"google-gemini-4-pro", "low medium high", 65536},
		{"gpt-5.1-chat-latest openai/gpt-5.2-chat gpt-5.3-chat-latest", "never", 16384},
		{"gpt-4-turbo gpt-3.5-turbo", "never", 4096},
		{"gpt-4.1-nano", "never", 32768},
		{"glm-4-9b-chat acme-nothink", "never", 0},
		{"gemini-2.5-flash-image gemini-2.5-flash-preview-05-20-nothink", "never", 65536},
		{"glm-4.5 z-ai/glm-4.5-air", "some way", 98304},
		{"glm-4.6 glm-4.7-flash glm-5-turbo glm-5v-turbo", "some way", 131072},
		{"glm-4.6v", "some way", 32768},
		{"glm-4.5v", "some way", 16384},
		{"gpt-5 gpt-5-2025-08-07 openai/gpt-5-mini openai-gpt-5-nano", "minimal low medium high", 128000},
		{"gpt-5.4 gpt-5.5-2026-03-05", "off low medium high xhigh", 128000},
		{"gpt-6-astra gpt-6.1-sol gpt-6.2-sol gpt-7", "low medium high xhigh max", 128000},
		{"gpt-6-sol gpt-6-luna gpt-6.1-terra", "off low medium high xhigh max", 128000},
		{"gpt-4.1-mini", "never", 32768},
		{"gpt-4-1106-preview", "never", 0},
		{"gpt-5-chat-latest", "never", 16384},
		{"o3 o4-mini", "low medium high", 100000},
		{"gemini-4-argon gemini-3.8-flash gemini-5-pro gemini-flash-latest", "low medium high", 65536},
		{"gemini-3.6-flash gemini-3.1-flash-lite gemini-3-flash-preview", "minimal low medium high", 65536},
		{"grok-4.3", "off low medium high", 0},
		{"grok-4.7 x-ai/grok-5", "low medium high xhigh", 0},
		{"grok-4.20-non-reasoning", "never", 0},
		{"grok-4.20 grok-build-0.1 qwen3-235b-thinking-2507 kimi-k2.7-code minimax-m2.7", "always", -1},
		{"glm-5.3 accounts/fireworks/models/glm-5p3 zai-glm-5-3-flash glm-6", "low high max", 131072},
		{"kimi-k2.5 glm-4.7 glm-5", "some way", -1},
		{"k3 kimi-k3 k3.1-pro moonshotai/kimi-k3.1-pro kimi-for-coding", "low high max", 131072},
		{"deepseek-flash deepseek-v4.1-flash-1017", "off low high max", 384000},
		{"deepseek-v4-pro deepseek-v4-pro-0813", "off high max", 384000},
		{"mistral-large-4 mistral-large-4-0-8", "low medium high", 262144},
		{"mistral-large-2512 llama-3.3-70b-versatile acme-1", "never", 0},
		{"MiniMax-M3.1-Flash", "low medium high xhigh max", 524288},
	} {
		for id := range strings.FieldsSeq(c.ids) {
			f := FamilyOf(id)
			levels := strings.Join(f.Levels, " ")
			switch {
			case f.Levels == nil && f.Always:
				levels = "always"
			case f.Levels == nil && f.Thinks:
				levels = "some way"
			case !f.Thinks:
				levels = "never"
			}
			if levels != c.levels || c.answer >= 0 && f.Answer != c.answer {
				t.Errorf("%s thinks %q and answers %d tokens, want %q and %d", id, levels, f.Answer, c.levels, c.answer)
			}
		}
	}
}

// A pattern that can match nothing, or a word that is no level, is a slip of the pen.
func TestTheTableOfFamiliesIsWellFormed(t *testing.T) {
	for _, row := range families {
		for glob := range strings.FieldsSeq(row.ids) {
			if _, err := path.Match(glob, ""); err != nil || glob != strings.ToLower(glob) || strings.ContainsAny(glob, "./:@_") {
				t.Errorf("%s matches no name: names are in lower case, with hyphens", glob)
			}
		}
		for level := range strings.FieldsSeq(row.levels) {
			if !slices.Contains(llm.ThinkingLevels(), level) && !slices.Contains([]string{"-", "?", "!"}, level) {
				t.Errorf("%s: %q is no level", row.ids, level)
			}
		}
	}
}

// What a model takes is told here: the clients know switches, and no model.
func TestClientsHaveNoNamesOfModels(t *testing.T) {
	names := regexp.MustCompile(`(?i)claude|opus|sonnet|haiku|fable|mythos|gpt|\bo[1-9]\b|gemini|gemma|grok|deepseek|\bglm|kimi|\bk[1-9]\b|mistral|minimax|qwen|llama`)
	for _, client := range []string{"anthropic", "google", "openai", "responses"} {
		files, err := filepath.Glob("../" + client + "/*.go")
		if err != nil || len(files) == 0 {
			t.Fatal(client, err)
		}
		for _, path := range files {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(file, func(n ast.Node) bool {
				if text, ok := n.(*ast.BasicLit); ok && names.MatchString(text.Value) {
					t.Errorf("%s has %s", path, text.Value)
				}
				return true
			})
		}
	}
}

func FuzzFamilyName(f *testing.F) {
	for _, id := range []string{"", "/", ":", "a/b:c", "glm-5p3", "us.anthropic.claude-v1:0", "claude-20250101", "-latest"} {
		f.Add(id)
	}
	f.Fuzz(func(t *testing.T, id string) {
		if name := familyName(id); name != strings.ToLower(name) || strings.ContainsAny(name, "/@_") && !strings.ContainsAny(id, "\u212a\u0130") {
			t.Errorf("%q is %q", id, name)
		}
		FamilyOf(id)
	})
}
