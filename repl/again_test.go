package repl

import (
	"bytes"
	"math/rand"
	"strings"
	"testing"
	"time"

	"pi/agent"
	"pi/agent/llm"
	"pi/repl/terminal"
	"pi/session/message"
)

func again() agent.Event { return &agent.AutoRetryStart{Attempt: 1, MaxAttempts: 3} }

func TestAnAnswerThatBeginsAnewIsShownOnce(t *testing.T) {
	over := &agent.MessageEnd{Message: &message.Message{Role: message.RoleAssistant, StopReason: message.StopEnd, Content: []message.Block{message.TextBlock("shown")}}}
	failed := &agent.MessageEnd{Message: &message.Message{Role: message.RoleAssistant, StopReason: message.StopError}}
	at := func(index int, s string) agent.Event {
		return &agent.MessageUpdate{Delta: llm.Delta{Kind: llm.DeltaText, Index: index, Text: s}}
	}
	const says = "the answer broke off; it starts over:\n"
	for _, c := range []struct {
		name   string
		events []agent.Event
		want   string
	}{
		{"nothing was shown", []agent.Event{again(), text("Hello"), over}, "Hello\n"},
		{"it goes on", []agent.Event{text("Hello wor"), again(), text("Hel"), text("lo world"), over}, "Hello world\n"},
		{"it goes on with the next step", []agent.Event{text("Hello"), again(), text("Hello"), text(" world"), over}, "Hello world\n"},
		{"it was whole", []agent.Event{text("Hello"), again(), text("Hello"), over}, "Hello\n"},
		{"thoughts too", []agent.Event{thought("hm, "), thought("yes"), text("A"), again(), thought("hm, yes"), text("A"), text("B"), over}, "hm, yes\nAB\n"},
		{"a further block", []agent.Event{thought("hm"), again(), thought("hm"), text("A"), over}, "hm\nA\n"},
		{"blocks are counted otherwise", []agent.Event{at(1, "one"), at(3, "two"), again(), at(5, "one"), at(7, "two"), at(7, "!"), over}, "one\ntwo!\n"},
		{"words in several blocks", []agent.Event{at(1, "one"), at(2, "two"), again(), at(1, "on"), at(1, "e"), at(2, "tw"), at(2, "o"), at(3, "!"), over}, "onetwo!\n"},
		{"it breaks off twice, earlier", []agent.Event{text("Hello wor"), again(), text("Hel"), again(), text("Hello world"), over}, "Hello world\n"},
		{"it breaks off twice, later", []agent.Event{text("Hel"), again(), text("Hello wor"), again(), text("Hello world"), over}, "Hello world\n"},
		{"it breaks off at once", []agent.Event{text("Hel"), again(), again(), text("Hello"), over}, "Hello\n"},
		{"another text", []agent.Event{text("Hello wor"), again(), text("Hello "), text("you"), text("!"), over}, "Hello wor\n" + says + "Hello you!\n"},
		{"another thought", []agent.Event{thought("hm, yes"), text("A"), again(), thought("hm, no"), text("A"), over}, "hm, yes\nA\n" + says + "hm, no\nA\n"},
		{"a longer thought", []agent.Event{thought("hm"), text("A"), again(), thought("hm"), thought("m"), text("A"), over}, "hm\nA\n" + says + "hmm\nA\n"},
		{"a shorter thought", []agent.Event{thought("hmm"), text("A"), again(), thought("hm"), text("A"), over}, "hmm\nA\n" + says + "hm\nA\n"},
		{"no thought", []agent.Event{thought("hmm"), text("A"), again(), text("A"), over}, "hmm\nA\n" + says + "A\n"},
		{"a shorter text", []agent.Event{text("Hello world"), again(), text("Hello"), over}, "Hello world\n" + says + "Hello\n"},
		{"no text", []agent.Event{text("Hello"), again(), over}, "Hello\n" + says},
		{"another text, and once more the same", []agent.Event{text("A b"), again(), text("A c"), again(), text("A c!"), over}, "A b\n" + says + "A c!\n"},
		{"it fails for good, earlier", []agent.Event{text("Hello wor"), again(), text("Hel"), failed}, "Hello wor\n"},
		{"the next answer is no repetition", []agent.Event{text("Hello"), again(), text("Hello"), over, text("Hello"), over}, "Hello\nHello\n"},
		{"a character in pieces", []agent.Event{text("\xc3"), again(), text("\xc3"), text("\xa9"), over}, "é\n"},
		{"what others write comes between", []agent.Event{text("one\n"), text("tw"), again(), begun("1", "ls", "{}"), text("one\ntwo"), over}, "one\ntw\n• ls\no\n"},
	} {
		if got := shown(false, c.events...); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// However an answer is cut and cut again, what stands on the screen in the end is
// the answer.
func TestAnAnswerThatIsCutAnywhereIsShownOnce(t *testing.T) {
	whole := []llm.Delta{{Kind: llm.DeltaThinking, Index: 0, Text: "first a thought,\nof two lines"},
		{Kind: llm.DeltaText, Index: 1, Text: "Then Grüße, a text"}, {Kind: llm.DeltaText, Index: 2, Text: "and another\none"}}
	random := rand.New(rand.NewSource(1))
	say := func(shift int) (events []agent.Event) {
		for _, d := range whole {
			for text := d.Text; text != ""; {
				n := 1 + random.Intn(len(text))
				events = append(events, &agent.MessageUpdate{Delta: llm.Delta{Kind: d.Kind, Index: d.Index + shift, Text: text[:n]}})
				text = text[n:]
			}
		}
		return events
	}
	over := &agent.MessageEnd{Message: &message.Message{Role: message.RoleAssistant, StopReason: message.StopEnd, Content: []message.Block{message.TextBlock("shown")}}}
	want := shown(false, append(say(0), over)...)
	for range 500 {
		var events []agent.Event
		for attempt := range 3 {
			steps := say(attempt)
			events = append(append(events, steps[:random.Intn(len(steps)+1)]...), again())
		}
		if got := shown(false, append(append(events, say(9)...), over)...); got != want {
			t.Fatalf("%q, want %q", got, want)
		}
	}
}

// What a hook asks beside the answer is no part of it.
func TestARetryBesideTheConversationChangesNothingOnTheScreen(t *testing.T) {
	over := &agent.MessageEnd{Message: &message.Message{Role: message.RoleAssistant}}
	if got := shown(false, text("a"), &agent.AutoRetryStart{Aside: true}, text("a"), over); got != "aa\n" {
		t.Errorf("%q", got)
	}
}

func TestTheScreenGoesOnInTheLineThatAWaitHasEnded(t *testing.T) {
	over := &agent.MessageEnd{Message: &message.Message{Role: message.RoleAssistant}}
	for _, c := range []struct {
		name, before, after string
		between             func(*terminal.Screen)
		want                string // behind the wait
	}{
		{"in mid-line", "Hello wor", "Hello world", nil, "\x1b[A\x1b[9Cld\n"},
		{"behind a full line", "one\ntwo", "one\ntwo!", nil, "\x1b[A\x1b[3C!\n"},
		{"in the second row", "0123456789abcdefghijXY", "0123456789abcdefghijXYZ", nil, "\x1b[A\x1b[2CZ\n"},
		{"where a row is full", "0123456789abcdefghij", "0123456789abcdefghijX", nil, "X\n"},
		{"at the beginning of a line", "one\n", "one\ntwo", nil, "two\n"},
		{"wide characters", "日本", "日本語", nil, "\x1b[A\x1b[4C語\n"},
		{"a wide one that did not fit", "0123456789abcdefghi日", "0123456789abcdefghi日!", nil, "\x1b[A\x1b[2C!\n"},
		{"tabs", "a\tb", "a\tbc", nil, "c\n"},
		{"something was said meanwhile", "Hello", "Hello!", func(s *terminal.Screen) { s.Line(terminal.StyleDim, "a notice") }, "!\n"},
		{"the person typed a line", "Hello", "Hello!", func(s *terminal.Screen) { s.LineEnded("") }, "!\n"},
	} {
		var out bytes.Buffer
		s := terminal.NewScreen(&out, terminal.Palette{})
		v := &transcript{Screen: s, columns: func() int { return 20 }}
		v.handle(text(c.before))
		for range 2 {
			v.handle(again())
			s.OpenRegion()
			s.DrawRegion([]string{"retry"})
			s.CloseRegion()
		}
		if c.between != nil {
			c.between(s)
		}
		out.Reset()
		v.handle(text(c.after))
		v.handle(over)
		if got := out.String(); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestAWaitIsSaidWithWhatCancelsIt(t *testing.T) {
	e := &agent.AutoRetryStart{Attempt: 2, MaxAttempts: 3, DelayMS: 4000, ErrorMessage: "acme: HTTP 529 overloaded_error:\nThe service is \x1b[31moverloaded at this moment, please come back later"}
	w := &waiting{e, time.Now().Add(3500 * time.Millisecond)}
	for width, want := range map[int]string{
		200: "retry 2/3 in 4 s: acme: HTTP 529 overloaded_error: The service is overloaded at this moment, please come back later · Esc or Ctrl+C cancels",
		79:  "retry 2/3 in 4 s: acme: HTTP 529 overloaded_error: The… · Esc or Ctrl+C cancels",
		40:  "retry 2/3 in 4 s: acme: HTTP 529 overlo…",
	} {
		if got := w.text(width); got != want {
			t.Errorf("%d columns: %q", width, got)
		}
	}
	l := compactionLine{doing: "compacting", began: time.Now(), cancelled: func() bool { return false }, waits: func() *waiting { return w }}
	if got := l.text(60); !strings.HasPrefix(got, "compacting … Esc cancels · retry 2/3 in 4 s: acme: HTTP") {
		t.Errorf("%q", got)
	}
}
