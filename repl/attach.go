package repl

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"pi/session/message"
)

// attachLimit is the size in bytes of the largest file that can be attached.
const attachLimit = 5 << 20

// attach finds the files that a prompt names with @ and returns their content:
// a text file as a text block that names it, an image, known by its first
// bytes, as an image block. A word that names no file is just text; problems tells
// of files that exist and cannot be attached.
func attach(text, cwd string) (blocks []message.Block, problems []string) {
	seen := map[string]bool{}
	for _, name := range mentioned(text) {
		name, path := resolve(name, cwd)
		info, err := os.Stat(path)
		if err != nil || info.IsDir() || seen[path] {
			continue
		}
		seen[path] = true
		block, err := fileBlock(name, path, info)
		if err != nil {
			problems = append(problems, fmt.Sprintf("@%s is not attached: %v", name, err))
			continue
		}
		blocks = append(blocks, block)
	}
	return blocks, problems
}

// mentioned lists the words of text that begin with @. A name with spaces is
// put in quotes: @"a b".
func mentioned(text string) (names []string) {
	for i := 0; i < len(text); i++ {
		if text[i] != '@' || i > 0 && !strings.ContainsRune(" \t\n(", rune(text[i-1])) {
			continue
		}
		rest := text[i+1:]
		if strings.HasPrefix(rest, `"`) {
			if name, _, ok := strings.Cut(rest[1:], `"`); ok && name != "" {
				names = append(names, name)
			}
			continue
		}
		if end := strings.IndexAny(rest, " \t\n"); end >= 0 {
			rest = rest[:end]
		}
		if rest != "" {
			names = append(names, rest)
		}
	}
	return names
}

// resolve returns the name of a mentioned file and its path. If there is no such file,
// punctuation at the end is no part of them: it ends the sentence.
func resolve(name, cwd string) (string, string) {
	path := absolute(name, cwd)
	if _, err := os.Stat(path); err != nil {
		if trimmed := strings.TrimRight(name, ".,;:!?)"); trimmed != "" {
			return trimmed, absolute(trimmed, cwd)
		}
	}
	return name, path
}

// absolute makes an absolute path of a name; ~ in front is the home directory.
func absolute(name, cwd string) string {
	if rest, ok := strings.CutPrefix(name, "~"); ok && (rest == "" || os.IsPathSeparator(rest[0])) {
		if home, err := os.UserHomeDir(); err == nil {
			return filepath.Join(home, rest)
		}
	}
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	return filepath.Join(cwd, name)
}

// fileBlock returns the content of a file as a text or image block. It fails for a file
// that is too large, not regular, or neither text nor a known kind of image.
func fileBlock(name, path string, info os.FileInfo) (message.Block, error) {
	if !info.Mode().IsRegular() {
		return message.Block{}, fmt.Errorf("it is no regular file")
	}
	if info.Size() > attachLimit {
		return message.Block{}, fmt.Errorf("it has %d bytes, more than %d", info.Size(), attachLimit)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return message.Block{}, err
	}
	block, ok := message.FileBlock(name, data)
	switch {
	case !ok:
		return message.Block{}, fmt.Errorf("it is neither text nor a known kind of image")
	case block.Type == message.BlockText:
		block = message.NamedText(name, strings.TrimSuffix(string(data), "\n"))
	}
	return block, nil
}
