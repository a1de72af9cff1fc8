package keyring

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"unicode"

	"pi/cli/config"
	"pi/internal/printable"
	"pi/internal/safefile"
)

// errMasked is why there is no key while a copy of the settings is in force.
var errMasked = errors.New("read key: a change of config.toml waits for your approval, and no copy of the version before has its keys")

// keyFromVariable returns the value of an environment variable as a key. It is an error if
// it is empty or has several lines.
func keyFromVariable(name string, getenv func(string) string) (string, error) {
	if name == "" {
		return "", errors.New(`read key: "env:" names no variable`)
	}
	if config.IsMasked(name) {
		return "", errMasked
	}
	key := strings.TrimSpace(getenv(name))
	if key == "" {
		return "", fmt.Errorf("read key: environment variable %s is not set", config.ShownVariable(name))
	}
	if !isOneLine(key) {
		return "", fmt.Errorf("read key: environment variable %s holds more than one line", config.ShownVariable(name))
	}
	return key, nil
}

// maxSecret is how long a file with a secret may be.
const maxSecret = 64 << 10

// SecretIn returns what a file holds, without the end of its last line: a secret that an engine
// has mounted, or that a user keeps apart. A relative name begins where config.toml is. The
// error names the file, and nothing of what it holds.
func (r *Ring) SecretIn(name string) (string, error) {
	name = strings.TrimSpace(name)
	if name == "" {
		return "", errors.New(`"file:" names no file`)
	}
	path := config.Expand(name, config.Home(r.getenv))
	if !filepath.IsAbs(path) {
		path = filepath.Join(r.agentDir, path)
	}
	text, err := safefile.Read(path, maxSecret)
	switch {
	case errors.Is(err, safefile.ErrNotRegular):
		return "", fmt.Errorf("%s is not a regular file of at most %d KiB", printable.Short(name), maxSecret>>10)
	case err != nil:
		return "", err
	}
	secret := strings.TrimRight(string(text), "\r\n")
	if secret == "" {
		return "", fmt.Errorf("%s is empty", printable.Short(name))
	}
	return secret, nil
}

// keyFromFile returns the secret in a file as a key.
func (r *Ring) keyFromFile(name string) (string, error) {
	key, err := r.SecretIn(name)
	if err == nil && !isOneLine(key) {
		err = fmt.Errorf("%s holds more than one line", printable.Short(strings.TrimSpace(name)))
	}
	if err != nil {
		return "", fmt.Errorf("read key: %w", err)
	}
	return key, nil
}

// keyFromCommand returns what a command prints, as a key. run runs a command line and
// returns its two outputs. Errors have no word of the standard output, which may be the
// key.
func keyFromCommand(command string, run func(command string) (stdout, stderr string, err error)) (string, error) {
	if command == "" {
		return "", errors.New(`read key: "!" names no command`)
	}
	if config.IsMasked(command) {
		return "", errMasked
	}
	stdout, stderr, err := run(command)
	shown := shownCommand(withoutOutput(command, stdout))
	if err != nil {
		if said := printable.Short(strings.TrimSpace(withoutOutput(stderr, stdout))); said != "" {
			return "", fmt.Errorf("read key: command %q: %w: %s", shown, err, said)
		}
		return "", fmt.Errorf("read key: command %q: %w", shown, err)
	}
	key := strings.TrimSpace(stdout)
	if key == "" {
		return "", fmt.Errorf("read key: command %q printed nothing", shown)
	}
	if !isOneLine(key) {
		return "", fmt.Errorf("read key: command %q printed more than one line", shown)
	}
	return key, nil
}

// shownCommand returns what may be shown of a command line: its program. The rest may have
// a password in it, and errors are stored in sessions.
func shownCommand(command string) string {
	program, rest, _ := strings.Cut(command, " ")
	if strings.ContainsAny(program, "=$`'\"|;&<>(){}…") {
		return "…"
	}
	if rest != "" {
		program += " …"
	}
	return program
}

// withoutOutput replaces in text each line that the command printed. A command may have
// its key in its own words, or repeat it when it fails.
func withoutOutput(text, stdout string) string {
	const shortest = 4
	for line := range strings.Lines(stdout) {
		if line = strings.TrimSpace(line); len(line) >= shortest {
			text = strings.ReplaceAll(text, line, "…")
		}
	}
	return text
}

// isOneLine reports whether a key has no control characters, such as line breaks, with
// which it could not be sent in an HTTP header.
func isOneLine(key string) bool { return strings.IndexFunc(key, unicode.IsControl) < 0 }
