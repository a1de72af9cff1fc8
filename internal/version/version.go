// Package version says which version of the program it is that runs. All that names it asks here: `pi --version`,
// RPC, ACP, hooks, servers of MCP, reports of crashes, and the pages that sessions are exported as.
package version

import (
	"runtime/debug"
	"strings"
)

// released is what release/build.sh has given the version by -ldflags "-X pi/internal/version.released=…".
var released string

// Program is the version of the program: of a release its number, of what was built from a checkout of git `devel` and
// the commit, such as `devel+abc1234`, with `-dirty` where the files were not those of the commit, and of anything else
// `devel`. It is the same as long as the program runs.
func Program() string {
	if released != "" {
		return released
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return fromSettings(nil)
	}
	return fromSettings(info.Settings)
}

// shortCommit is how many digits of a commit git shows by itself.
const shortCommit = 7

// fromSettings is the version of a build that is no release.
func fromSettings(settings []debug.BuildSetting) string {
	built := map[string]string{}
	for _, s := range settings {
		built[s.Key] = s.Value
	}
	var v strings.Builder
	v.WriteString("devel")
	if commit := built["vcs.revision"]; commit != "" {
		v.WriteString("+" + commit[:min(shortCommit, len(commit))])
		if built["vcs.modified"] == "true" {
			v.WriteString("-dirty")
		}
	}
	return v.String()
}
