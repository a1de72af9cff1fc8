package terminal

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// A paste of this size or less is put into the line as it is; a larger one as a
// token, for the editor is slow with long lines and nobody reads them there.
const (
	pasteInline      = 400 // bytes
	pasteInlineLines = 4
)

// pastes are the texts that tokens stand for.
type pastes struct{ texts []string }

// paste returns the text for the line of a pasted one: itself, or a token.
func (p *pastes) paste(text string) string {
	lines := strings.Count(strings.TrimSuffix(text, "\n"), "\n") + 1
	if len(text) <= pasteInline && lines <= pasteInlineLines {
		return toSigns(text)
	}
	p.texts = append(p.texts, text)
	return fmt.Sprintf("[paste #%d, %d lines]", len(p.texts), lines)
}

// expand puts the pasted texts back in place of their tokens. A token without a text
// stays.
func (p *pastes) expand(line string) string {
	token := regexp.MustCompile(`\[paste #(\d+), \d+ lines\]`)
	return token.ReplaceAllStringFunc(line, func(found string) string {
		n, err := strconv.Atoi(token.FindStringSubmatch(found)[1])
		if err != nil || n < 1 || n > len(p.texts) {
			return found
		}
		return p.texts[n-1]
	})
}

// pastedText cleans a paste: line ends become one kind, for a terminal
// sends them as if Enter was pressed, and without other control characters.
func pastedText(raw []byte) string {
	raw = bytes.ReplaceAll(raw, []byte("\r\n"), []byte("\n"))
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\r':
			return '\n'
		case r < 0x20 && r != '\n' && r != '\t', r == 0x7f:
			return -1
		}
		return r
	}, strings.ToValidUTF8(string(raw), "\uFFFD"))
}

func toSigns(s string) string {
	return strings.NewReplacer("\r\n", signNewline, "\n", signNewline, "\t", signTab).Replace(s)
}

func fromSigns(s string) string {
	return strings.NewReplacer(signNewline, "\n", signTab, "\t").Replace(s)
}
