package acp

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"pi/internal/printable"
	"pi/session/folder"
)

const (
	pageSize   = 100 // sessions in one answer
	titleRunes = 80
)

// beginList lists the sessions of a directory, or all, newest first.
func (v *Server) beginList(f fields) (handler, error) {
	cwd, err := f.mayText("cwd")
	if err != nil {
		return nil, err
	}
	if f.isGiven("cwd") {
		if err := checkAbsolute("cwd", cwd); err != nil {
			return nil, err
		}
		cwd = filepath.Clean(cwd)
	}
	cursor, err := f.mayText("cursor")
	if err != nil {
		return nil, err
	}
	var after place
	if f.isGiven("cursor") {
		if after, err = v.readCursor(cursor); err != nil {
			return nil, err
		}
	}
	return func(ctx context.Context) (any, error) { return v.page(ctx, cwd, after) }, nil
}

// place is where a page ends: at a session, by the time of its last write.
type place struct {
	written time.Time // zero: before the first
	id      string
}

// page lists the sessions behind a place. Sessions without a prompt, and files that cannot be
// read, are passed over.
func (v *Server) page(ctx context.Context, cwd string, after place) (listed, error) {
	answer := listed{Sessions: []sessionInfo{}}
	if v.Root == "" {
		return answer, nil
	}
	var last place
	passed := after.id == ""
	for info, err := range folder.Scan(v.Root, cwd) {
		if ctx.Err() != nil {
			return answer, ctx.Err()
		}
		if err != nil {
			continue
		}
		if !passed {
			passed = info.ID == after.id || info.Modified.Before(after.written)
			if info.ID == after.id || !passed {
				continue
			}
		}
		if info.Messages == 0 || !filepath.IsAbs(info.Cwd) {
			continue
		}
		if len(answer.Sessions) == pageSize {
			answer.NextCursor = v.cursor(last)
			break
		}
		answer.Sessions = append(answer.Sessions, sessionInfo{info.ID, info.Cwd, titleOf(info.Name, info.FirstPrompt), timeText(info.Modified)})
		last = place{info.Modified, info.ID}
	}
	return answer, nil
}

func timeText(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// titleOf returns what a session is called: its name, else the first line of its first prompt
// that is not context.
func titleOf(name, prompt string) string {
	if name = printable.Line(name); name != "" {
		return shortTitle(name)
	}
	line, _, _ := strings.Cut(withoutContext(prompt), "\n")
	return shortTitle(printable.Line(cut(line, 4096)))
}

// link is one that readLink has made.
var link = regexp.MustCompile(`^\[@[^\]\n]*\]\([^)\n]*\)`)

// withoutContext returns what was asked in a prompt: what stands behind the files and links
// that it begins with. One that is nothing else stays as it is.
func withoutContext(prompt string) string {
	rest := strings.TrimSpace(prompt)
	for rest != "" {
		if found := link.FindString(rest); found != "" {
			rest = rest[len(found):]
		} else if _, behind, ok := strings.Cut(rest, "\n</file>"); ok && strings.HasPrefix(rest, "<file name=") {
			rest = behind
		} else {
			return rest
		}
		rest = strings.TrimSpace(rest)
	}
	return strings.TrimSpace(prompt)
}

// shortTitle returns the first characters of a title.
func shortTitle(title string) string {
	if utf8.RuneCountInString(title) <= titleRunes {
		return title
	}
	return string([]rune(title)[:titleRunes-1]) + "…"
}

// cursor returns the text by which a client asks for what comes behind a place. Only this
// server can have made it.
func (v *Server) cursor(p place) string {
	payload := strconv.FormatInt(p.written.UnixNano(), 10) + " " + p.id
	text, _ := json.Marshal([]string{v.seal(payload), payload}) // strings
	return base64.RawURLEncoding.EncodeToString(text)
}

// readCursor reads what cursor returned.
func (v *Server) readCursor(cursor string) (place, error) {
	unknown := newError(codeParams, `"cursor" is none that came from here`)
	text, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil {
		return place{}, unknown
	}
	var parts []string
	if json.Unmarshal(text, &parts) != nil || len(parts) != 2 || parts[0] != v.seal(parts[1]) {
		return place{}, unknown
	}
	written, id, _ := strings.Cut(parts[1], " ")
	nanos, err := strconv.ParseInt(written, 10, 64)
	if err != nil || id == "" {
		return place{}, unknown
	}
	return place{time.Unix(0, nanos), id}, nil
}

// seal returns a text that only this server can have made for payload.
func (v *Server) seal(payload string) string {
	sum := sha256.Sum256([]byte(v.key + " " + payload))
	return base64.RawURLEncoding.EncodeToString(sum[:12])
}
