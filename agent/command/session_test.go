package command

import (
	"strings"
	"testing"

	"pi/agent"
	"pi/agent/prefix"
)

func shownBreakdown() agent.Breakdown {
	return agent.Breakdown{
		ContextUsage: agent.ContextUsage{Tokens: 1234, Window: 10_000, Percent: 12.34}, Counted: 1200,
		Sources: []agent.Source{
			{Name: agent.SourceSystem, Tokens: 120, Parts: []agent.Source{
				{Name: "role", Tokens: 20}, {Name: "/home/u/" + strings.Repeat("deep/", 10) + "AGENTS.md", Tokens: 90}, {Name: "mood", Tokens: 10, Note: "of bard"}}},
			{Name: agent.SourceTools, Tokens: 300, Count: 1, Parts: []agent.Source{{Name: "read", Tokens: 300, Count: 1}}},
			{Name: agent.SourceSummaries},
			{Name: agent.SourceUser, Tokens: 14, Count: 2},
			{Name: agent.SourceModel, Tokens: 500, Count: 1, Parts: []agent.Source{{Name: "calls", Tokens: 200, Count: 2}, {Name: "text", Tokens: 300, Count: 1}}},
			{Name: agent.SourceHooks, Tokens: 250, Count: 1, Parts: []agent.Source{{Name: "two\nlines", Tokens: 250, Count: 1}}},
			{Name: agent.SourceRest, Tokens: 50, Note: "what the provider counted otherwise"},
		},
		Hooks: []agent.HookEffect{
			{Hook: "pop", Removed: agent.Amount{Messages: 3, Tokens: 900}, Added: agent.Amount{Messages: 1, Tokens: 40}},
			{Hook: "redact", Changed: agent.Amount{Messages: 2, Tokens: 80}, ChangedTo: 20},
			{Hook: "idle"},
		},
		Break:  &prefix.Break{Hook: "pop", Part: prefix.PartMessages, Message: 3},
		Unsent: []agent.Source{{Name: "failed or interrupted answers", Count: 2}},
	}
}

func TestContextIsATableThatAddsUp(t *testing.T) {
	const want = `about 1234 of 10000 tokens (12%) of acme/one
[#####...................................]

system prompt                                    120
  role                                            20
  …eep/deep/deep/deep/deep/deep/deep/AGENTS.md    90
  mood                                            10  of bard
tools                                            300  1 tool
  read                                           300
you                                               14  2 messages
model                                            500  1 answer
  calls                                          200  2 calls
  text                                           300  1 answer
hooks                                            250  1 message
  two lines                                      250  1 message
beyond the estimates                              50  what the provider counted otherwise
total                                           1234  1200 counted with the last answer, +34 estimated since; its parts are estimated
hook pop removed 3 messages (900 tokens), added 1 message (40 tokens)
hook redact changed 2 messages (20 tokens, were 80)
hook idle changed nothing
the cache was of no use for the last request: pop changed message 3
not sent: failed or interrupted answers (2)`
	if got := contextText(shownBreakdown(), "acme/one", ascii); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestBarsShowWhatIsThereAndNoMore(t *testing.T) {
	for _, c := range []struct {
		n, whole int
		want     string
	}{{0, 100, "...."}, {1, 1000, "#..."}, {50, 100, "##.."}, {100, 100, "####"}, {500, 100, "####"}, {-5, 100, "...."}, {5, 0, "#..."}} {
		if got := ascii.bar(c.n, c.whole, 4); got != c.want {
			t.Errorf("%d of %d: %s, want %s", c.n, c.whole, got, c.want)
		}
	}
	if got := blocks.bar(1, 2, 4); got != "██░░" {
		t.Errorf("with blocks: %s", got)
	}
}
