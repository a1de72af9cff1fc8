//go:build unix

package e2e

import (
	"fmt"
	"os"
	"time"
)

// talked is a session that a test finds in a list.
type talked struct {
	name    string
	prompts []string // each with an answer
	last    string   // the last answer
}

// keepsTalk writes a session of the project. The last one written is the newest.
func (w *world) keepsTalk(id string, s talked) {
	w.t.Helper()
	c := sessionLines{}
	for i, prompt := range s.prompts {
		answer := "fine"
		if i == len(s.prompts)-1 && s.last != "" {
			answer = s.last
		}
		c.entry(fmt.Sprintf(`"type":"message","message":{"role":"user","content":%q,"timestamp":1}`, prompt))
		c.entry(fmt.Sprintf(`"type":"message","message":{"role":"assistant","content":[{"type":"text","text":%q}],"api":"openai-completions",`+
			`"provider":"slow","model":"small","usage":{"input":1,"output":1,"cacheRead":0,"cacheWrite":0,"totalTokens":2,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}},"stopReason":"stop","timestamp":1}`, answer))
	}
	if s.name != "" {
		c.entry(fmt.Sprintf(`"type":"session_info","name":%q`, s.name))
	}
	path := w.agentFile("sessions/kept/" + id + ".jsonl")
	w.write(path, fmt.Sprintf(`{"type":"session","version":3,"id":%q,"timestamp":"2026-01-02T03:04:05.000Z","cwd":%q}`+"\n", id, w.project)+c.String())
	w.written++
	at := time.Date(2026, 1, 2, 3, w.written, 0, 0, time.UTC)
	if err := os.Chtimes(path, at, at); err != nil {
		w.t.Fatal(err)
	}
}
