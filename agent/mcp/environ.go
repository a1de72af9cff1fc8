package mcp

import (
	"maps"
	"runtime"
	"slices"
	"strings"
)

// passed are the variables of this program that a server gets. A key of a provider is none of
// them: whoever wants to give one away says so in the entry.
func passed() []string {
	names := []string{"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "TERM", "TMPDIR",
		"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy",
		"SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS"}
	if runtime.GOOS == "windows" {
		names = append(names, "SYSTEMROOT", "COMSPEC", "PATHEXT", "APPDATA", "LOCALAPPDATA", "USERPROFILE", "TEMP", "TMP")
	}
	return names
}

// isPassed reports whether a server gets a variable of this program.
func isPassed(name string) bool {
	if strings.HasPrefix(name, "LC_") || strings.HasPrefix(name, "XDG_") {
		return true
	}
	return slices.ContainsFunc(passed(), func(known string) bool {
		return name == known || runtime.GOOS == "windows" && strings.EqualFold(name, known)
	})
}

// environ returns the environment of a server: what is passed of all, and its own variables,
// which go before.
func environ(all []string, own map[string]string) (env []string) {
	for _, variable := range all {
		name, _, _ := strings.Cut(variable, "=")
		if _, replaced := own[name]; !replaced && isPassed(name) {
			env = append(env, variable)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(own)) {
		env = append(env, name+"="+own[name])
	}
	return env
}
