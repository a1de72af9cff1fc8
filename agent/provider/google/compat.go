package google

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
	auth           string
	thinkingFormat string
	schema         string
	toolImages     string
	placeholder    bool
	toolMode       string
}

func (c *compat) switches() provider.Switches {
	return provider.Switches{
		"auth":                  &c.auth,
		"thinking_format":       &c.thinkingFormat,
		"schema":                &c.schema,
		"tool_images":           &c.toolImages,
		"placeholder_signature": &c.placeholder,
		"tool_mode":             &c.toolMode,
	}
}

func compatOf(r *agent.Request) (*compat, error) {
	c := &compat{thinkingFormat: "budget", schema: "subset", toolImages: "turn"}
	switch v := generation(r.Model.ID); {
	case v >= 3:
		c.thinkingFormat, c.toolImages, c.placeholder = "level", "response", true
	case v > 0 && v < 2.5:
		c.thinkingFormat = "none"
	}
	if err := c.switches().Set(r.Model); err != nil {
		return nil, err
	}
	if c.auth == "" {
		c.auth = authOf(r)
	}
	return c, nil
}

// authOf tells an access token by its form. Vertex AI takes tokens, and keys
// only in its express mode.
func authOf(r *agent.Request) string {
	key := strings.TrimSpace(r.APIKey)
	isKey := strings.HasPrefix(key, "AIza") || strings.HasPrefix(key, "AQ.")
	if strings.HasPrefix(key, "ya29.") || onVertex(r.Model.BaseURL) && !isKey {
		return "bearer"
	}
	return "x-goog-api-key"
}

func onVertex(base string) bool {
	u, err := url.Parse(base)
	return err == nil && strings.HasSuffix(strings.ToLower(u.Hostname()), "aiplatform.googleapis.com")
}

var (
	version = regexp.MustCompile(`gemini-(\d+(?:\.\d+)?)`)
	latest  = regexp.MustCompile(`gemini-[a-z-]*latest`)
)

// generation is the version of a Gemini model by its id; 0: unknown. What is
// called the latest is newer than all that are known.
func generation(id string) float64 {
	id = strings.ToLower(id)
	if m := version.FindStringSubmatch(id); m != nil {
		v, _ := strconv.ParseFloat(m[1], 64)
		return v
	}
	if latest.MatchString(id) {
		return 100
	}
	return 0
}
