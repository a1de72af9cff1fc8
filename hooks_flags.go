package main

import (
	"fmt"
	"slices"
	"strings"

	"pi/internal/suggest"
	"pi/luahooks"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Hooks bring flags of their own, which are known only when the hooks are
// loaded. So what the program does not know is taken from the command line
// before it is parsed, and checked afterwards.

// checkNamedHooks refuses a --hook that names no file.
func (p *Place) checkNamedHooks() error {
	if len(p.Hooks.Files) == 0 {
		return nil
	}
	places := p.Places()
	places.NoHooks = true
	for _, s := range places.Discover(p.Guard).Sources {
		if s.Missing() {
			return UsageError{Err: fmt.Errorf("--hook: %w", s.Err)}
		}
	}
	return nil
}

// takeHookFlags takes long flags that root does not have out of args. A value
// follows after =; without one the flag is "true".
func takeHookFlags(root *cobra.Command, args []string) (rest []string, flags GivenFlags) {
	if sub, _, err := root.Find(args); err != nil || sub != root {
		return args, flags
	}
	flags = GivenFlags{Values: map[string]string{}, Bare: map[string]bool{}}
	for i := 0; i < len(args); i++ {
		name, long := strings.CutPrefix(args[i], "--")
		if args[i] == "--" {
			return append(rest, args[i:]...), flags
		}
		name, value, given := strings.Cut(name, "=")
		known := lookupFlag(root, name)
		switch {
		case long && known == nil:
			if !given {
				value = "true"
			}
			flags.Values[name], flags.Bare[name] = value, !given
			continue
		case takesNext(root, args[i]) && i+1 < len(args):
			rest = append(rest, args[i])
			i++
		}
		rest = append(rest, args[i])
	}
	return rest, flags
}

func lookupFlag(root *cobra.Command, name string) *pflag.Flag {
	if name == "help" || name == "version" {
		return &pflag.Flag{Name: name}
	}
	if f := root.Flags().Lookup(name); f != nil {
		return f
	}
	return root.PersistentFlags().Lookup(name)
}

// takesNext reports whether the argument after this one is its value.
func takesNext(root *cobra.Command, arg string) bool {
	if name, long := strings.CutPrefix(arg, "--"); long {
		f := lookupFlag(root, name) // one with = in it is none
		return f != nil && f.Value != nil && f.NoOptDefVal == ""
	}
	if len(arg) < 2 || arg[0] != '-' {
		return false
	}
	f := root.Flags().ShorthandLookup(arg[len(arg)-1:])
	return f != nil && f.NoOptDefVal == ""
}

// checkHookFlags refuses flags that no hook has, and those that lack a value.
func (r *run) checkHookFlags() error {
	known := map[string]luahooks.Flag{}
	for _, f := range r.chain.Flags() {
		known[f.Name] = f
	}
	for name := range r.Hooks.Given.Values {
		f, ok := known[name]
		switch {
		case !ok:
			return UsageError{Err: fmt.Errorf("unknown flag: --%s%s\nrun `pi --help` for the flags of pi, `pi hooks check` for those of hooks", name, nearFlag(name, r.FlagNames, r.chain.Flags()))}
		case f.Type != "boolean" && r.Hooks.Given.Bare[name]:
			return UsageError{Err: fmt.Errorf("--%s of hook %s wants a value behind =, such as --%s=VALUE", name, f.Hook, name)}
		}
	}
	return nil
}

// flagNames are the flags of a command.
func flagNames(c *cobra.Command) (names []string) {
	c.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	return names
}

func nearFlag(name string, own []string, flags []luahooks.Flag) string {
	names := slices.Clone(own)
	for _, f := range flags {
		names = append(names, f.Name)
	}
	if near := suggest.Nearest(name, names); near != "" {
		return ", did you mean --" + near + "?"
	}
	return ""
}
