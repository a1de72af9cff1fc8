//go:build unix

package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// scriptConversation writes a session file, or adds to one:
//
//	conversation FILE PARTS…
//
// A part is letters for messages (u of the user, a of the model; ua*20 is twenty
// of each), or cN:TEXT for a compaction that keeps from entry N on. The text of
// message n is "mn", its entry has the id n in eight digits.
func scriptConversation(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: conversation FILE PARTS…")
	}
	path := ts.MkAbs(args[0])
	was, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		was = fmt.Appendf(nil, `{"type":"session","version":3,"id":"conversation","timestamp":%q,"cwd":%q}`+"\n", thisDay(), ts.MkAbs("."))
	} else {
		ts.Check(err)
	}
	lines := bytes.Split(bytes.TrimSpace(was), []byte("\n"))
	c := sessionLines{n: len(lines) - 1}
	if c.n > 0 {
		var last struct{ ID string }
		ts.Check(json.Unmarshal(lines[c.n], &last))
		c.parent = last.ID
	}
	for _, part := range args[1:] {
		ts.Check(c.part(part))
	}
	ts.Check(os.WriteFile(path, append(was, c.Bytes()...), 0o600))
}

// thisDay is a time of today, in the zone of the program that the test runs: to go on with a
// session of another day tells the model of that.
func thisDay() string { return time.Now().UTC().Format("2006-01-02T15:04:05.000Z") }

// sessionLines are the lines of a session file.
type sessionLines struct {
	bytes.Buffer
	n      int
	parent string
}

func (c *sessionLines) part(part string) error {
	if rest, ok := strings.CutPrefix(part, "c"); ok {
		kept, text, _ := strings.Cut(rest, ":")
		n, err := strconv.Atoi(kept)
		if err != nil {
			return err
		}
		c.entry(fmt.Sprintf(`"type":"compaction","summary":%q,"firstKeptEntryId":%q,"tokensBefore":1000`, text, entryID(n)))
		return nil
	}
	letters, times, many := strings.Cut(part, "*")
	count := 1
	if many {
		var err error
		if count, err = strconv.Atoi(times); err != nil {
			return err
		}
	}
	for _, letter := range strings.Repeat(letters, count) {
		c.message(letter)
	}
	return nil
}

func (c *sessionLines) message(letter rune) {
	text := fmt.Sprintf("m%d", c.n+1)
	if letter == 'u' {
		c.entry(fmt.Sprintf(`"type":"message","message":{"role":"user","content":%q,"timestamp":1}`, text))
		return
	}
	c.entry(fmt.Sprintf(`"type":"message","message":{"role":"assistant","content":[{"type":"text","text":%q}],"api":"openai-completions",`+
		`"provider":"local","model":"small","usage":{"input":1,"output":1,"cacheRead":0,"cacheWrite":0,"totalTokens":2,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}},"stopReason":"stop","timestamp":1}`, text))
}

func (c *sessionLines) entry(fields string) {
	c.n++
	id, parent := entryID(c.n), "null"
	if c.parent != "" {
		parent = strconv.Quote(c.parent)
	}
	fmt.Fprintf(c, `{%s,"id":%q,"parentId":%s,"timestamp":%q}`+"\n", fields, id, parent, thisDay())
	c.parent = id
}

func entryID(n int) string { return fmt.Sprintf("%08d", n) }

// scriptAsked writes what a request of $WORK told the model, one message a line,
// into $WORK/asked:
//
//	asked N   user: m1
//	          assistant: m2
func scriptAsked(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: asked N")
	}
	var request struct {
		Messages []struct {
			Role    string
			Content json.RawMessage
		}
	}
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(ts.Getenv("WORK")+"/request"+args[0]+".json")), &request))
	var lines strings.Builder
	for _, m := range request.Messages {
		if m.Role != "system" && m.Role != "developer" {
			fmt.Fprintf(&lines, "%s: %s\n", m.Role, wireText(m.Content))
		}
	}
	ts.Check(os.WriteFile(ts.Getenv("WORK")+"/asked", []byte(lines.String()), 0o600))
}

// wireText is the text of a message's content, with its line ends as ⏎.
func wireText(content json.RawMessage) string {
	var text string
	if json.Unmarshal(content, &text) != nil {
		var blocks []struct{ Text string }
		if json.Unmarshal(content, &blocks) != nil {
			return string(content)
		}
		for _, b := range blocks {
			text += b.Text
		}
	}
	return strings.ReplaceAll(text, "\n", "⏎")
}
