//go:build unix

package e2e

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// toolHook brings a tool that the requests before did not have.
const toolHook = `pi.tool{ name = "odd", description = "Does odd things", parameters = { type = "object", properties = {} },
  execute = function() return "odd" end }`

// rewriteHook changes the first message in every request.
const rewriteHook = `pi.on("context", function(event)
  event.messages[1].content = "something else"
  return { messages = event.messages }
end)`

// forgetHook has a command that takes the first prompt out of the context for good.
const forgetHook = `pi.command("forget", { handler = function(ctx)
  assert(ctx.edit_context(ctx.messages[1].entry_id, { content = "forgotten" }))
end })`

// planHook has a mode with a section of the system prompt and other tools.
const planHook = `pi.mode{ name = "plan", tools = { "read" }, section = "LOOK FIRST" }`

// eagerPrune is examples/prune.lua with the outputs of two calls for many.
func eagerPrune(t *testing.T) string {
	source := mustRead(t, inModule("examples/prune.lua"))
	for _, change := range [][2]string{{"local KEEP = 10", "local KEEP = 0"}, {"local BATCH = 10", "local BATCH = 2"}, {"local LARGE = 500", "local LARGE = 5"}} {
		if !strings.Contains(source, change[0]) {
			t.Fatalf("no %q in examples/prune.lua", change[0])
		}
		source = strings.Replace(source, change[0], change[1], 1)
	}
	return source
}

// Each case is a conversation of several processes, and what becomes of the thoughts in
// each request: "kept+dropped". A thought is dropped where something before it has changed.
// ID and NUMBER are the second prompt of the session.
var boundCases = map[string]struct {
	hook, answers string
	runs          [][]string
	want          string
}{
	"nothing but prompts": {runs: [][]string{{"-p", "one", "-p", "two"}, {"-p", "three"}}, want: "0+0 1+0 2+0"},
	"tools are called": {
		answers: "think I look\ncall ls {}\n---\nthink and again\ntext I see\ncall ls {\"path\":\".\"}\n---\n",
		runs:    [][]string{{"-p", "one"}, {"-p", "two"}}, want: "0+0 1+0 2+0 3+0",
	},
	"a compaction, which asks twice": {
		runs: [][]string{{"-p", "one", "-p", "two"}, {"-p", "/compact", "-p", "three", "-p", "four"}}, want: "0+0 1+0 0+0 0+0 0+1 1+1",
	},
	"undo":     {runs: [][]string{{"-p", "one", "-p", "two"}, {"-p", "/undo", "-p", "instead"}, {"-p", "on"}}, want: "0+0 1+0 1+0 2+0"},
	"a branch": {runs: [][]string{{"-p", "one", "-p", "two"}, {"-p", "/branch here", "-p", "three"}}, want: "0+0 1+0 2+0"},
	"the tree with a summary": {
		runs: [][]string{{"-p", "one", "-p", "two"}, {"-p", "/tree ID summary", "-p", "three"}, {"-p", "four"}}, want: "0+0 1+0 0+0 1+0 2+0",
	},
	"another mode": {
		hook: planHook, runs: [][]string{{"-p", "one"}, {"-p", "/mode plan", "-p", "two", "-p", "three"}, {"-p", "/mode off", "-p", "four"}},
		want: "0+0 0+1 1+1 1+2",
	},
	"a hook adds a tool":          {hook: toolHook, runs: [][]string{{"--no-hooks", "-p", "one"}, {"-p", "two", "-p", "three"}}, want: "0+0 0+1 1+1"},
	"a hook rewrites the context": {hook: rewriteHook, runs: [][]string{{"--no-hooks", "-p", "one"}, {"-p", "two", "-p", "three"}}, want: "0+0 0+1 1+1"},
	"a hook edits the context":    {hook: forgetHook, runs: [][]string{{"-p", "one"}, {"-p", "/forget", "-p", "two"}, {"-p", "three"}}, want: "0+0 0+1 1+1"},
	"old output is pruned":        {hook: "prune", answers: "think I look\ncall ls {}\n---\nthink again\ncall ls {}\n---\n", runs: [][]string{{"-p", "one"}, {"-p", "two"}}, want: "0+0 1+0 1+1 2+1"},
	"a turn is popped": {
		hook: "pop", runs: [][]string{{"-p", "one", "-p", "two", "-p", "three"}, {"-p", "/pop NUMBER", "-p", "four"}, {"-p", "five"}},
		want: "0+0 1+0 2+0 0+0 1+0 2+0",
	},
}

func TestAConversationGoesOnThoughItsThoughtsAreBound(t *testing.T) {
	t.Parallel()
	for name, c := range boundCases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, notices := boundRun(t, "claude-opus-5-5:high", c.hook, c.answers, c.runs)
			if got != c.want || strings.Contains(notices, "asked again") {
				t.Errorf("%s, want %s\n%s", got, c.want, notices)
			}
		})
	}
}

// The same without the switch, because nobody knows the model's name: the server refuses,
// so the cases above can fail, and it is asked again without thoughts.
func TestAConversationGoesOnThoughNobodyKnowsThatItsThoughtsAreBound(t *testing.T) {
	t.Parallel()
	for name, c := range boundCases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, notices := boundRun(t, "thinker:high", c.hook, c.answers, c.runs)
			changed := strings.Contains(c.want, "+1")
			if refused := strings.Count(got, "refused"); changed != (refused > 0) || refused != strings.Count(got, "refused 0+0") {
				t.Errorf("%s, where the server drops %s", got, c.want)
			} else if refused != strings.Count(notices, "did not fit the conversation any more") ||
				changed && !strings.Contains(notices, `set compat.block_binding = "drop_block" of [providers.local]`) {
				t.Errorf("%s, and is told as\n%s", got, notices)
			}
		})
	}
}

// A model with a budget for its thoughts has to begin a turn with one, so that it goes on
// without thinking where its own was refused.
func TestATurnGoesOnThoughItsOwnThoughtsAreRefused(t *testing.T) {
	t.Parallel()
	c := boundCases["old output is pruned"]
	if got, notices := boundRun(t, "budgeter:high", c.hook, c.answers, c.runs); got != "0+0 1+0 refused 0+0 refused 0+0" {
		t.Errorf("%s\n%s", got, notices)
	}
}

// With thinking off there is no field for what becomes of thoughts that do not fit, so that
// none goes along, or those of the turn in progress alone.
func TestAConversationGoesOnWithThinkingOff(t *testing.T) {
	t.Parallel()
	for name, c := range boundCases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got, notices := boundRun(t, "claude-haiku-5-5:off", c.hook, c.answers, c.runs); strings.ContainsAny(got, "r123") || strings.Contains(notices, "asked again") {
				t.Errorf("no thoughts: %s\n%s", got, notices)
			}
			got, notices := boundRun(t, "claude-sonnet-5-5:off", c.hook, c.answers, c.runs)
			want := "" // a change in the middle of a turn is refused, and asked again
			if c.hook == "prune" {
				want = "0+0 1+0 refused 0+0 0+0"
			}
			if refused := strings.Count(got, "refused"); want != "" && got != want || refused != strings.Count(want, "refused") || refused != strings.Count(notices, "asked again without them") {
				t.Errorf("those of the turn: %s\n%s", got, notices)
			}
		})
	}
}

// Thoughts come back with the level, or the model, that had them.
func TestThoughtsStayOutForAsLongAsThinkingIsOff(t *testing.T) {
	t.Parallel()
	const answers = "think hm\ntext one\n---\ntext two\n---\nthink so\ntext three\n---\n"
	for name, there := range map[string]string{"level": "/thinking off", "model": "/model local/claude-sonnet-5-5"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			back := map[string]string{"level": "/thinking high", "model": "/model local/claude-haiku-5-5"}[name]
			runs := [][]string{{"-p", "one", "-p", there, "-p", "two"}, {"-p", back, "-p", "three", "-p", "four"}}
			if got, notices := boundRun(t, "claude-haiku-5-5:high", "", answers, runs); got != "0+0 0+0 1+0 2+0" || strings.Contains(notices, "again") {
				t.Errorf("%s\n%s", got, notices)
			}
		})
	}
}

// boundRun has a conversation with a model that binds its thoughts, and returns what became
// of the thoughts in each request, and what was told on standard error.
func boundRun(t *testing.T, model, hook, answers string, runs [][]string) (thoughts, notices string) {
	w := newWorld(t)
	s := newModelServer("anthropic-messages", answers+strings.Repeat("think hm\ntext I see.\n---\n", 8)+"text enough", "")
	s.binds = true
	t.Cleanup(s.http.Close)
	w.write(w.agentFile("config.toml"), "[compaction]\nkeep_recent_tokens = 1\n"+s.settings())
	switch hook {
	case "prune":
		hook = eagerPrune(t)
	case "pop":
		hook = mustRead(t, inModule("examples/pop.lua"))
	}
	file := filepath.Join(w.home, "hook.lua")
	w.write(file, hook)
	for i, args := range runs {
		if i > 0 {
			args = append([]string{"--continue"}, args...)
			id, number := secondPrompt(t, w.sessions()[0])
			for k := range args {
				args[k] = strings.NewReplacer("ID", id, "NUMBER", number).Replace(args[k])
			}
		}
		if hook != "" && !slices.Contains(args, "--no-hooks") {
			args = append([]string{"--hook", file}, args...)
		}
		_, said := w.piTells(append([]string{"--model", "local/" + model}, args...)...)
		notices += said
	}
	return strings.TrimSpace(strings.NewReplacer(" kept, ", "+", " dropped\n", " ", "\n", " ").Replace(s.bound.String())), notices
}

// secondPrompt returns the id of the second prompt in a session, and its number among the
// entries, from 1; "none" if there is no other prompt than the first.
func secondPrompt(t *testing.T, file string) (id, number string) {
	for i, line := range strings.Split(mustRead(t, file), "\n") {
		var e struct {
			ID      string
			Message struct{ Role string }
		}
		if json.Unmarshal([]byte(line), &e) == nil && e.Message.Role == "user" {
			if number != "" {
				return e.ID, strconv.Itoa(i)
			}
			number = "one"
		}
	}
	return "none", "none"
}
