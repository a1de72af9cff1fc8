package acp

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"pi/agent"
	"pi/internal/testing/acptest"
	"pi/session/message"
)

// ofChildren are the updates about agents that work for no call.
func ofChildren(r *running, id string) (all []acptest.Update) {
	for _, u := range r.Updates(id) {
		if strings.HasPrefix(u.CallID, "agent-") {
			all = append(all, u)
		}
	}
	return all
}

func TestAnAgentWithoutACallIsACallOfTheKindThink(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		end                agent.ChildEnd
		statuses, contents string
	}{
		"that completes": {agent.ChildEnd{Name: "reviewer", StopReason: "completed", Text: "All is well."}, "in_progress completed", "read a.go|All is well."},
		"that fails":     {agent.ChildEnd{Name: "reviewer", StopReason: "limit", Text: "Half of it", Error: "stopped: too dear"}, "in_progress failed", "read a.go|stopped: too dear"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, id := openedIn(t, &host{}, object{})
			tell := func(e agent.Event) { r.host.agent(0).TellChild(context.Background(), e) }
			tell(&agent.ChildStart{Name: "reviewer", Depth: 1, Prompt: "Review the\nchange"})
			tell(&agent.ChildUpdate{Name: "reviewer", Text: "read a.go"})
			tell(&c.end)
			r.WaitUpdate("the end", func(u acptest.Update) bool { return u.Status == callCompleted || u.Status == callFailed })
			all := ofChildren(r, id)
			first := all[0]
			if first.Kind != "tool_call" || first.Tool != "think" || first.Title != "reviewer: Review the change" || string(first.RawInput) != `{"name":"reviewer","prompt":"Review the\nchange"}` {
				t.Errorf("it begins as %+v", first)
			}
			var contents []string
			for _, u := range all {
				if u.CallID != first.CallID {
					t.Errorf("an update is about %q, not %q", u.CallID, first.CallID)
				}
				if text := u.Text(); text != "" {
					contents = append(contents, text)
				}
			}
			if got := statuses(all); got != c.statuses || strings.Join(contents, "|") != c.contents {
				t.Errorf("%s: %q, want %s: %s", got, contents, c.statuses, c.contents)
			}
		})
	}
}

// Two that have one name, one after the other, are two calls; and progress that comes late is not
// shown behind the end.
func TestAgentsThatFollowEachOtherAreCallsOfTheirOwn(t *testing.T) {
	t.Parallel()
	r, id := openedIn(t, &host{}, object{})
	tell := func(e agent.Event) { r.host.agent(0).TellChild(context.Background(), e) }
	for range 2 {
		tell(&agent.ChildStart{Name: "a", Depth: 1, Prompt: "p"})
		for range 9 {
			tell(&agent.ChildUpdate{Name: "a", Text: "works"})
		}
		tell(&agent.ChildEnd{Name: "a", StopReason: "completed", Text: "done"})
	}
	time.Sleep(2 * progressPause) // for what would come too late
	if got := r.Prompt(id, "hi"); got != endTurn {
		t.Errorf("the prompt after it: %s", got)
	}
	ended := map[string]bool{}
	for _, u := range ofChildren(r, id) {
		if ended[u.CallID] {
			t.Errorf("%+v comes behind the end", u)
		}
		ended[u.CallID] = u.Status == callCompleted
	}
	if len(ended) != 2 {
		t.Errorf("%d calls, not 2", len(ended))
	}
}

// An agent that works for a call is no further call: what it does is progress of that one.
func TestAnAgentForACallShowsAsThatCall(t *testing.T) {
	t.Parallel()
	look := progressTool{saysTool{"look", agent.Annotations{}}}
	r, id := openedIn(t, &host{model: callTools(calling("c1", "look", "{}")), edit: func(o *agent.Options) { o.Tools = append(o.Tools, look) }}, object{})
	r.Prompt(id, "go")
	if all := ofChildren(r, id); len(all) > 0 {
		t.Errorf("it is a call of its own: %+v", all)
	}
	var texts []string
	for _, u := range seen(r, id, "c1") {
		if text := u.Text(); text != "" {
			texts = append(texts, text)
		}
	}
	if got := strings.Join(texts, "|"); got != "read a.go|looked" {
		t.Errorf("the call shows %q", got)
	}
}

// progressTool is a tool for which an agent works.
type progressTool struct{ saysTool }

func (progressTool) Run(ctx context.Context, _ json.RawMessage, _ agent.Update) (agent.Result, error) {
	agent.ProgressOf(ctx).Tell("reviewer", "read a.go")
	return agent.Result{Content: []message.Block{message.TextBlock("looked")}}, nil
}
