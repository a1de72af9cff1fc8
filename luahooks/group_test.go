package luahooks

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"pi/agent"
)

func TestAGroupHasARuleOfItsOwnAmongOthers(t *testing.T) {
	compacting := func() agent.Event { return &agent.SessionCompacting{} }
	start := func() agent.Event { return &agent.BeforeAgentStart{SystemPrompt: "0"} }
	message := func(text string) string { return `message = { custom_type = "m", content = "` + text + `" }` }
	const last, first, stop = `{ group = { name = "g", rule = "last" } }`, `{ group = { name = "g", rule = "first" } }`, `{ group = { name = "g", rule = "stop" } }`
	const firstMessage = `{ group = { name = "g", rule = "first", keys = { "message" } } }`
	type handler struct{ options, result string }
	for _, c := range []struct {
		name  string
		event agent.Event
		files [][]handler // handlers of a.lua, b.lua, c.lua
		want  []string
		not   []string
		asked string // which handlers
	}{
		{"the last of several files counts whole", compacting(), [][]handler{
			{{last, `{ context = { "a1" }, prompt = "a", preserve_data = { a = 1 } }`}},
			{{"nil", `{ context = { "native" } }`}},
			{{last, `{ context = { "c1" } }`}},
		}, []string{`"Context":["native","c1"]`, `"Prompt":""`, `"PreserveData":null`}, nil, "abc"},
		{"the last of one file counts whole", compacting(), [][]handler{
			{{last, `{ context = { "1" }, prompt = "a" }`}, {last, `nil`}, {last, `{ preserve_data = { x = 1 } }`}, {last, `{}`}, {last, wrong}},
		}, []string{`"Context":null`, `"Prompt":""`, `"PreserveData":{"x":1}`}, nil, "aaaaa"},
		{"what others answered before it stays where it was", compacting(), [][]handler{
			{{"nil", `{ context = { "x" }, prompt = "x" }`}, {last, `{ context = { "1" }, prompt = "1" }`}},
			{{last, `{ context = { "2" } }`}, {"nil", `{ context = { "y" } }`}},
		}, []string{`"Context":["x","2","y"]`, `"Prompt":"x"`}, nil, "aabb"},
		{"groups do not know each other", compacting(), [][]handler{
			{{last, `{ context = { "g1" } }`}, {`{ group = { name = "h", rule = "last" } }`, `{ context = { "h1" } }`}},
			{{last, `{ context = { "g2" } }`}, {`{ group = { name = "h", rule = "last" } }`, `{ context = { "h2" } }`}},
		}, []string{`"Context":["g2","h2"]`}, nil, "aabb"},
		{"the first message counts, and what else is answered", start(), [][]handler{
			{{firstMessage, `{ system_prompt = e.system_prompt .. "a" }`}, {firstMessage, `{ ` + message("one") + ` }`}},
			{{"nil", `{ ` + message("native") + ` }`}},
			{{firstMessage, `{ system_prompt = e.system_prompt .. "c", ` + message("two") + ` }`}, {firstMessage, `{ ` + message("three") + ` }`}},
		}, []string{`"SystemPrompt":"0ac"`, `one`, `native`}, []string{`two`, `three`}, "aabcc"},
		{"the first answer counts", start(), [][]handler{
			{{first, `{}`}, {first, `{ system_prompt = "1" }`}},
			{{first, `{ system_prompt = "2" }`}, {"nil", `{ system_prompt = e.system_prompt .. "n" }`}},
		}, []string{`"SystemPrompt":"1n"`}, nil, "aabb"},
		{"nobody is asked behind the first answer", &agent.SessionBeforeCompact{BranchEntries: branchOfCalls(t)}, [][]handler{
			{{stop, `{ summary = "" }`}, {stop, wrong}, {stop, `{ summary = "one" }`}, {stop, wrong}},
			{{stop, wrong}, {"nil", `nil`}},
			{{stop, `{ cancel = true }`}},
		}, []string{`"Summary":"one"`, `"Cancel":false`}, nil, "aaab"},
		{"others are asked, and theirs is the last", &agent.SessionBeforeCompact{BranchEntries: branchOfCalls(t)}, [][]handler{
			{{stop, `{ summary = "one" }`}}, {{"nil", `{ summary = "two" }`}}, {{stop, `{ summary = "three" }`}},
		}, []string{`"Summary":"two"`}, nil, "ab"},
	} {
		files := map[string]string{}
		for i, handlers := range c.files {
			name := string(rune('a' + i))
			for _, h := range handlers {
				files[name+".lua"] += `pi.on("` + c.event.Kind().String() + `", function(e) pi.send("` + name + `") return ` + h.result + ` end, ` + h.options + ")\n"
			}
		}
		r := newRig(t, files)
		r.emit(c.event)
		raw, err := json.Marshal(c.event)
		mustDo(t, err)
		for _, want := range c.want {
			if !strings.Contains(string(raw), want) {
				t.Errorf("%s: %s, want %s in it", c.name, raw, want)
			}
		}
		for _, not := range c.not {
			if strings.Contains(string(raw), not) {
				t.Errorf("%s: %s, with %s in it", c.name, raw, not)
			}
		}
		if asked := strings.ReplaceAll(r.host.texts(), " ", ""); asked != c.asked {
			t.Errorf("%s: asked were %s, want %s", c.name, asked, c.asked)
		}
	}
}

func TestWhatAGroupLeavesOutIsInTheLog(t *testing.T) {
	answer := `pi.on("before_agent_start", function() return { message = { custom_type = "m", content = "x" } } end,
		{ group = { name = "some.module", rule = "first", keys = { "message" } } })`
	r := newRig(t, map[string]string{"a.lua": answer, "b.lua": answer})
	r.emit(&agent.BeforeAgentStart{})
	log, err := os.ReadFile(r.chain.opts.LogPath)
	mustDo(t, err)
	if got := string(log); strings.Count(got, "message is left out") != 1 || !strings.Contains(got, "b: before_agent_start: message is left out: another handler of the group some.module gave one first") {
		t.Errorf("the log says %q", got)
	}
}

func TestAGroupThatIsNoneIsAnErrorOfItsLine(t *testing.T) {
	for options, want := range map[string]string{
		`{ grup = {} }`: `on: unknown option "grup", did you mean "group"?`,
		`{ group = { name = "g", rule = "lst" } }`:                        `on: group: there is no rule "lst"; there are first, last, stop`,
		`{ group = { name = "g" } }`:                                      `on: group: option "rule" is missing`,
		`{ group = { name = "g", rule = "last", keys = { "message" } } }`: `on: group: keys belong to the rule first`,
		`{ group = { name = "g", rule = "first", keys = { "mesage" } } }`: `unknown key "mesage" in the result of before_agent_start, did you mean "message"?`,
		`{ group = { name = "g", rule = "last" } }, 1`:                    `'on' takes at most 3 arguments, got 4`,
	} {
		newRig(t, map[string]string{"a.lua": "\n" + `pi.on("before_agent_start", function() end, ` + options + `)`}).mustSay("a.lua:2: ", want)
	}
	for _, event := range []string{"tool_result", "context", "input", "message_end", "before_agent_start", "before_provider_request", "before_provider_headers", "turn_end"} {
		newRig(t, map[string]string{"a.lua": `pi.on("` + event + `", function() end, { group = { name = "g", rule = "last" } })`}).
			mustSay("a.lua:1: ", "handlers of "+event+" see what those before them answered")
	}
	for _, event := range []string{"tool_call", "user_bash", "shell", "message_update", "project_trust", "turn_start", "my:event"} {
		newRig(t, map[string]string{"a.lua": `pi.on("` + event + `", function() end, { group = { name = "g", rule = "stop" } })`}).
			mustSay("a.lua:1: ", "handlers of "+event+" have none")
	}
}
