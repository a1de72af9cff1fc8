package config

import (
	"errors"
	"fmt"
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
	err = rewrite(path, isSecret(parts), func(text string) (string, error) { return withKey(text, parts, literal) })
	if err != nil {
		return nil, fmt.Errorf("set %q: %w", key, err)
	}
	return warnings, nil
}

// Unset removes a setting from the config.toml at path, so that it has its default again.
// was is false if the file did not have it; it is an error if there is no such setting
// either. The comments above the line stay.
func Unset(path, key string) (was bool, err error) {
	parts, err := parseKey(key)
	if err == nil {
		err = rewrite(path, false, func(text string) (string, error) {
			changed, err := withoutKey(text, parts)
			was = changed != text
			return changed, err
		})
	}
	if err == nil && !was {
		_, _, err = settingAt(parts)
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

// rewrite replaces the text of the file at path by what change makes of it. Who may read
// the file stays as it was, unless a secret was put into it.
func rewrite(path string, secret bool, change func(text string) (string, error)) error {
	was, _ := os.Stat(path)
	written := false
	err := safefile.Change(path, readSettings, func(old []byte) ([]byte, error) {
		text, err := change(string(old))
		written = err == nil && text != string(old)
		return []byte(text), err
	})
	if err != nil || !written || secret || was == nil || was.Mode().Perm() == 0o600 {
		return err
	}
	return os.Chmod(path, was.Mode().Perm())
}

// readSettings returns the text of a file that can be edited.
func readSettings(path string) ([]byte, error) {
	data, _, err := ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", Tilde(path), err)
	}
	var doc map[string]any
	if _, beyond := indexLines(string(data)); beyond != nil {
		return nil, fmt.Errorf("mend %s:%d first: %s", Tilde(path), beyond.line, beyond.text)
	}
	if _, err := toml.Decode(string(data), &doc); err != nil {
		line, text := syntaxProblem(err, string(data))
		return nil, fmt.Errorf("mend %s:%d first: %s", Tilde(path), line, text)
	}
	return data, nil
}
