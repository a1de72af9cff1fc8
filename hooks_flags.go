package main

import (
	"fmt"
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
func (a *app) checkNamedHooks() error {
	if len(a.hooks) == 0 {
		return nil
	}
	p := a.places()
	p.NoHooks = true
	for _, s := range p.Discover(a.guard).Sources {
		if s.Missing() {
			return usageError{fmt.Errorf("--hook: %w", s.Err)}
		}
	}
	return nil
}

// hookFlags are flags that a hook has to know.
type hookFlags struct {
	values map[string]string
	bare   map[string]bool // without a value of their own
}

// takeHookFlags takes long flags that root does not have out of args. A value
// follows after =; without one the flag is "true".
func takeHookFlags(root *cobra.Command, args []string) (rest []string, flags hookFlags) {
	if sub, _, err := root.Find(args); err != nil || sub != root {
		return args, flags
	}
	flags = hookFlags{values: map[string]string{}, bare: map[string]bool{}}
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
			flags.values[name], flags.bare[name] = value, !given
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
func (a *app) checkHookFlags() error {
	known := map[string]luahooks.Flag{}
	for _, f := range a.chain.Flags() {
		known[f.Name] = f
	}
	for name := range a.hookFlags.values {
		f, ok := known[name]
		switch {
		case !ok:
			return usageError{fmt.Errorf("unknown flag: --%s%s\nrun `pi --help` for the flags of pi, `pi hooks check` for those of hooks", name, nearFlag(name, a.chain.Flags()))}
		case f.Type != "boolean" && a.hookFlags.bare[name]:
			return usageError{fmt.Errorf("--%s of hook %s wants a value behind =, such as --%s=VALUE", name, f.Hook, name)}
		}
	}
	return nil
}

func nearFlag(name string, flags []luahooks.Flag) string {
	var names []string
	newRoot(&options{}, true).Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	for _, f := range flags {
		names = append(names, f.Name)
	}
	if near := suggest.Nearest(name, names); near != "" {
		return ", did you mean --" + near + "?"
	}
	return ""
}
