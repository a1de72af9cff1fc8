//go:build unix

package e2e

import (
	"go/ast"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A hook cannot ask which options a function takes, but the source says it: each
// reads its tables with luavm.Unpack or UnpackTable, under a name for messages,
// and luavm.Opt for each key. What these say is what the annotations have to say.

// tableReaders finds the keys of every table that Go reads, by the name for
// messages; where that is not a plain text, by the name of the Go function. Two
// tables of one function come together.
func tableReaders(t *testing.T) map[string][]string {
	t.Helper()
	readers := map[string][]string{}
	folders := []string{"luahooks", "luahooks/api", "luahooks/record", "luahooks/event", "stdlib"}
	eachGoFile(t, func(name string, file *ast.File) {
		if strings.HasSuffix(name, "_test.go") || !slices.Contains(folders, path.Dir(name)) {
			return
		}
		for _, decl := range file.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok {
				continue
			}
			ast.Inspect(fn, func(n ast.Node) bool {
				if call, ok := n.(*ast.CallExpr); ok && (calls(call, "Unpack") || calls(call, "UnpackTable")) {
					name, ok := text(call.Args[2])
					if !ok {
						name = "go " + fn.Name.Name
					}
					readers[name] = append(readers[name], optionsIn(call)...)
				}
				return true
			})
		}
	})
	return readers
}

// calls reports whether a call is of luavm's function of a name.
func calls(call *ast.CallExpr, name string) bool {
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || sel.Sel.Name != name {
		return false
	}
	pkg, ok := sel.X.(*ast.Ident)
	return ok && pkg.Name == "luavm"
}

func text(e ast.Expr) (string, bool) {
	lit, ok := e.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return "", false
	}
	s, err := strconv.Unquote(lit.Value)
	return s, err == nil
}

func optionsIn(call *ast.CallExpr) []string {
	var keys []string
	ast.Inspect(call, func(n ast.Node) bool {
		if opt, ok := n.(*ast.CallExpr); ok && calls(opt, "Opt") {
			if key, ok := text(opt.Args[0]); ok {
				keys = append(keys, key)
			}
		}
		return true
	})
	return keys
}

// tableClasses are the classes of tables that are no argument of a function, by
// the name for messages: what a function of the hook returns, or what lies in
// other tables.
func tableClasses() map[string]string {
	return map[string]string{
		"provider: cost":        "pi.PriceOptions",
		"provider: cost: above": "pi.PriceStepOptions",
		"result of the tool":    "pi.ToolResult",
		"result of the command": "pi.CommandResult",
		"emit":                  "pi.StreamDelta",
		"usage":                 "pi.Usage",
		"usage: cost":           "pi.Cost",
		"complete: tools":       "pi.ToolSpec",
		"provider":              "pi.ModelOptions",
		"go readReplyTable":     "pi.HttpAnswer",
		"go readLogin":          "pi.LoginFlow",
		"ui.ask":                "pi.LoginAskOptions",
		"auth":                  "pi.LoginAuth",
		"go maxOption":          "pi.MatchOptions",
		"go attachments":        "pi.Attachment",
		"go zoneOption":         "pi.TimeOptions",
		"go read":               "pi.HttpCallOptions",
		"go dialogOptions":      "pi.DialogOptions",
		"go cwdOption":          "pi.GitOptions",
		"go choiceOf":           "pi.Choice",
		"go planItem":           "pi.PlanStep",
		"go options":            "pi.DialogOptions",
		"go readCalls":          "pi.SpawnedOptions",
		"go completion":         "pi.Completion",
		"handle_input":          "pi.KeyOptions",
		"on: group":             "pi.HandlerGroup",
		"tool: annotations":     "pi.AnnotationOptions",
		"go serverFields":       "pi.McpEntry",
		"go oauthFields":        "pi.McpOAuth",
		"go errandOf":           "pi.AgentOptions",
	}
}

// keysOf are the keys that annotations give the tables of a function: of all
// classes that its parameters are.
func (a *annotations) keysOf(name string) (keys []string, ok bool) {
	if class := a.classes[tableClasses()[name]]; class != nil {
		keys, ok = a.names(class), true
	}
	module, function, inModule := strings.Cut(name, ".")
	if !inModule {
		module, function = "", name
	}
	for _, c := range a.order {
		m := c.member(function)
		if m == nil || m.fn == nil || inModule != (a.modules[c.name] != nil) && c.name != "pi.llm" || inModule && c.name != "pi."+module {
			continue
		}
		ok = true
		for _, p := range m.fn.params {
			for _, class := range a.order {
				if strings.Contains("|"+p.typ+"|", "|"+class.name+"|") && class.name != "pi.Model" && class.name != "pi.ModelRef" {
					keys = append(keys, a.names(class)...)
				}
			}
		}
	}
	return keys, ok
}

func (a *annotations) names(c *annotatedClass) []string {
	var names []string
	for _, m := range a.all(c) {
		names = append(names, m.name)
	}
	return names
}

func TestTheAnnotationsHaveTheOptionsThatFunctionsTake(t *testing.T) {
	a := readAnnotations(t)
	readers := tableReaders(t)
	if len(readers) < 10 {
		t.Fatalf("only %d functions take options", len(readers))
	}
	delete(readers, "go annotate") // see TestTheAnnotationsHaveTheKeywordsOfSchemas
	for name, takes := range readers {
		have, ok := a.keysOf(name)
		if !ok {
			t.Errorf("%s takes %q and is not annotated", name, takes)
			continue
		}
		takes, have = sorted(takes), sorted(have)
		if !slices.Equal(takes, have) {
			t.Errorf("%s takes %q, annotated with %q", name, takes, have)
		}
	}
}

func sorted(words []string) []string {
	slices.Sort(words)
	return slices.Compact(words)
}

func TestTheAnnotationsHaveTheKeywordsOfSchemas(t *testing.T) {
	a := readAnnotations(t)
	var takes, have []string
	for _, m := range regexp.MustCompile(`\{"(\w+)", lua\.LT`).FindAllStringSubmatch(mustRead(t, inModule("stdlib/schema.go")), -1) {
		takes = append(takes, m[1])
	}
	for _, c := range a.order {
		if strings.HasSuffix(c.name, "SchemaOptions") {
			have = append(have, a.names(c)...)
		}
	}
	if takes, have = sorted(takes), sorted(have); !slices.Equal(takes, have) {
		t.Errorf("schemas take %q, annotated with %q", takes, have)
	}
}

func TestTheAnnotationsHaveTheKeysThatAnswersMayHave(t *testing.T) {
	a := readAnnotations(t)
	source := sourceOf(t, "luahooks/event")
	read := regexp.MustCompile(`\.record\("(\w+)", "(pi\.\w+)\?", "[^"]*"((?:, "\w+")+)\)`).FindAllStringSubmatch(source, -1)
	replacement := regexp.MustCompile(`\.Record\("(replacement)"((?:, "\w+")+)\)`).FindStringSubmatch(source)
	if replacement == nil {
		t.Fatal("no replacement is read")
	}
	read = append(read, []string{"", replacement[1], "pi.Replacement", replacement[2]})
	if len(read) < 5 {
		t.Fatalf("only %d records are read", len(read))
	}
	for _, m := range read {
		class := a.classes[m[2]]
		if class == nil {
			t.Errorf("%s with%s is not annotated", m[1], m[3])
			continue
		}
		if takes, have := sorted(plainTexts(m[3])), sorted(a.names(class)); !slices.Equal(takes, have) {
			t.Errorf("%s takes %q, annotated with %q", m[1], takes, have)
		}
	}
	_, drafts, _ := strings.Cut(source, "func draftKeys(")
	drafts, _, found := strings.Cut(drafts, "\n}\n")
	if takes, have := sorted(append(plainTexts(drafts), "type")), sorted(a.names(a.classes["pi.EntryDraft"])); !found || !slices.Equal(takes, have) {
		t.Errorf("drafts take %q, annotated with %q", takes, have)
	}
}

// plainTexts are the plain texts in a piece of code.
func plainTexts(code string) []string {
	var words []string
	for _, m := range regexp.MustCompile(`"(\w+)"`).FindAllStringSubmatch(code, -1) {
		words = append(words, m[1])
	}
	return words
}
