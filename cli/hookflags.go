package cli

import (
	"strings"

	"pi/cli/app"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Hooks bring flags of their own, which are known only when the hooks are
// loaded. So what the program does not know is cut out of the command line
// before it is parsed, and checked afterwards.

// cutHookFlags removes the long flags that pi does not know from args and returns them:
// they are for hooks. The value of such a flag follows behind =; without one it is "true".
// With a subcommand nothing is removed.
func cutHookFlags(root *cobra.Command, args []string) (rest []string, flags app.GivenFlags) {
	if sub, _, err := root.Find(args); err != nil || sub != root {
		return args, flags
	}
	flags = app.GivenFlags{Values: map[string]string{}, Bare: map[string]bool{}}
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
		case hasNext(root, args[i]) && i+1 < len(args):
			rest = append(rest, args[i])
			i++
		}
		rest = append(rest, args[i])
	}
	return rest, flags
}

// lookupFlag returns the flag of pi with this long name; nil if there is none.
func lookupFlag(root *cobra.Command, name string) *pflag.Flag {
	if name == "help" || name == "version" {
		return &pflag.Flag{Name: name}
	}
	if f := root.Flags().Lookup(name); f != nil {
		return f
	}
	return root.PersistentFlags().Lookup(name)
}

// hasNext reports whether arg is a flag whose value is the next argument.
func hasNext(root *cobra.Command, arg string) bool {
	if name, long := strings.CutPrefix(arg, "--"); long {
		f := lookupFlag(root, name) // one with = in it is none
		return f != nil && f.Value != nil && f.NoOptDefVal == ""
	}
	letters, short := strings.CutPrefix(arg, "-")
	for i := range len(letters) {
		f := root.Flags().ShorthandLookup(letters[i : i+1])
		if !short || f == nil {
			return false
		}
		if f.NoOptDefVal == "" { // what follows in this argument is its value
			return i == len(letters)-1
		}
	}
	return false
}
