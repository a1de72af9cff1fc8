package main

import (
	"context"
	"strings"
	"time"

	"pi/internal/testing/slowmodel"
)

// player plays one answer with pauses.
type player struct {
	*slowmodel.Turn
	pause time.Duration
	nth   int // of all requests, from 1
}

// answerAll answers each request as its words want, several at a time.
func answerAll(ctx context.Context, s *slowmodel.Server, pause time.Duration) {
	for nth := 1; ; nth++ {
		turn, err := s.Next(ctx)
		if err != nil {
			return
		}
		go player{turn, pause, nth}.answer()
	}
}

// answer plays the scene whose word the prompt has. The answer to results of tools is a
// sentence about them.
func (p player) answer() {
	if p.Request.Answered() {
		results := p.Request.Of("tool")
		last := results[len(results)-1].Text()
		p.words("That gave " + strings.TrimSpace(last[:min(len(last), 60)]) + ", which is what I expected.")
		p.End()
		return
	}
	for _, s := range scenes() {
		if strings.Contains(strings.ToLower(p.Request.Last()), s.word) {
			s.play(p)
			return
		}
	}
	p.words(list())
	p.End()
}

// wait is the pause before the next piece; false: the program gave up.
func (p player) wait(pause time.Duration) bool {
	select {
	case <-time.After(pause):
		return true
	case <-p.Abandoned():
		return false
	}
}

// pieces plays something in pieces, each behind a pause.
func (p player) pieces(text string, send func(string)) {
	for _, word := range strings.SplitAfter(text, " ") {
		if !p.wait(p.pause) {
			return
		}
		send(word)
	}
}

func (p player) words(text string) { p.pieces(text, p.Text) }

// call plays a call whose arguments come slowly.
func (p player) call(id, tool, arguments string) {
	p.Begin(id, tool)
	p.pieces(arguments, p.Arguments)
}
