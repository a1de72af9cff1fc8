// Package config is config.toml: what can be set there, how the files are read,
// and how what is in force is printed.
//
//	config.go  every setting: a field of [Config] with its key and its rule as tags
//	load.go    [Load] lays the files over each other: defaults, the agent directory's,
//	           the project's, the environment; [ReadFile] reads what may be anything, up
//	           to a bound
//	decode.go  one parsed file into a Config, key by key; decoder.go: what is wrong
//	           with it
//	hook.go    [Hook]: what stands in [hook.NAME], of which the program knows two keys only
//	check.go   the rules of values, and the words for what breaks one
//	lines.go   the line of each key, the bounds of a file, and where things are in it
//	set.go     [Set] and [Unset] write a setting into a file, by its type; edit.go changes
//	           the text
//	listing.go [Config.Settings]: each setting with value, origin and meaning.go's line
//	print.go   [Print] writes what is in force, with [Origins]
//	mask.go    [MaskKeys] removes the keys from a text of which a copy is kept
//	home.go    where the agent directory is; ~ in paths
//
// A setting is added in Config, in [Default], and with a comment in
// config.example.toml, which the tests compare with both. A mistake in a file is a
// [Problem] with its line and costs that one setting; no message repeats a key.
// Nothing here prints problems, and nothing applies a setting.
package config

import "time"

// Config is everything that can be set in a config.toml. The toml tag is the
// key; the other tags are rules that are checked in every file:
//
//	oneof   the words allowed
//	min     the least number (or duration) allowed
//	max     the largest number allowed
//	form    url, path, paths or hooks: see decoder.normalize
//	warn    a bad value is a warning, not an error
//	secret  never printed; "named": those of a table whose names speak of keys
//
// A value that breaks its rule is reported and leaves the earlier one in force.
type Config struct {
	Model              string   `toml:"model"`
	Thinking           string   `toml:"thinking" oneof:"off minimal low medium high xhigh max"`
	Models             []string `toml:"models"`
	Hooks              []string `toml:"hooks" form:"hooks"`       // absolute
	Disable            []string `toml:"disable" form:"disable"`   // names, or absolute paths
	Instructions       []string `toml:"instructions" form:"path"` // absolute
	HookTimeout        int      `toml:"hook_timeout" min:"1" warn:"true"`
	HookGrace          int      `toml:"hook_grace" min:"0"`
	ExitWait           int      `toml:"exit_wait" min:"0"`
	HookMemory         int      `toml:"hook_memory" min:"1"`
	HookEdits          string   `toml:"hook_edits" oneof:"auto ask"`
	Steering           string   `toml:"steering" oneof:"one-at-a-time all"`
	FollowUp           string   `toml:"follow_up" oneof:"one-at-a-time all"`
	MaxTurns           int      `toml:"max_turns" min:"0"`
	MaxRepeats         int      `toml:"max_repeats" min:"0"`
	MaxContinuations   int      `toml:"max_continuations" min:"0"`
	MaxCost            float64  `toml:"max_cost" min:"0"`
	StreamIdleTimeout  int      `toml:"stream_idle_timeout" min:"0"`  // seconds
	StreamQuietTimeout int      `toml:"stream_quiet_timeout" min:"0"` // seconds
	MaxAnswerBytes     int      `toml:"max_answer_bytes" min:"0"`

	Compaction Compaction `toml:"compaction"`
	Retry      Retry      `toml:"retry"`
	Session    Session    `toml:"session"`
	Tools      Tools      `toml:"tools"`
	Agents     Agents     `toml:"agents"`
	MCP        MCP        `toml:"mcp"`
	UI         UI         `toml:"ui"`

	Keys      map[string]Chords   `toml:"keys"`
	Hook      map[string]Hook     `toml:"hook"`
	Providers map[string]Provider `toml:"providers"`

	// ProjectHooks and ProjectDisable are the lists of the project's file, kept
	// apart because they need approval and reach project hooks only.
	ProjectHooks   []string `toml:"-"`
	ProjectDisable []string `toml:"-"`

	// ProjectHook are the [hook.NAME] tables of the project's file, which need approval and
	// reach project hooks only. See [Config.ForHook].
	ProjectHook map[string]Hook `toml:"-"`

	// Lost are the files that name hooks or bound the tools in a way that cannot be
	// read, and why.
	Lost map[string]error `toml:"-"`

	// Origins says where each value that is no default came from.
	Origins Origins `toml:"-"`
}

// Compaction is when the context is summarised, and what stays as it is.
type Compaction struct {
	Enabled          bool `toml:"enabled"`
	ReserveTokens    int  `toml:"reserve_tokens" min:"0"`
	KeepRecentTokens int  `toml:"keep_recent_tokens" min:"0"`
}

// Retry is how often and how patiently a failed request is repeated.
type Retry struct {
	MaxAttempts int           `toml:"max_attempts" min:"0"`
	BaseDelay   time.Duration `toml:"base_delay" min:"0"`
	MaxDelay    time.Duration `toml:"max_delay" min:"0"`
}

// Session is where sessions are kept, and how often they reach the disk.
type Session struct {
	Dir        string `toml:"dir" form:"path"` // absolute, or empty
	Durability string `toml:"durability" oneof:"turn entry"`
}

// Tools is what the model may do, and within which bounds.
type Tools struct {
	Active  []string `toml:"active"`
	Confine bool     `toml:"confine"`
	Shell   string   `toml:"shell" form:"program"`
}

// Agents bounds the agents that hooks of a session use, and those that these use.
type Agents struct {
	Max   int `toml:"max" min:"1"`   // at work at a time, of all
	Depth int `toml:"depth" min:"1"` // 1: none of them uses others
}

// MCP is whether tools of MCP servers are there, and what happens if one is no longer what it was.
type MCP struct {
	Enabled  bool   `toml:"enabled"`
	OnChange string `toml:"on_change" oneof:"tell ask block"`
}

// UI is how the terminal looks.
type UI struct {
	Plain        bool   `toml:"plain"`
	ShowThinking bool   `toml:"show_thinking"`
	Highlight    bool   `toml:"highlight"`
	Notify       string `toml:"notify" oneof:"off bell osc9"`
	Menu         string `toml:"menu" oneof:"type tab"`
	Background   string `toml:"background" oneof:"auto dark light"`
	ImageScale   bool   `toml:"image_scale"`
}

// Chords are the keys bound to one action, as they are written: whether there is such an
// action, and such keys, is for the terminal to say. A file may have one as a string, or
// several with a comma and a blank between them. An empty list binds the action to nothing.
type Chords []string

// Bindings returns [keys] as a table of plain lists.
func (c Config) Bindings() map[string][]string {
	all := map[string][]string{}
	for action, chords := range c.Keys {
		all[action] = chords
	}
	return all
}

// Provider adds a provider to the catalogue or overrides one of it. What
// is empty or nil was not set.
type Provider struct {
	BaseURL string            `toml:"base_url" form:"url"` // no slash at the end
	API     string            `toml:"api" oneof:"anthropic-messages openai-completions openai-responses google-generative-ai"`
	APIKey  string            `toml:"api_key" form:"key" secret:"true"` // env:NAME, !command, or itself
	Headers map[string]string `toml:"headers" secret:"true"`
	Compat  map[string]any    `toml:"compat"`
	Cache   string            `toml:"cache" oneof:"short long"` // how long its prompt cache shall last
	Models  []Model           `toml:"models"`
	Login   Login             `toml:"login"`
}

// Login is how one signs in to a provider. What fits together is for the keyring to say.
type Login struct {
	Kind         string            `toml:"kind" oneof:"pkce device key"`
	AuthorizeURL string            `toml:"authorize_url"`
	DeviceURL    string            `toml:"device_url"`
	TokenURL     string            `toml:"token_url"`
	ClientID     string            `toml:"client_id"`
	Scopes       []string          `toml:"scopes"`
	Redirect     string            `toml:"redirect"`
	Extra        map[string]string `toml:"extra" secret:"named"` // sent along
}

// Model adds a model to its provider or overrides one. What is empty, 0 or
// nil was not set.
type Model struct {
	ID            string            `toml:"id"`
	Name          string            `toml:"name"`
	ContextWindow int               `toml:"context_window" min:"0"`
	MaxTokens     int               `toml:"max_tokens" min:"0"`
	Reasoning     *bool             `toml:"reasoning"`
	Levels        []string          `toml:"levels" oneof:"off minimal low medium high xhigh max"`
	Input         []string          `toml:"input" oneof:"text image"`
	Cost          *Cost             `toml:"cost"`
	Headers       map[string]string `toml:"headers" secret:"true"`
	Compat        map[string]any    `toml:"compat"`
}

// Cost is a price per million tokens. One that the file leaves out is nil: it
// is not known, or, of the cache, what input costs.
type Cost struct {
	Input      *float64 `toml:"input" min:"0"`
	Output     *float64 `toml:"output" min:"0"`
	CacheRead  *float64 `toml:"cache_read" min:"0"`
	CacheWrite *float64 `toml:"cache_write" min:"0"`
	Above      []Above  `toml:"above"` // what longer prompts cost, the shortest first
}

// Above is the price of a request whose prompt has more than so many tokens. What is nil is
// as in [Cost].
type Above struct {
	Tokens     int      `toml:"tokens" min:"1"`
	Input      *float64 `toml:"input" min:"0"`
	Output     *float64 `toml:"output" min:"0"`
	CacheRead  *float64 `toml:"cache_read" min:"0"`
	CacheWrite *float64 `toml:"cache_write" min:"0"`
}

// Default returns the settings that are in force where no file says anything. Each call
// returns a new value.
func Default() Config {
	return Config{
		Thinking:           "medium",
		Models:             []string{},
		Hooks:              []string{},
		Disable:            []string{},
		Instructions:       []string{},
		HookTimeout:        30000,
		HookGrace:          100,
		ExitWait:           10,
		HookMemory:         256,
		HookEdits:          "auto",
		Steering:           "one-at-a-time",
		FollowUp:           "one-at-a-time",
		MaxRepeats:         5,
		MaxContinuations:   8,
		StreamIdleTimeout:  120,
		StreamQuietTimeout: 600,
		MaxAnswerBytes:     32 << 20,
		Compaction:         Compaction{Enabled: true, ReserveTokens: 16384, KeepRecentTokens: 20000},
		Retry:              Retry{MaxAttempts: 3, BaseDelay: 2 * time.Second, MaxDelay: time.Minute},
		Session:            Session{Durability: "turn"},
		Tools:              Tools{Active: []string{"read", "bash", "edit", "write", "grep", "find", "ls"}},
		Agents:             Agents{Max: 4, Depth: 2},
		MCP:                MCP{Enabled: true, OnChange: "tell"},
		UI:                 UI{ShowThinking: true, Notify: "off", Menu: "type", Background: "auto", ImageScale: true},
		Keys:               map[string]Chords{},
		Hook:               map[string]Hook{},
		Providers:          map[string]Provider{},
		Origins:            Origins{},
	}
}

// Origins maps the path of a key to where its value came from: "file:line",
// "environment NAME", or the flag. A key that is not there has its default. The
// lists of a project's file are "project hooks" and "project disable".
type Origins map[string]string

// Of returns where the value of the key at path came from; "default" if no file set it.
func (o Origins) Of(path string) string {
	if origin, ok := o[path]; ok {
		return origin
	}
	return "default"
}
