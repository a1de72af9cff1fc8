package hooktest

import (
	"os"
	"runtime"
	"slices"
	"strings"
	"time"
)

// Isolate takes from the environment of the process what a case must not depend on, and what
// it must not reach: keys, the repository that git was told of, proxies, the time zone. It is
// for a process that does nothing but run tests, before it begins.
func Isolate() {
	for _, variable := range os.Environ() {
		if name, _, _ := strings.Cut(variable, "="); name != "" && !isOfMachine(name) {
			_ = os.Unsetenv(name)
		}
	}
	_ = os.Setenv("TZ", "UTC")
	time.Local = time.UTC
}

// isOfMachine reports whether a variable says how programs run here at all. None of them is
// about a user.
func isOfMachine(name string) bool {
	if runtime.GOOS == "windows" && slices.Contains([]string{"SYSTEMROOT", "COMSPEC", "PATHEXT", "TEMP", "TMP", "WINDIR"}, strings.ToUpper(name)) {
		return true
	}
	return slices.Contains([]string{"PATH", "LANG", "TERM", "TMPDIR", "TZ"}, name) || strings.HasPrefix(name, "LC_")
}
