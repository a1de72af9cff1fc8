package provider

import (
	"fmt"
	"slices"
	"strings"

	"pi/agent"
)

// Switches are the compat keys of a wire API, each with a pointer to where its
// value goes: *bool, *string or *map[string]any.
type Switches map[string]any

// Set applies the values of a model's Compat. Keys that are not switches of this
// API are left to [Switches.Check], since several APIs may share one table.
func (s Switches) Set(m *agent.Model) error {
	for name, value := range m.Compat {
		to, known := s[name]
		if known && !assign(to, value) {
			return &agent.ProviderError{
				Provider: m.Provider,
				Message:  fmt.Sprintf("compat %s cannot be %v", name, value),
				Hint:     fmt.Sprintf("correct compat.%s of [providers.%s]", name, m.Provider),
			}
		}
	}
	return nil
}

// Check reports a key that is no switch, or a value of the wrong type.
func (s Switches) Check(values map[string]any) error {
	for name, value := range values {
		to, known := s[name]
		if !known {
			return fmt.Errorf("compat %q is not known; there are: %s", name, strings.Join(s.names(), ", "))
		}
		if !assign(to, value) {
			return fmt.Errorf("compat %s cannot be %v", name, value)
		}
	}
	return nil
}

func (s Switches) names() []string {
	var names []string
	for name := range s {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func assign(to, value any) bool {
	ok := false
	switch to := to.(type) {
	case *bool:
		*to, ok = value.(bool)
	case *string:
		*to, ok = value.(string)
	case *map[string]any:
		*to, ok = value.(map[string]any)
	}
	return ok
}
