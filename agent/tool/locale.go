package tool

import (
	"context"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"
)

// localeTime is how long the shell may take to list the missing locales.
const localeTime = 2 * time.Second

// NewLocale returns what gives the variables (NAME=value) that a command needs
// so that its locale is one that is installed: nothing as long as the
// environment names such ones only. For one that is not, every shell and many
// programs warn on standard error, which would stand in the output of each
// command; what they then use is C. Nothing but the C library knows what is
// installed, so a shell is asked, once, by the first command.
func NewLocale(environ []string) func() []string {
	return sync.OnceValue(func() []string { return localeVariables(environ) })
}

// localeVariables are the variables that a command needs in place of locales which are
// not installed: LC_ALL with C.UTF-8, or with C if that is missing too. It runs a shell
// to know.
func localeVariables(environ []string) []string {
	named := namedLocales(environ)
	if len(named) == 0 {
		return nil
	}
	const best = "C.UTF-8"
	missing := missingLocales(append(named, best))
	switch {
	case !slices.ContainsFunc(named, func(l string) bool { return slices.Contains(missing, l) }):
		return nil
	case slices.Contains(missing, best):
		return []string{"LC_ALL=C"}
	}
	return []string{"LC_ALL=" + best}
}

// namedLocales are the locales that an environment names, without those that
// every system has.
func namedLocales(environ []string) []string {
	var named []string
	for _, v := range environ {
		name, value, _ := strings.Cut(v, "=")
		if (name == "LANG" || strings.HasPrefix(name, "LC_")) && value != "" && value != "C" && value != "POSIX" && !slices.Contains(named, value) {
			named = append(named, value)
		}
	}
	return named
}

// missingLocales returns those of the locales that are not installed, by asking bash;
// none if there is no bash, or if it does not answer in time.
func missingLocales(locales []string) []string {
	bash, err := exec.LookPath("bash")
	if err != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), localeTime)
	defer cancel()
	const script = `for l; do w=$( { LC_ALL=$l; } 2>&1 ); [ -z "$w" ] || printf '%s\n' "$l"; done`
	cmd := exec.CommandContext(ctx, bash, append([]string{"-c", script, "bash"}, locales...)...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH")} // nothing that bash would run before the script
	cmd.WaitDelay = localeTime
	out, err := cmd.Output()
	if err != nil {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
}
