package mcpfile

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"pi/agent/mcp"
	"pi/internal/printable"
)

// expander fills in the variables of one entry.
type expander struct {
	origin Origin
	read   map[string]bool // the variables that the entry reads
	unset  map[string]bool // those of them without a value
}

func newExpander(o Origin) *expander {
	return &expander{origin: o, read: map[string]bool{}, unset: map[string]bool{}}
}

// variables are what the entry reads, in order of the name.
func (x *expander) variables() []string { return slices.Sorted(maps.Keys(x.read)) }

// problem is why a server cannot be started: a variable has no value; nil: all have one.
func (x *expander) problem() error {
	names := slices.Sorted(maps.Keys(x.unset))
	switch len(names) {
	case 0:
		return nil
	case 1:
		return fmt.Errorf("the variable %s is not set", names[0])
	}
	return fmt.Errorf("the variables %s are not set", strings.Join(names, ", "))
}

// fill returns a text with its variables filled in: ${NAME}, ${env:NAME}, ${NAME:-instead} and
// ${workspaceFolder}. Anything else in ${} is an error. A variable without a value is noted, and
// stays as it is.
func (x *expander) fill(text string) (string, error) {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(text, "${")
		b.WriteString(before)
		if !found {
			return b.String(), nil
		}
		inside, after, closed := strings.Cut(rest, "}")
		if !closed {
			return "", errors.New("${ without a }")
		}
		value, err := x.value(inside)
		if err != nil {
			return "", err
		}
		b.WriteString(value)
		text = after
	}
}

// value is what stands for ${inside}.
func (x *expander) value(inside string) (string, error) {
	if inside == "workspaceFolder" {
		return x.origin.Workspace, nil
	}
	name, instead, has := strings.Cut(strings.TrimPrefix(inside, "env:"), ":-")
	if !isVariable(name) || strings.Contains(instead, "${") {
		return "", fmt.Errorf("${%s} is not understood: there are ${NAME}, ${env:NAME}, ${NAME:-instead} and ${workspaceFolder}", printable.Short(printable.Line(inside)))
	}
	x.read[name] = true
	if err := x.checkKey(name); err != nil {
		return "", err
	}
	value := x.origin.Getenv(name)
	switch {
	case value != "":
		return value, nil
	case has:
		return instead, nil
	}
	x.unset[name] = true
	return "${" + inside + "}", nil
}

// checkKey returns an error if a server of a project would get the key of a provider: by its
// variable, or by another one that has the same value.
func (x *expander) checkKey(name string) error {
	if x.origin.Kind != mcp.FromProject {
		return nil
	}
	value := x.origin.Getenv(name)
	for _, key := range x.origin.Keys {
		if key == name || value != "" && value == x.origin.Getenv(key) {
			return fmt.Errorf("${%s} is the key of a provider, which no server of a project gets; a server in your own mcp.json may have it", name)
		}
	}
	return nil
}

// isVariable reports whether a text can be the name of a variable.
func isVariable(name string) bool {
	for i, r := range name {
		if r != '_' && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return name != ""
}
