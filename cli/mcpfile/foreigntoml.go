package mcpfile

import (
	"encoding/json"

	"github.com/BurntSushi/toml"
)

// codexServer is a server in the config.toml of codex.
type codexServer struct {
	Command       string            `toml:"command"`
	Args          []string          `toml:"args"`
	Env           map[string]string `toml:"env"`
	EnvVars       []any             `toml:"env_vars"` // that it gets as they are: names, or tables with one
	Cwd           string            `toml:"cwd"`
	URL           string            `toml:"url"`
	TokenVariable string            `toml:"bearer_token_env_var"`
	Headers       map[string]string `toml:"http_headers"`
	EnvHeaders    map[string]string `toml:"env_http_headers"`
	Enabled       *bool             `toml:"enabled"`
	Timeout       float64           `toml:"tool_timeout_sec"`
	OnlyTools     []string          `toml:"enabled_tools"`
	NoTools       []string          `toml:"disabled_tools"`
}

// serversOfCodex reads the servers of a config.toml.
func serversOfCodex(data []byte, _ ForeignPlaces) map[string]json.RawMessage {
	var file struct {
		Servers map[string]toml.Primitive `toml:"mcp_servers"`
	}
	meta, err := toml.Decode(string(data), &file)
	if err != nil {
		return nil
	}
	all := map[string]json.RawMessage{}
	for name, one := range file.Servers {
		var s codexServer
		if meta.PrimitiveDecode(one, &s) != nil {
			all[name] = json.RawMessage(`"cannot be read"`)
			continue
		}
		if raw, err := json.Marshal(s.entry()); err == nil {
			all[name] = raw
		}
	}
	return all
}

// entry is the server as other programs write it.
func (s codexServer) entry() map[string]any {
	e := map[string]any{}
	set := func(name string, value any, there bool) {
		if there {
			e[name] = value
		}
	}
	env, headers, tools := map[string]string{}, map[string]string{}, map[string]string{}
	for name, value := range s.Env {
		env[name] = value
	}
	for _, one := range s.EnvVars {
		name, ok := one.(string)
		if table, isTable := one.(map[string]any); isTable {
			name, ok = table["name"].(string)
		}
		if ok {
			env[name] = "${" + name + "}"
		}
	}
	for name, value := range s.Headers {
		headers[name] = value
	}
	for name, variable := range s.EnvHeaders {
		headers[name] = "${" + variable + "}"
	}
	if s.TokenVariable != "" {
		headers["Authorization"] = "Bearer ${" + s.TokenVariable + "}"
	}
	for _, name := range s.OnlyTools {
		tools["*"], tools[name] = "off", "search"
	}
	for _, name := range s.NoTools {
		tools[name] = "off"
	}
	set("command", s.Command, s.Command != "")
	set("args", s.Args, len(s.Args) > 0)
	set("env", env, len(env) > 0)
	set("cwd", s.Cwd, s.Cwd != "")
	set("url", s.URL, s.URL != "")
	set("headers", headers, len(headers) > 0)
	set("tools", tools, len(tools) > 0)
	set("timeout", s.Timeout, s.Timeout > 0)
	if s.Enabled != nil {
		e["enabled"] = *s.Enabled
	}
	return e
}
