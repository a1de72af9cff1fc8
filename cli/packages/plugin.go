package packages

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path"
	"strings"

	"github.com/BurntSushi/toml"

	"pi/internal/printable"
)

// pluginFile makes a folder a plugin of Claude Code.
const pluginFile = ".claude-plugin/plugin.json"

// plugin is what is read of plugin.json. The values of the other fields are texts, lists or tables.
type plugin struct {
	Name, Description, Version, License   string
	Commands, Agents, Skills, Hooks, MCPs json.RawMessage
}

// UnmarshalJSON reads the fields as plugin.json writes them; what has another form is left out.
func (p *plugin) UnmarshalJSON(raw []byte) error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil {
		return err
	}
	for name, into := range map[string]*string{"name": &p.Name, "description": &p.Description, "version": &p.Version, "license": &p.License} {
		_ = json.Unmarshal(fields[name], into)
	}
	p.Commands, p.Agents, p.Skills, p.Hooks, p.MCPs = fields["commands"], fields["agents"], fields["skills"], fields["hooks"], fields["mcpServers"]
	return nil
}

// takePlugin makes a package of a plugin: skills and agents are taken as they are, commands become prompts. What else
// it has is named, and not taken.
func (p *Package) takePlugin() error {
	text, _ := p.Files.Find(pluginFile)
	var of plugin
	if err := json.Unmarshal(text.Code, &of); err != nil {
		return fmt.Errorf("%s: %w", pluginFile, err)
	}
	p.Manifest = Manifest{Name: pluginName(of.Name), Description: oneLine(of.Description), Version: oneLine(of.Version), License: oneLine(of.License), API: API}
	var files []TreeFile
	for _, f := range p.Files.Files() {
		if to, ok := placeOfPlugin(f.Path); ok {
			f.Path = to
			files = append(files, f)
		}
	}
	var manifest bytes.Buffer
	if err := toml.NewEncoder(&manifest).Encode(p.Manifest); err != nil {
		return fmt.Errorf("write %s: %w", ManifestFile, err)
	}
	files = append(files, TreeFile{Path: ManifestFile, Code: manifest.Bytes()})
	all := p.Files
	taken, err := newTree(files)
	if err != nil {
		return err
	}
	p.Files, p.Others = taken, othersOf(all, taken, of)
	return nil
}

// placeOfPlugin is where a file of a plugin lies in a package; false for what is not taken.
func placeOfPlugin(file string) (string, bool) {
	top, below, isBelow := strings.Cut(file, "/")
	switch {
	case isBelow && top == "skills", isBelow && top == "agents" && strings.HasSuffix(file, ".md"):
		return file, true
	case isBelow && top == "commands" && strings.HasSuffix(file, ".md"):
		return "prompts/" + strings.ReplaceAll(below, "/", "-"), true // a template lies in no folder
	case isBelow:
		return "", false
	}
	upper := strings.ToUpper(file)
	return file, strings.HasPrefix(upper, "LICENSE") || strings.HasPrefix(upper, "LICENCE") || strings.HasPrefix(upper, "NOTICE") || strings.HasPrefix(upper, "README")
}

// othersOf names what a plugin has and a package does not take.
func othersOf(all, taken Tree, of plugin) (others []string) {
	has := func(file string) bool { _, ok := all.Find(file); return ok }
	if has("hooks/hooks.json") || isSet(of.Hooks) {
		others = append(others, "it has command hooks (hooks.json), which are not taken: examples/command_hooks.lua runs such hooks from your own settings")
	}
	if has(".mcp.json") || isSet(of.MCPs) {
		others = append(others, "it has MCP servers, which are not taken: pi mcp import takes those that Claude Code has configured, and pi mcp add adds one")
	}
	for _, elsewhere := range []struct {
		what string
		raw  json.RawMessage
	}{{"commands", of.Commands}, {"agents", of.Agents}, {"skills", of.Skills}} {
		if isSet(elsewhere.raw) {
			others = append(others, fmt.Sprintf("its plugin.json names %s in other places, which are not taken: what is in %[1]s/ is", elsewhere.what))
		}
	}
	for _, f := range taken.Files() {
		if bytes.Contains(f.Code, []byte("CLAUDE_PLUGIN_ROOT")) {
			others = append(others, printable.VisibleLine(f.Path)+" names ${CLAUDE_PLUGIN_ROOT}, which is not set here")
		}
	}
	for _, f := range all.Files() {
		if f.Path != pluginFile && f.Path != ".mcp.json" && f.Path != "hooks/hooks.json" && !isTaken(f.Path) && path.Dir(f.Path) != ".claude-plugin" {
			others = append(others, printable.VisibleLine(f.Path)+" is not taken")
		}
	}
	return others
}

func isTaken(file string) bool { _, ok := placeOfPlugin(file); return ok }

// isSet reports whether a field is there and says something.
func isSet(raw json.RawMessage) bool {
	text := strings.TrimSpace(string(raw))
	return text != "" && text != "null" && text != "[]" && text != "{}" && text != `""`
}

// pluginName is the name of a plugin as a package can have it; "" if it cannot.
func pluginName(name string) string {
	name = strings.ToLower(strings.ReplaceAll(name, " ", "-"))
	if CheckName(name) != nil {
		return ""
	}
	return name
}

// oneLine is a text of a plugin as a field of a manifest.
func oneLine(text string) string {
	return printable.Cut(printable.VisibleLine(strings.Join(strings.Fields(text), " ")), 300)
}
