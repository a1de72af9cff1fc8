package repl

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pi/agent"
	"pi/session/message"
)

// painter is a hook that draws calls of all tools but those called plain, and counts that.
type painter struct {
	mu    sync.Mutex
	drawn map[string]int // by call, while it runs
	last  agent.DrawnCall

	drawing, goesOn chan struct{} // a drawing of a running call says that it began, and waits; nil: it does not
}

func (*painter) DrawsTool(name string) bool { return name != "plain" }

func (*painter) Message(context.Context, *message.Message, bool, int) ([]string, bool) {
	return nil, false
}

func (p *painter) ToolCall(c agent.DrawnCall, _ bool, _ int) ([]string, bool) {
	state := "over"
	if c.Running {
		state = "runs"
	}
	return []string{c.ID + " " + state}, c.Name != "plain"
}

func (p *painter) ToolResult(c agent.DrawnCall, r agent.Result, _ bool, _ int) ([]string, bool) {
	if c.Running && p.drawing != nil {
		p.drawing <- struct{}{}
		<-p.goesOn
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.last = c; c.Running {
		p.drawn[c.ID]++
	}
	return []string{fmt.Sprintf("%s says %s, running %v", c.ID, r.Content[0].Text, c.Running)}, c.Name != "plain"
}

func (p *painter) count() (all int, each map[string]int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	each = map[string]int{}
	for id, n := range p.drawn {
		all, each[id] = all+n, n
	}
	return all, each
}

// redraw asks for another drawing of the call that was drawn last.
func (p *painter) redraw() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last.Redraw()
}

func reported(id, name, text string) agent.Event {
	return &agent.ToolExecutionUpdate{ID: id, Name: name, Partial: agent.TextResult(text)}
}

func hasEnded(id, name, text string) agent.Event {
	return &agent.ToolExecutionEnd{ID: id, Name: name, Result: agent.TextResult(text)}
}

// inABubble runs a test with a painter, in time that is not the world's.
func inABubble(t *testing.T, test func(x *stage, p *painter)) {
	synctest.Test(t, func(t *testing.T) {
		x, p := newStage(60), &painter{drawn: map[string]int{}}
		x.now = time.Now
		x.view = newTranscript(x.screen, p)
		defer x.view.drawings.stop()
		test(x, p)
	})
}

// live is what stands in the zone.
func (x *stage) live() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return strings.Join(x.zone(60, 60).Rows, "\n")
}

func TestRunningCallsAreDrawnTenTimesASecondTogether(t *testing.T) {
	inABubble(t, func(x *stage, p *painter) {
		x.shows(begun("a", "own", `{}`), begun("b", "own", `{}`), begun("c", "own", `{}`))
		for i := range 200 { // 200 reports of each in 2 s
			for _, id := range []string{"a", "b", "c"} {
				x.shows(reported(id, "own", fmt.Sprint("step ", i)))
			}
			time.Sleep(10 * time.Millisecond)
		}
		all, each := p.count()
		if all < 19 || all > 21 {
			t.Errorf("drawn %d times in two seconds", all)
		}
		for _, id := range []string{"a", "b", "c"} {
			if each[id] < 6 {
				t.Errorf("%s was drawn %d times of %d", id, each[id], all)
			}
		}
		time.Sleep(time.Second)
		if now := x.live(); !strings.Contains(now, "a says step 199, running true") || !strings.Contains(now, "c says step 199, running true") {
			t.Errorf("the last report is not shown:\n%s", now)
		}
	})
}

func TestTheLastDrawingAloneEntersTheTranscript(t *testing.T) {
	inABubble(t, func(x *stage, p *painter) {
		x.shows(begun("a", "own", `{}`), reported("a", "own", "half"))
		time.Sleep(time.Second)
		if now := x.live(); !strings.Contains(now, "• a runs") || !strings.Contains(now, "  a says half, running true") {
			t.Errorf("while it runs:\n%s", now)
		}
		x.shows(reported("a", "own", "nearly"))
		if got, want := x.shows(hasEnded("a", "own", "all")), "• a over ✓\n  a says all, running false"; got != want {
			t.Errorf("the transcript has\n%s\nwant\n%s", got, want)
		}
		before, _ := p.count()
		time.Sleep(time.Second)
		if after, _ := p.count(); after != before {
			t.Errorf("it was drawn behind its end: %d times, before %d", after, before)
		}
		if now := x.live(); strings.Contains(now, "a says") {
			t.Errorf("it is still in the zone:\n%s", now)
		}
	})
}

func TestAHookCanHaveARunningCallDrawnAgain(t *testing.T) {
	inABubble(t, func(x *stage, p *painter) {
		x.shows(begun("a", "own", `{}`), reported("a", "own", "half"))
		time.Sleep(time.Second)
		before, _ := p.count()
		p.redraw()
		p.redraw() // at once means once
		time.Sleep(time.Second)
		if after, _ := p.count(); after != before+1 {
			t.Errorf("drawn %d times more", after-before)
		}
		x.shows(hasEnded("a", "own", "all"))
		p.redraw()
		time.Sleep(time.Second)
		if after, _ := p.count(); after != before+1 {
			t.Errorf("drawn %d times more behind its end", after-before-1)
		}
	})
}

func TestTheEndOfACallWaitsForItsDrawing(t *testing.T) {
	x, p := newStage(60), &painter{drawn: map[string]int{}, drawing: make(chan struct{}), goesOn: make(chan struct{})}
	x.view = newTranscript(x.screen, p)
	defer x.view.drawings.stop()
	x.shows(begun("a", "own", `{}`), reported("a", "own", "half"))
	<-p.drawing
	ended := make(chan string)
	go func() { ended <- x.shows(hasEnded("a", "own", "all")) }()
	for !x.view.drawnCall("a").over.Load() {
		runtime.Gosched()
	}
	close(p.goesOn)
	if got := <-ended; got != "• a over ✓\n  a says all, running false" {
		t.Errorf("the transcript has\n%s", got)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.last.Running || p.drawn["a"] != 1 {
		t.Errorf("drawn last while it ran: %v, %d times", p.last.Running, p.drawn["a"])
	}
}

func TestACallThatNobodyDrawsTakesNoDrawings(t *testing.T) {
	inABubble(t, func(x *stage, p *painter) {
		x.shows(begun("a", "plain", `{}`), reported("a", "plain", "line"))
		time.Sleep(time.Second)
		if all, _ := p.count(); all != 0 {
			t.Errorf("drawn %d times", all)
		}
		if now := x.live(); !strings.Contains(now, "│ line") {
			t.Errorf("its output is not shown:\n%s", now)
		}
		x.change(func() { x.plain = true })
		x.shows(begun("b", "own", `{}`), reported("b", "own", "line"))
		time.Sleep(time.Second)
		if all, _ := p.count(); all != 0 {
			t.Errorf("drawn %d times in plain mode", all)
		}
		x.change(func() { x.plain = false })
	})
}

func TestACallThatIsDroppedIsDrawnNoMore(t *testing.T) {
	inABubble(t, func(x *stage, p *painter) {
		x.shows(begun("a", "own", `{}`), reported("a", "own", "half"))
		time.Sleep(time.Second)
		before, _ := p.count()
		x.change(func() { x.calls.drop() })
		p.redraw()
		time.Sleep(time.Second)
		if after, _ := p.count(); after != before {
			t.Errorf("drawn %d times more", after-before)
		}
	})
}
