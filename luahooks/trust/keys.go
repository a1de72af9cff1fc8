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

// commandsIn is auth.json reduced to its commands, in order; without any it is
// like no file.
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

// commandLine is a command as one line.
func commandLine(command string) string {
	return "!" + strings.NewReplacer("\\", `\\`, "\n", `\n`).Replace(strings.TrimSpace(command))
}
