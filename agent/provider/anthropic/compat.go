package anthropic

import (
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"pi/agent"
	"pi/agent/provider"
)

// compat holds the switches described at the package.
type compat struct {
	adaptive    bool
	display     string
	interleaved bool
	cache       bool
	cacheTTL    string
	auth        string
	vertex      bool
	version     string
	beta        string
}

func (c *compat) switches() provider.Switches {
	return provider.Switches{
		"adaptive_thinking": &c.adaptive,
		"thinking_display":  &c.display,
		"interleaved":       &c.interleaved,
		"cache":             &c.cache,
		"cache_ttl":         &c.cacheTTL,
		"auth":              &c.auth,
		"vertex":            &c.vertex,
		"version":           &c.version,
		"beta":              &c.beta,
	}
}

func compatOf(r *agent.Request) (*compat, error) {
	m := r.Model
	host := hostOf(m.BaseURL)
	c := &compat{
		adaptive:    adaptiveByName(m.ID),
		interleaved: host == "api.anthropic.com",
		cache:       true,
		vertex:      strings.HasSuffix(host, "aiplatform.googleapis.com"),
		version:     "2023-06-01",
	}
	if err := c.switches().Set(m); err != nil {
		return nil, err
	}
	if c.auth == "" {
		c.auth = "x-api-key"
		if c.vertex || isToken(r.APIKey) {
			c.auth = "bearer"
		}
	}
	return c, nil
}

func hostOf(base string) string {
	u, err := url.Parse(base)
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Hostname())
}

// isToken tells an access token of an account from an API key.
func isToken(key string) bool { return strings.HasPrefix(strings.TrimSpace(key), "sk-ant-oat") }

var version = regexp.MustCompile(`claude-[a-z]+-(\d+)(?:[-.](\d{1,2})(?:\D|$))?`)

// adaptiveByName reports whether a model takes an effort instead of a budget:
// those from version 4.6 on do. A date behind the name is no minor version.
func adaptiveByName(id string) bool {
	m := version.FindStringSubmatch(id)
	if m == nil {
		return false
	}
	major, _ := strconv.Atoi(m[1])
	minor, _ := strconv.Atoi(m[2])
	return major >= 5 && major < 1000 || major == 4 && minor >= 6
}
