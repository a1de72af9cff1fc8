package session

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// longestName is how long the name of a folder may be on the file systems there
// are, in bytes.
const longestName = 255

// FolderName is the name of the folder for sessions started in cwd. Different
// directories may have the same one; the header tells them apart. One that
// would be too long is cut, and ends with a sum of the directory.
func FolderName(cwd string) string {
	rest := cwd
	if rest != "" && (rest[0] == '/' || rest[0] == '\\') {
		rest = rest[1:]
	}
	name := strings.NewReplacer("/", "-", "\\", "-", ":", "-").Replace(rest)
	if len(name)+len("----") > longestName {
		sum := sha256.Sum256([]byte(cwd))
		end := "-" + hex.EncodeToString(sum[:8])
		name = strings.ToValidUTF8(name[:longestName-len("----")-len(end)], "") + end
	}
	return "--" + name + "--"
}
