package config

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"pi/internal/safefile"

	"github.com/BurntSushi/toml"
)

// Set writes a setting into the config.toml at path, which is made, readable by its owner
// alone, if it is not there; through links, the file that they lead to is changed. Key is
// written as in messages: "thinking", "compaction.enabled", "providers.local.api_key"; the
// text of value is read as the type of the setting wants it. All else in the file stays as
// it is, to the byte. warnings are about the value.
//
// Nothing is written if the value is not one that [Load] would use, if the file cannot be
// read or parsed, or if there is no place for the key in it.
func Set(path, key, value string, getenv func(string) string) (warnings []Problem, err error) {
	parts, err := parseKey(key)
	if err != nil {
		return nil, fmt.Errorf("set %q: %w", key, err)
	}
	at := place{file: path, home: Home(getenv)}
	literal, warnings, err := at.literalOf(parts, value)
	if err != nil {
		return nil, fmt.Errorf("set %q: %w", key, err)
	}
	secret := isSecret(parts)
	err = rewrite(path, secret, func(text string) (string, error) { return withKey(text, parts, literal) })
	if err != nil {
		return nil, fmt.Errorf("set %q: %w", key, err)
	}
	return warnings, nil
}

// Unset removes a setting from the config.toml at path, so that it has its default again.
// was is false if the file did not have it. The comments above the line stay.
func Unset(path, key string) (was bool, err error) {
	parts, err := parseKey(key)
	if err == nil {
		err = rewrite(path, false, func(text string) (string, error) {
			changed, err := withoutKey(text, parts)
			was = changed != text
			return changed, err
		})
	}
	if err != nil {
		return false, fmt.Errorf("unset %q: %w", key, err)
	}
	return was, nil
}

// parseKey returns the parts of a key as it is written in TOML.
func parseKey(key string) (toml.Key, error) {
	var doc map[string]any
	meta, err := toml.Decode(key+" = 0", &doc)
	if keys := meta.Keys(); err == nil && len(keys) > 0 && len(key) <= maxKey {
		if last := keys[len(keys)-1]; len(last) <= maxDepth && len(doc) == 1 {
			return last, nil
		}
	}
	return nil, errors.New(`not a key such as "thinking" or "compaction.enabled"`)
}

// tries is how often a file is read anew that others change at the same moment.
const tries = 5

// errOthersWrite says that a file never stayed the same for long enough to be changed.
var errOthersWrite = errors.New("another program writes the file all the time; try again")

// rewrite replaces the text of the file at path by what change makes of it. A change that
// somebody else made meanwhile is not lost: change is then called again.
func rewrite(path string, secret bool, change func(text string) (string, error)) error {
	path, err := safefile.Target(path)
	if err != nil {
		return err
	}
	for range tries {
		old, info, err := readSettings(path)
		if err != nil {
			return err
		}
		text, err := change(string(old))
		if err != nil || text == string(old) {
			return err
		}
		if now, _, err := readSettings(path); err != nil || !bytes.Equal(now, old) {
			continue
		}
		return replaceSettings(path, text, info, secret)
	}
	return errOthersWrite
}

// readSettings returns the text of a file that can be edited; that of one that is not there
// is empty.
func readSettings(path string) ([]byte, fs.FileInfo, error) {
	data, info, err := ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", Tilde(path), err)
	}
	var doc map[string]any
	if _, beyond := indexLines(string(data)); beyond != nil {
		return nil, nil, fmt.Errorf("mend %s:%d first: %s", Tilde(path), beyond.line, beyond.text)
	}
	if _, err := toml.Decode(string(data), &doc); err != nil {
		line, text := syntaxProblem(err, string(data))
		return nil, nil, fmt.Errorf("mend %s:%d first: %s", Tilde(path), line, text)
	}
	return data, info, nil
}

// replaceSettings writes a file as a whole. Who may read it stays as it was, unless a
// secret was just put into it.
func replaceSettings(path, text string, was fs.FileInfo, secret bool) error {
	if err := safefile.Replace(path, []byte(text), true); err != nil {
		return fmt.Errorf("write %s: %w", Tilde(path), err)
	}
	if was == nil || secret || was.Mode().Perm() == 0o600 {
		return nil
	}
	return os.Chmod(path, was.Mode().Perm())
}
