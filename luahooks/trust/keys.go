package trust

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"pi/internal/safefile"
)

// What else a tool may write to have its way: commands that print keys run without
// a question, and instructions of the agent directory speak in every session.

// maxKeys is how long auth.json may be.
const maxKeys = 1 << 20

// commandsIn returns auth.json reduced to the commands in it, which print keys: one a line,
// sorted. Keys and logins in it may change as they like. Without commands it is like no file.
func commandsIn(path string) Version {
	raw, err := safefile.Read(path, maxKeys)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Version{Err: err}
	case err != nil:
		return Version{Err: err, Sum: Unreadable}
	}
	var commands []string
	for d := json.NewDecoder(bytes.NewReader(raw)); ; {
		token, err := d.Token()
		if err != nil { // what follows is not read by anybody
			break
		}
		if text, ok := token.(string); ok && strings.HasPrefix(strings.TrimSpace(text), "!") {
			commands = append(commands, commandLine(strings.TrimSpace(text)[1:]))
		}
	}
	if len(commands) == 0 {
		return Version{Err: fs.ErrNotExist}
	}
	slices.Sort(commands)
	code := []byte(strings.Join(slices.Compact(commands), "\n"))
	return Version{Code: code, Sum: Sum(code), real: path}
}

// commandLine writes a command as one line that begins with !; a newline in it becomes \n.
func commandLine(command string) string {
	return "!" + strings.NewReplacer("\\", `\\`, "\n", `\n`).Replace(strings.TrimSpace(command))
}
