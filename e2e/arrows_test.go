package e2e

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// The rooms of the program and the arrows between them: what a room may import
// of this module and, where libraries is set, of other modules. Arrows point one
// way, main → cli → repl, serve, luahooks → agent → session and luahooks → stdlib →
// luavm, so that each room can be read without those above it. Imports
// are read from the source, so the lines hold for every operating system.

// room is a package and what lies below it, up to the next room.
type room struct {
	rooms     []string // besides itself
	libraries []string // module paths; nil: any
}

func rooms() map[string]room {
	return map[string]room{
		"session":               {rooms: []string{"internal/process", "internal/safefile", "session/rawjson", "session/message"}, libraries: []string{}},
		"session/compaction":    {rooms: []string{"session", "session/message", "session/rawjson"}, libraries: []string{}},
		"session/message":       {rooms: []string{"session/rawjson"}, libraries: []string{}},
		"session/folder":        {rooms: []string{"internal/printable", "internal/safefile", "session", "session/message", "session/rawjson"}, libraries: []string{}},
		"session/rawjson":       {libraries: []string{}},
		"internal/gitignore":    {libraries: []string{"github.com/bmatcuk/doublestar/v4"}},
		"internal/diff":         {libraries: []string{"github.com/aymanbagabas/go-udiff"}},
		"internal/fuzzy":        {libraries: []string{"golang.org/x/text"}},
		"internal/githead":      {rooms: []string{"internal/printable", "internal/safefile"}, libraries: []string{}},
		"internal/jsonlines":    {libraries: []string{}},
		"internal/pace":         {libraries: []string{}},
		"internal/picture":      {rooms: []string{"internal/printable"}, libraries: []string{"golang.org/x/image"}},
		"internal/printable":    {libraries: []string{}},
		"internal/roff":         {libraries: []string{"github.com/yuin/goldmark"}},
		"internal/sse":          {libraries: []string{"github.com/tmaxmax/go-sse"}}, // an oracle of its tests
		"internal/suggest":      {libraries: []string{}},
		"internal/version":      {libraries: []string{}},
		"internal/testing":      {rooms: []string{"agent/llm", "internal/sse", "session", "session/message"}, libraries: []string{"github.com/clipperhouse/uax29", "github.com/creack/pty", "github.com/mattn/go-runewidth", "github.com/modelcontextprotocol/go-sdk", "github.com/rogpeppe/go-internal", "golang.org/x/sys", "golang.org/x/term"}}, // support of tests, and of bench
		"internal/unmarkup":     {libraries: []string{"golang.org/x/net"}},
		"internal/filelock":     {rooms: []string{"internal/safefile"}, libraries: []string{"golang.org/x/text"}},
		"internal/safefile":     {libraries: []string{"golang.org/x/sys"}},
		"internal/process":      {libraries: []string{"golang.org/x/sys"}},
		"internal/child":        {rooms: []string{"internal/process"}, libraries: []string{}},
		"internal/frontmatter":  {libraries: []string{}},
		"internal/globs":        {libraries: []string{}},
		"internal/clipboard":    {libraries: []string{}},
		"internal/cells":        {libraries: []string{"github.com/clipperhouse/uax29", "github.com/mattn/go-runewidth"}},
		"internal/markdown":     {rooms: []string{"internal/cells", "internal/markup", "internal/printable"}, libraries: []string{"github.com/yuin/goldmark"}},
		"internal/markup":       {rooms: []string{"internal/printable"}, libraries: []string{}},
		"internal/shown":        {rooms: []string{"internal/cells"}, libraries: []string{}},
		"internal/relay":        {rooms: []string{"internal/printable", "internal/process"}, libraries: []string{"github.com/creack/pty", "golang.org/x/sys", "golang.org/x/term"}},
		"internal/keys":         {libraries: []string{}},
		"internal/pick":         {rooms: []string{"internal/cells", "internal/edit", "internal/fuzzy", "internal/keys", "internal/printable"}, libraries: []string{}},
		"internal/edit":         {rooms: []string{"internal/cells", "internal/printable"}, libraries: []string{}},
		"session/export":        {rooms: []string{"session", "session/export/page", "session/message", "internal/printable", "internal/safefile"}, libraries: []string{}},
		"session/export/page":   {rooms: []string{"session", "session/message", "session/rawjson", "internal/markdown", "internal/markup", "internal/picture", "internal/printable", "internal/version"}, libraries: []string{}},
		"agent":                 {rooms: []string{"agent/llm", "agent/schema", "agent/instructions", "agent/prefix", "agent/work", "session", "session/message", "session/rawjson", "session/compaction", "internal/pace", "internal/picture", "internal/printable", "internal/suggest"}},
		"agent/attach":          {rooms: []string{"session/message", "internal/picture", "internal/printable", "internal/process", "internal/safefile"}, libraries: []string{}},
		"agent/definitions":     {rooms: []string{"agent/llm", "internal/frontmatter", "internal/printable", "internal/suggest"}, libraries: []string{}},
		"agent/prompts":         {rooms: []string{"agent/instructions", "internal/frontmatter", "internal/printable", "internal/safefile"}, libraries: []string{}},
		"agent/instructions":    {rooms: []string{"internal/printable"}, libraries: []string{}},
		"agent/work":            {libraries: []string{}},
		"agent/children":        {rooms: []string{"agent", "session/message", "internal/printable"}, libraries: []string{}},
		"agent/prefix":          {rooms: []string{"agent/llm", "session", "session/message"}, libraries: []string{}},
		"agent/schema":          {rooms: []string{"session/rawjson"}, libraries: []string{"github.com/google/jsonschema-go"}},
		"agent/llm":             {rooms: []string{"session/message", "internal/suggest"}, libraries: []string{}},
		"agent/command":         {rooms: []string{"agent", "agent/children", "agent/definitions", "agent/llm", "session", "session/export", "session/message", "session/compaction", "session/folder", "internal/cells", "internal/frontmatter", "internal/printable", "internal/suggest", "agent/attach", "agent/prompts"}},
		"agent/provider":        {rooms: []string{"agent/llm", "internal/safefile", "internal/sse", "session", "session/message", "session/rawjson", "internal/printable", "internal/suggest"}},
		"agent/tool":            {rooms: []string{"agent", "agent/llm", "session/message", "internal/diff", "internal/filelock", "internal/gitignore", "internal/globs", "internal/picture", "internal/printable", "internal/process", "internal/relay", "internal/shown"}},
		"agent/mcp":             {rooms: []string{"agent", "agent/llm", "agent/schema", "agent/tool", "internal/child", "internal/printable", "internal/process", "internal/safefile", "internal/suggest", "session/compaction", "session/message"}, libraries: []string{"github.com/modelcontextprotocol/go-sdk", "golang.org/x/oauth2"}},
		"luavm":                 {rooms: []string{"internal/suggest", "internal/printable"}, libraries: []string{"github.com/yuin/gopher-lua", "layeh.com/gopher-luar"}},
		"stdlib/annotated":      {libraries: []string{}},
		"stdlib/compat":         {rooms: []string{"luavm", "internal/suggest"}, libraries: []string{"github.com/yuin/gopher-lua"}},
		"stdlib":                {rooms: []string{"agent/schema", "stdlib/compat", "luavm", "internal/sse", "internal/cells", "internal/diff", "internal/filelock", "internal/unmarkup", "internal/frontmatter", "internal/globs", "internal/printable"}},
		"luahooks/text":         {rooms: []string{"luavm", "stdlib", "stdlib/annotated", "stdlib/compat", "internal/suggest"}, libraries: []string{"github.com/yuin/gopher-lua"}},
		"luahooks/exitwait":     {rooms: []string{"internal/printable"}, libraries: []string{}},
		"luahooks":              {rooms: []string{"agent/mcp", "stdlib", "stdlib/compat", "luahooks/api", "luahooks/event", "luahooks/exitwait", "luahooks/text", "luahooks/record", "luahooks/trust", "agent", "agent/llm", "agent/command", "session", "session/message", "luavm", "internal/child", "internal/filelock", "internal/printable", "internal/suggest", "internal/process"}},
		"luahooks/api":          {rooms: []string{"agent/mcp", "luahooks/exitwait", "luahooks/text", "luahooks/record", "luahooks/trust", "agent", "agent/llm", "agent/command", "session", "session/message", "stdlib", "stdlib/compat", "luavm", "internal/suggest", "internal/child", "internal/filelock", "internal/process", "internal/cells", "internal/edit", "internal/markdown", "internal/printable", "session/folder", "internal/keys", "internal/pick", "agent/schema"}, libraries: []string{"github.com/yuin/gopher-lua"}},
		"luahooks/record":       {rooms: []string{"luavm", "agent/llm", "session", "session/message", "internal/printable", "internal/suggest"}, libraries: []string{"github.com/yuin/gopher-lua"}},
		"luahooks/event":        {rooms: []string{"session/compaction", "luahooks/record", "luavm", "agent", "agent/llm", "session", "session/message", "internal/suggest"}, libraries: []string{"github.com/yuin/gopher-lua"}},
		"luahooks/starter":      {rooms: []string{"internal/suggest", "internal/safefile"}, libraries: []string{}},
		"luahooks/examples":     {rooms: []string{"internal/safefile", "internal/suggest", "luahooks/trust"}, libraries: []string{}},
		"luahooks/replay":       {rooms: []string{"agent/mcp", "luahooks", "luahooks/api", "agent", "agent/llm", "agent/schema", "session", "session/message", "session/rawjson", "luavm", "internal/printable"}, libraries: []string{"github.com/yuin/gopher-lua"}},
		"luahooks/trust":        {rooms: []string{"internal/diff", "internal/printable", "internal/safefile", "internal/suggest", "luahooks/text"}, libraries: []string{}},
		"repl/completion":       {rooms: []string{"agent/command", "internal/fuzzy", "internal/gitignore", "internal/printable"}, libraries: []string{}},
		"repl/terminal":         {rooms: []string{"internal/cells", "internal/keys", "internal/printable", "internal/safefile"}, libraries: []string{"github.com/peterh/liner", "golang.org/x/sys", "golang.org/x/term"}},
		"repl/terminal/keymap":  {rooms: []string{"internal/edit", "internal/suggest"}, libraries: []string{}},
		"repl/terminal/history": {rooms: []string{"internal/edit", "internal/fuzzy", "internal/safefile"}, libraries: []string{}},
		"repl":                  {rooms: []string{"repl/completion", "repl/terminal", "repl/terminal/history", "repl/terminal/keymap", "agent", "agent/attach", "agent/llm", "agent/command", "session", "session/message", "internal/cells", "internal/clipboard", "internal/edit", "internal/markdown", "internal/githead", "internal/pace", "internal/printable", "internal/safefile", "internal/pick"}},
		"cli/config":            {rooms: []string{"internal/printable", "internal/suggest", "internal/safefile"}, libraries: []string{"github.com/BurntSushi/toml"}},
		"cli/keyring":           {rooms: []string{"cli/config", "cli/keyring/oauth", "agent/llm", "internal/printable", "internal/process", "internal/safefile", "internal/suggest"}, libraries: []string{}},
		"cli/keyring/oauth":     {rooms: []string{"internal/printable", "internal/process"}, libraries: []string{"golang.org/x/oauth2"}},
		"cli/mcpfile":           {rooms: []string{"agent/mcp", "cli/config", "internal/printable", "internal/safefile", "internal/suggest"}, libraries: []string{"github.com/BurntSushi/toml"}},
		"cli/mcplogin":          {rooms: []string{"agent/mcp", "cli/keyring/oauth", "internal/printable", "internal/safefile"}, libraries: []string{"github.com/modelcontextprotocol/go-sdk", "golang.org/x/oauth2"}},
		"cli/providers":         {rooms: []string{"cli/config", "cli/keyring", "agent/llm", "agent/provider", "session/message"}, libraries: []string{}},
		"cli/hooktest":          {rooms: []string{"cli/app", "cli/packages", "luahooks/api", "agent", "agent/children", "agent/attach", "agent/command", "agent/llm", "agent/mcp", "agent/provider", "luahooks/record", "luavm", "session/message", "stdlib", "internal/githead", "internal/printable", "internal/process", "internal/suggest", "luahooks/event", "session", "internal/safefile", "luahooks/trust", "repl/terminal/keymap"}, libraries: []string{"github.com/fsnotify/fsnotify", "github.com/modelcontextprotocol/go-sdk", "github.com/yuin/gopher-lua"}},
		"cli/packages":          {rooms: []string{"internal/printable", "internal/process", "internal/safefile", "internal/suggest", "luahooks/text", "luahooks/trust", "luavm"}, libraries: []string{"github.com/BurntSushi/toml", "golang.org/x/text"}},
		"docs":                  {rooms: []string{"internal/suggest"}, libraries: []string{}},
		"cli":                   {rooms: []string{"docs", "agent/mcp", "cli/mcpfile", "cli/mcplogin", "cli/keyring", "cli/keyring/oauth", "luahooks/text", "cli/app", "cli/packages", "cli/hooktest", "cli/providers", "cli/config", "luahooks", "luahooks/examples", "luahooks/replay", "luahooks/starter", "luahooks/trust", "luahooks/event", "stdlib", "stdlib/compat", "luavm", "agent", "agent/llm", "agent/command", "agent/provider", "session", "session/folder", "session/message", "session/export", "repl/terminal", "internal/printable", "internal/roff", "internal/safefile", "internal/suggest", "internal/githead", "internal/version"}},
		"cli/app":               {rooms: []string{"agent/definitions", "agent/children", "agent/schema", "session/rawjson", "agent/mcp", "cli/packages", "cli/mcpfile", "cli/mcplogin", "cli/providers", "cli/keyring", "cli/keyring/oauth", "cli/config", "repl", "repl/completion", "repl/terminal/keymap", "serve/acp", "serve/print", "serve/rpc", "luahooks", "luahooks/api", "luahooks/examples", "luahooks/replay", "luahooks/trust", "stdlib", "agent", "agent/llm", "agent/instructions", "agent/command", "agent/tool", "agent/provider", "session", "session/folder", "session/message", "internal/cells", "internal/clipboard", "internal/filelock", "internal/printable", "internal/process", "internal/suggest", "agent/attach", "agent/prompts", "internal/githead", "internal/safefile"}},
		"serve/acp":             {rooms: []string{"agent", "agent/mcp", "agent/command", "agent/llm", "agent/tool", "internal/jsonlines", "internal/printable", "internal/safefile", "session", "session/folder", "session/message", "session/rawjson"}, libraries: []string{}},
		"serve/print":           {rooms: []string{"serve/record", "agent", "agent/command", "session", "session/message", "internal/jsonlines", "internal/printable", "agent/attach"}, libraries: []string{"golang.org/x/term"}},
		"serve/rpc":             {rooms: []string{"agent", "agent/command", "agent/llm", "session", "session/compaction", "session/export", "session/message", "serve/record", "internal/jsonlines", "internal/printable"}, libraries: []string{}},
		"serve/record":          {rooms: []string{"agent", "agent/llm", "session", "session/message", "session/rawjson"}, libraries: []string{}},
		".":                     {rooms: []string{"cli"}, libraries: []string{}},
		"e2e":                   {libraries: []string{}}, // tests only
		"bench":                 {rooms: []string{"internal/testing"}, libraries: []string{}},
		"examples":              {libraries: []string{}},
		"release":               {libraries: []string{"github.com/CycloneDX/cyclonedx-go", "github.com/google/licensecheck"}}, // programs that build a release, and its tests
	}
}

// roomOf is the innermost room that dir lies in. In the top of the module lies only
// main.
func roomOf(dir string) string {
	if dir == "." {
		return dir
	}
	for ; dir != "."; dir = path.Dir(dir) {
		if _, ok := rooms()[dir]; ok {
			return dir
		}
	}
	return ""
}

// wrongImport says why the package in dir must not import what it names; empty:
// it may.
func wrongImport(dir, imported string) string {
	from := roomOf(dir)
	if from == "" {
		return fmt.Sprintf("%s is in no room; rooms says what each may import", dir)
	}
	to, ours := strings.CutPrefix(imported, "pi/")
	switch {
	case imported == "pi":
		return fmt.Sprintf("%s must not import main", dir)
	case ours:
		if r := roomOf(to); r != from && !slices.Contains(rooms()[from].rooms, r) {
			return fmt.Sprintf("%s must not import %s", dir, imported)
		}
	case imported == "C":
		return fmt.Sprintf("%s needs cgo, and the program is built without it", dir)
	case imported == "layeh.com/gopher-luar" && from != "luavm":
		return fmt.Sprintf("%s must not hand Go values to Lua itself; luavm.Value does, read-only", dir)
	case isLibrary(imported) && !mayUse(rooms()[from].libraries, imported):
		return fmt.Sprintf("%s must not depend on %s", dir, imported)
	}
	return ""
}

// isLibrary tells modules from the standard library, whose paths have no dot in
// the first element.
func isLibrary(imported string) bool {
	first, _, _ := strings.Cut(imported, "/")
	return strings.Contains(first, ".")
}

func mayUse(modules []string, imported string) bool {
	return modules == nil || slices.ContainsFunc(modules, func(m string) bool {
		return imported == m || strings.HasPrefix(imported, m+"/")
	})
}

// wrongShape says what of a file is against the rules for every package.
func wrongShape(file *ast.File) []string {
	var wrong []string
	if slices.Contains([]string{"util", "utils", "common", "types", "helpers", "misc"}, file.Name.Name) {
		wrong = append(wrong, "package "+file.Name.Name+" is named for nothing in particular")
	}
	for _, decl := range file.Decls {
		if fn, ok := decl.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
			wrong = append(wrong, "func init runs before main decides anything")
		}
	}
	return wrong
}

func TestImportsPointOneWay(t *testing.T) {
	seen := 0
	eachGoFile(t, func(name string, file *ast.File) {
		if path.Dir(name) == "." && name != "main.go" {
			t.Errorf("%s is at the top of the module, where main.go alone belongs", name)
		}
		for _, spec := range file.Imports {
			if strings.HasSuffix(name, "_test.go") {
				continue // a test may stand above its package
			}
			seen++
			if wrong := wrongImport(path.Dir(name), strings.Trim(spec.Path.Value, `"`)); wrong != "" {
				t.Errorf("%s: %s", name, wrong)
			}
		}
		for _, wrong := range wrongShape(file) {
			t.Errorf("%s: %s", name, wrong)
		}
	})
	if seen == 0 {
		t.Error("no import was looked at")
	}
}

// eachGoFile visits the module's own Go files, by slash path from its root.
func eachGoFile(t *testing.T, visit func(name string, file *ast.File)) {
	t.Helper()
	files, err := goFiles()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		visit(name, files[name])
	}
}

// goFiles are read once for all tests, which change nothing of them.
var goFiles = sync.OnceValues(func() (map[string]*ast.File, error) {
	files := map[string]*ast.File{}
	err := filepath.WalkDir(moduleDir, func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(moduleDir, file)
		if err != nil {
			return err
		}
		if entry.IsDir() {
			base := entry.Name()
			if base == "testdata" || base == "vendor" || name != "." && strings.HasPrefix(base, ".") {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") {
			return nil
		}
		files[filepath.ToSlash(name)], err = parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		return err
	})
	return files, err
})

func TestArrowRules(t *testing.T) {
	tests := []struct {
		dir, imported string
		ok            bool
	}{
		{".", "pi/cli", true},
		{".", "pi/cli/app", false},
		{".", "pi/agent", false},
		{".", "github.com/spf13/cobra", false},
		{"cli", "pi/cli/app", true},
		{"cli", "pi/repl", false},
		{"cli/app", "pi/cli", false},
		{"cli/app", "pi/repl", true},
		{"cli/app", "pi/agent/provider/openai", true},
		{"cli/app", "pi/agent/tool", true},
		{"repl", "pi/cli/app", false},
		{"repl", "pi/agent", true},
		{"repl", "pi/agent/command", true},
		{"repl", "pi/agent/tool", false},
		{"repl", "pi/internal/sse", false},
		{"repl", "pi/luahooks", false},
		{"repl", "pi/serve/print", false},
		{"repl", "pi/repl/terminal", true},
		{"repl/terminal", "pi/repl", false},
		{"repl/terminal", "pi/agent", false},
		{"cli/config", "pi/internal/safefile", true},
		{"cli/config", "pi/agent", false},
		{"cli/config", "pi/cli/keyring", false},
		{"cli/keyring", "pi/agent/provider", false},
		{"cli/keyring", "pi/cli/providers", false},
		{"cli/providers", "pi/agent/provider/catalogue", true},
		{"cli/providers", "pi/luahooks", false},
		{"cli/config", "pi/luahooks", false},
		{"serve/print", "pi/repl", false},
		{"serve/print", "pi/luahooks", false},
		{"serve/print", "pi", false},
		{"luahooks/api", "pi/stdlib", true},
		{"luahooks", "pi/agent/command", true},
		{"luahooks", "pi/repl", false},
		{"luahooks", "pi/serve/print", false},
		{"luahooks", "pi/agent/tool", false},
		{"luahooks", "pi/luahooks/trust", true},
		{"luahooks/trust", "pi/luahooks", false},
		{"luahooks/api", "pi/luahooks", false},
		{"luahooks/api", "pi/luahooks/event", false},
		{"luahooks/record", "pi/luahooks/api", false},
		{"luahooks/event", "pi/luahooks", false},
		{"luahooks/event", "pi/luahooks/record", true},
		{"luahooks/event", "pi/luahooks/trust", false},
		{"luahooks/record", "pi/luahooks/event", false},
		{"luahooks/record", "pi/luahooks", false},
		{"luahooks/record", "pi/agent", false},
		{"luahooks/trust", "pi/agent", false},
		{"luahooks", "pi/agent/command", true},
		{"bench", "pi/session", false},
		{"agent", "pi/session", true},
		{"agent", "pi/agent/tool", false},
		{"agent", "pi/luavm", false},
		{"agent/provider/openai", "pi/internal/sse", true},
		{"agent/provider/openai", "pi/agent/tool", false},
		{"agent/provider/openai", "pi/agent/llm", true},
		{"agent/provider/openai", "pi/agent", false},
		{"agent/llm", "pi/agent", false},
		{"agent/tool", "pi/agent", true},
		{"stdlib", "pi/luavm", true},
		{"stdlib", "pi/agent", false},
		{"luavm", "pi/session", false},
		{"luavm", "pi/stdlib", false},
		{"luavm", "github.com/yuin/gopher-lua/parse", true},
		{"luavm", "layeh.com/gopher-luar", true},
		{"stdlib", "layeh.com/gopher-luar", false},
		{"luahooks", "layeh.com/gopher-luar", false},
		{"luavm", "golang.org/x/sys/unix", false},
		{"internal/safefile", "golang.org/x/sys/unix", true},
		{"internal/safefile", "golang.org/x/sysx", false},
		{"session", "golang.org/x/sys/unix", false},
		{"session", "github.com/google/uuid", false},
		{"session", "encoding/json", true},
		{"session", "pi/agent", false},
		{"session", "pi/session/export", false},
		{"session", "pi/session/rawjson", true},
		{"session", "pi/session/message", true},
		{"session", "pi/session/compaction", false},
		{"session/compaction", "pi/session", true},
		{"session", "pi/session/folder", false},
		{"session/folder", "pi/session", true},
		{"session/message", "pi/session", false},
		{"session/rawjson", "pi/session", false},
		{"session/rawjson", "pi/session/message", false},
		{"session", "C", false},
		{"elsewhere", "fmt", false},
	}
	for _, tt := range tests {
		if wrong := wrongImport(tt.dir, tt.imported); (wrong == "") != tt.ok {
			t.Errorf("%s imports %s: %q, want ok %v", tt.dir, tt.imported, wrong, tt.ok)
		}
	}
}

func TestShapeRules(t *testing.T) {
	tests := []struct {
		source string
		wrong  int
	}{
		{"package session\nfunc Init() {}\n", 0},
		{"package session\ntype t int\nfunc (t) init() {}\n", 0},
		{"package session\nfunc init() {}\n", 1},
		{"package util\n", 1},
		{"package common\nfunc init() {}\n", 2},
	}
	for _, tt := range tests {
		file, err := parser.ParseFile(token.NewFileSet(), "x.go", tt.source, 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := wrongShape(file); len(got) != tt.wrong {
			t.Errorf("%q: %q, want %d", tt.source, got, tt.wrong)
		}
	}
}
