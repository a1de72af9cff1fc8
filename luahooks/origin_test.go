package luahooks

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pi/agent"
)

// Whatever runs a hook's Lua says who has a say in what is sent there.
func TestWhoHasASayInWhatAHookSends(t *testing.T) {
	r := newRig(t, map[string]string{"a.lua": `
		local timer, http, fs = require "pi.timer", require "pi.http", require "pi.fs"
		local function later(name)
			timer.after(0, function()
				pi.send(name .. " later")
				timer.after(0, function() pi.send(name .. " much later") end)
			end)
			local off
			off = timer.every(1, function() pi.send(name .. " again"); off() end)
		end
		local function all(name)
			pi.send(name .. " said")
			pi.send_user_message(name .. " asked")
			pi.send_message({ custom_type = name, content = "x" }, { trigger_turn = true })
			pi.emit("x:" .. name)
			later(name)
		end
		pi.on("input", function(event) all("event") end)
		pi.command("go", { handler = function(ctx) all("command") return "command returned" end })
		pi.tool{ name = "t", description = "t", execute = function() pi.send("tool said") return "" end }
		pi.on("session_start", function()
			local server = http.listen({}, function() all("web") end)
			fs.write("url", server.url)
			fs.watch("seen", function() pi.send("watch said") end)
		end)`, "b.lua": `for _, name in ipairs{ "event", "command", "web" } do
			pi.on("x:" .. name, function() pi.send(name .. " told another") end)
		end`})
	ctx := context.Background()
	r.emit(&agent.SessionStart{})
	r.input("x")
	out, err := r.chain.Commands()[0].Run(ctx, "")
	mustDo(t, err)
	_, err = r.host.tool(t, "t").Run(ctx, []byte(`{}`), nil)
	mustDo(t, err)
	url, err := os.ReadFile(filepath.Join(r.cwd, "url"))
	mustDo(t, err)
	answer, err := http.DefaultTransport.RoundTrip(mustRequest(t, string(url)))
	mustDo(t, err)
	mustDo(t, answer.Body.Close())
	mustDo(t, os.WriteFile(filepath.Join(r.cwd, "seen"), nil, 0o600))

	want := map[string]agent.OriginKind{"command returned": agent.FromUser, "tool said": agent.FromHook, "watch said": agent.FromOutside}
	for name, kind := range map[string]agent.OriginKind{"event": agent.FromHook, "command": agent.FromUser, "web": agent.FromOutside} {
		for _, way := range []string{"said", "asked", "sent", "told another", "later"} {
			want[name+" "+way] = kind
		}
		want[name+" much later"], want[name+" again"] = agent.FromHook, agent.FromHook
	}
	until(t, func() bool { return len(r.host.prompts()) == len(want)-1 })
	for _, p := range append(r.host.prompts(), *out.Prompt) {
		text := p.Text
		if p.Custom != nil {
			text = p.Custom.CustomType + " sent"
		}
		kind, ok := want[text]
		if !ok || p.Origin.Kind != kind {
			t.Errorf("%q comes from %d, want %d", text, p.Origin.Kind, kind)
		}
		delete(want, text)
		sender := "a"
		if strings.Contains(text, "another") {
			sender = "b"
		}
		if p.Origin.Hook != sender {
			t.Errorf("%q comes from hook %q", text, p.Origin.Hook)
		}
		if source := p.Origin.Source; (kind == agent.FromOutside) != (strings.HasPrefix(source, "http.listen on port ") || source == "fs.watch of "+filepath.Join(r.cwd, "seen")) {
			t.Errorf("%q comes from %q", text, source)
		}
	}
	if len(want) > 0 {
		t.Errorf("not sent: %v", want)
	}
}

func mustRequest(t *testing.T, url string) *http.Request {
	t.Helper()
	request, err := http.NewRequest("GET", url, nil)
	mustDo(t, err)
	request.Close = true
	return request
}

// prompts are what hooks handed in so far.
func (h *fakeHost) prompts() []agent.Prompt {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.sent)
}
