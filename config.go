package main

import (
	"errors"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// Config is everything that can be set in a config.toml. The toml tag is the
// key; the other tags are rules that the loader holds for every file:
//
//	oneof   the words allowed
//	min     the least number (or duration) allowed
//	form    url, path, paths or hooks: see formers
//	warn    a bad value is a warning, not an error
//	secret  never printed
//
// A value that breaks its rule is reported and leaves the earlier one in force.
type Config struct {
	Model             string   `toml:"model"`
	Thinking          string   `toml:"thinking" oneof:"off minimal low medium high xhigh max"`
	Models            []string `toml:"models"`
	Hooks             []string `toml:"hooks" form:"hooks"`       // absolute
	Disable           []string `toml:"disable" form:"disable"`   // names, or absolute paths
	Instructions      []string `toml:"instructions" form:"path"` // absolute
	HookTimeout       int      `toml:"hook_timeout" min:"1" warn:"true"`
	HookGrace         int      `toml:"hook_grace" min:"0"`
	HookMemory        int      `toml:"hook_memory" min:"1"`
	HookEdits         string   `toml:"hook_edits" oneof:"auto ask"`
	Steering          string   `toml:"steering" oneof:"one-at-a-time all"`
	FollowUp          string   `toml:"follow_up" oneof:"one-at-a-time all"`
	MaxTurns          int      `toml:"max_turns" min:"0"`
	MaxRepeats        int      `toml:"max_repeats" min:"0"`
	MaxContinuations  int      `toml:"max_continuations" min:"0"`
	MaxCost           float64  `toml:"max_cost" min:"0"`
	StreamIdleTimeout int      `toml:"stream_idle_timeout" min:"0"` // seconds
	MaxAnswerBytes    int      `toml:"max_answer_bytes" min:"0"`

	Compaction CompactionConfig `toml:"compaction"`
	Retry      RetryConfig      `toml:"retry"`
	Session    SessionConfig    `toml:"session"`
	Tools      ToolsConfig      `toml:"tools"`
	UI         UIConfig         `toml:"ui"`

	Keys      map[string]Chords         `toml:"keys"`
	Providers map[string]ProviderConfig `toml:"providers"`

	// ProjectHooks and ProjectDisable are the lists of the project's file, kept
	// apart because they need approval and reach project hooks only.
	ProjectHooks   []string `toml:"-"`
	ProjectDisable []string `toml:"-"`

	// Lost are the files that name hooks or bound the tools in a way that cannot be
	// read, and why.
	Lost map[string]error `toml:"-"`

	// Origins says where each value that is no default came from.
	Origins Origins `toml:"-"`
}

// CompactionConfig is when the context is summarised, and what stays as it is.
type CompactionConfig struct {
	Enabled          bool `toml:"enabled"`
	ReserveTokens    int  `toml:"reserve_tokens" min:"0"`
	KeepRecentTokens int  `toml:"keep_recent_tokens" min:"0"`
}

// RetryConfig is how often and how patiently a failed request is repeated.
type RetryConfig struct {
	MaxAttempts int           `toml:"max_attempts" min:"0"`
	BaseDelay   time.Duration `toml:"base_delay" min:"0"`
	MaxDelay    time.Duration `toml:"max_delay" min:"0"`
}

// SessionConfig is where sessions are kept, and how often they reach the disk.
type SessionConfig struct {
	Dir        string `toml:"dir" form:"path"` // absolute, or empty
	Durability string `toml:"durability" oneof:"turn entry"`
}

// ToolsConfig is what the model may do, and within which bounds.
type ToolsConfig struct {
	Active  []string `toml:"active"`
	Confine bool     `toml:"confine"`
	Shell   string   `toml:"shell" form:"program"`
}

// UIConfig is how the terminal looks.
type UIConfig struct {
	Plain        bool `toml:"plain"`
	ShowThinking bool `toml:"show_thinking"`
}

// Chords are the keys bound to one action; a file may give one as a string.
type Chords []string

// ProviderConfig adds a provider to the catalogue or overrides one of it. What
// is empty or nil was not set.
type ProviderConfig struct {
	BaseURL string            `toml:"base_url" form:"url"` // no slash at the end
	API     string            `toml:"api" oneof:"anthropic-messages openai-completions openai-responses google-generative-ai"`
	APIKey  string            `toml:"api_key" form:"key" secret:"true"` // for ResolveKey
	Headers map[string]string `toml:"headers" secret:"true"`
	Compat  map[string]any    `toml:"compat"`
	Models  []ModelConfig     `toml:"models"`
}

// ModelConfig adds a model to its provider or overrides one. What is empty, 0 or
// nil was not set.
type ModelConfig struct {
	ID            string            `toml:"id"`
	Name          string            `toml:"name"`
	ContextWindow int               `toml:"context_window" min:"0"`
	MaxTokens     int               `toml:"max_tokens" min:"0"`
	Reasoning     *bool             `toml:"reasoning"`
	Levels        []string          `toml:"levels" oneof:"off minimal low medium high xhigh max"`
	Input         []string          `toml:"input" oneof:"text image"`
	Cost          *CostConfig       `toml:"cost"`
	Headers       map[string]string `toml:"headers" secret:"true"`
	Compat        map[string]any    `toml:"compat"`
}

// CostConfig is a price per million tokens. One that the file leaves out is nil: it
// is not known, or, of the cache, what input costs.
type CostConfig struct {
	Input      *float64 `toml:"input" min:"0"`
	Output     *float64 `toml:"output" min:"0"`
	CacheRead  *float64 `toml:"cache_read" min:"0"`
	CacheWrite *float64 `toml:"cache_write" min:"0"`
}

// Default is what is in force where no file says anything. Each call returns a
// fresh value.
func Default() Config {
	return Config{
		Thinking:          "medium",
		Models:            []string{},
		Hooks:             []string{},
		Disable:           []string{},
		Instructions:      []string{},
		HookTimeout:       30000,
		HookGrace:         100,
		HookMemory:        256,
		HookEdits:         "auto",
		Steering:          "one-at-a-time",
		FollowUp:          "one-at-a-time",
		MaxRepeats:        5,
		MaxContinuations:  8,
		StreamIdleTimeout: 120,
		MaxAnswerBytes:    32 << 20,
		Compaction:        CompactionConfig{Enabled: true, ReserveTokens: 16384, KeepRecentTokens: 20000},
		Retry:             RetryConfig{MaxAttempts: 3, BaseDelay: 2 * time.Second, MaxDelay: time.Minute},
		Session:           SessionConfig{Durability: "turn"},
		Tools:             ToolsConfig{Active: []string{"read", "bash", "edit", "write", "grep", "find", "ls"}},
		UI:                UIConfig{ShowThinking: true},
		Keys:              map[string]Chords{},
		Providers:         map[string]ProviderConfig{},
		Origins:           Origins{},
	}
}

// AgentDir is the directory of the person's own settings, hooks and sessions:
// PI_CODING_AGENT_DIR, or .pi/agent in the home directory.
func AgentDir(getenv func(string) string) (string, error) {
	home := homeDir(getenv)
	if dir := getenv("PI_CODING_AGENT_DIR"); dir != "" {
		return filepath.Abs(expandHome(dir, home))
	}
	if home == "" {
		return "", errors.New("find the agent directory: there is no home directory; set HOME or PI_CODING_AGENT_DIR")
	}
	return filepath.Join(home, ".pi", "agent"), nil
}

func homeDir(getenv func(string) string) string {
	if home := getenv("HOME"); home != "" || runtime.GOOS != "windows" {
		return home
	}
	return getenv("USERPROFILE")
}

// expandHome replaces a leading ~; without a home directory the path stays.
func expandHome(path, home string) string {
	rest, ok := strings.CutPrefix(path, "~")
	if !ok || home == "" || rest != "" && !isSeparator(rest[0]) {
		return path
	}
	return filepath.Join(home, rest)
}

func isSeparator(c byte) bool { return c == '/' || c == filepath.Separator }
