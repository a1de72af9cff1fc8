package app

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"pi/internal/testing/slowmodel"
	"pi/luahooks/api"
)

// benchmarkedHooks are the hooks that benchmarks of children have: those that a session has with them.
func benchmarkedHooks(b *testing.B) []struct {
	name  string
	hooks map[string]string
} {
	return []struct {
		name  string
		hooks map[string]string
	}{{"none", nil}, {"examples", exampleHooks(b)}}
}

// quit answers the request of a child with words.
func quit(turn *slowmodel.Turn) {
	turn.Text("done")
	turn.End()
}

// BenchmarkFirstRequestOfAChild takes the time from agent.start to the first request of the child at its
// server.
func BenchmarkFirstRequestOfAChild(b *testing.B) {
	for _, of := range benchmarkedHooks(b) {
		b.Run(of.name, func(b *testing.B) {
			p := openParent(b, Options{}, "", of.hooks)
			b.ReportAllocs()
			for b.Loop() {
				c := p.start(b, api.AgentRequest{Prompt: "go"})
				turn := p.next(b)
				b.StopTimer()
				quit(turn)
				ended(b, c)
				b.StartTimer()
			}
		})
	}
}

// BenchmarkMemoryOfAChild tells what the heap holds of each child that has asked its model, which
// includes the connection to that at both ends.
func BenchmarkMemoryOfAChild(b *testing.B) {
	const many = 16
	for _, of := range benchmarkedHooks(b) {
		b.Run(of.name, func(b *testing.B) {
			p := openParent(b, Options{}, "[agents]\nmax = 64\n", of.hooks)
			held := func() (m runtime.MemStats) {
				runtime.GC()
				runtime.GC()
				runtime.ReadMemStats(&m)
				return m
			}
			for b.Loop() {
				before := held()
				var all []api.Child
				var turns []*slowmodel.Turn
				for range many {
					all = append(all, p.start(b, api.AgentRequest{Prompt: "go"}))
				}
				for range many {
					turns = append(turns, p.next(b))
				}
				after := held()
				b.ReportMetric(float64(after.HeapInuse+after.StackInuse-before.HeapInuse-before.StackInuse)/many/(1<<20), "MB/child")
				for _, turn := range turns {
					quit(turn)
				}
				for _, c := range all {
					ended(b, c)
				}
			}
		})
	}
}

// BenchmarkChildrenOfFiftyTurns has four children take fifty turns each, one after the other and beside
// each other, of a model that takes a while for each answer, as models do.
func BenchmarkChildrenOfFiftyTurns(b *testing.B) {
	const turns, many = 50, 4
	for name, max := range map[string]int{"after": 1, "beside": many} {
		b.Run(name, func(b *testing.B) {
			p := openParent(b, Options{}, fmt.Sprintf("[agents]\nmax = %d\n", max), exampleHooks(b))
			ctx, cancel := context.WithCancel(b.Context())
			defer cancel()
			go playTurns(ctx, p, turns, 100*time.Millisecond)
			for b.Loop() {
				var all []api.Child
				for range many {
					all = append(all, p.start(b, api.AgentRequest{Prompt: "go", MaxTurns: turns + 1}))
				}
				for _, c := range all {
					if r := ended(b, c); r.StopReason != "completed" {
						b.Fatal(r.StopReason, r.Error)
					}
				}
			}
		})
	}
}

// playTurns answers all requests, each after a while: with a call, until an agent has made so many.
func playTurns(ctx context.Context, p parent, turns int, after time.Duration) {
	var answers sync.WaitGroup
	defer answers.Wait()
	for {
		turn, err := p.model.Next(ctx)
		if err != nil {
			return
		}
		answers.Go(func() {
			time.Sleep(after)
			if n := len(turn.Request.Of("assistant")); n+1 < turns {
				turn.Call(fmt.Sprint("c", n), "ls", "path", ".", "limit", n+1)
			} else {
				turn.Text("done")
			}
			turn.End()
		})
	}
}

// BenchmarkChildrenInAQueue has 32 children come to their end, of which four work at a time.
func BenchmarkChildrenInAQueue(b *testing.B) {
	p := openParent(b, Options{}, "", nil)
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	go playTurns(ctx, p, 2, 0)
	for b.Loop() {
		var all []api.Child
		for range 32 {
			all = append(all, p.start(b, api.AgentRequest{Prompt: "go"}))
		}
		for _, c := range all {
			ended(b, c)
		}
	}
}
