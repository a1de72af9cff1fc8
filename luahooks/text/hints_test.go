package text

import "testing"

func TestNamesThatAreElsewhereAreFound(t *testing.T) {
	t.Parallel()
	n := NewNames()
	for _, c := range []struct{ of, name, want string }{
		{"ctx", "notify", "ctx.ui.notify"}, {"ctx", "setStatus", "ctx.ui.set_status"}, {"pi", "cwd", "ctx.cwd"}, {"pi", "confirm", "ctx.ui.confirm"},
		{"pi", "json", `require "pi.json"`}, {"ctx", "send_user_message", "pi.send_user_message"}, {"the event tool_call", "command", "event.input.command"},
		{"the event tool_result", "has_ui", "ctx.has_ui"}, {"ctx.ui", "exec", "ctx.exec"},
		{"pi", "zebra", ""}, {"pi.json", "notify", ""}, {"ctx", "", ""},
	} {
		if got := n.Field(c.of, c.name); got != c.want {
			t.Errorf("%s.%s: %q, want %q", c.of, c.name, got, c.want)
		}
	}
}

// What other programs call an event or a module is one of this program.
func TestWhatIsMeantIsThere(t *testing.T) {
	t.Parallel()
	n := NewNames()
	for theirs, ours := range events() {
		event, _ := n.read().Event(ours)
		if event == nil && ours != "omp:ttsr_triggered" && ours != "omp:todo_reminder" {
			t.Errorf("%s means %s, which is no event", theirs, ours)
		}
		if plain(theirs) != theirs {
			t.Errorf("%s is not written as plain does, so it is never found", theirs)
		}
	}
	for name, want := range map[string]string{"json": "pi.json", "cjson": "pi.json", "pi.file": "pi.fs", "lfs": "pi.fs", "zebra": "", "pi.pi": ""} {
		if got := Module(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	for name, want := range map[string]string{"PreToolUse": "tool_call", "tool.execute.after": "tool_result", "UserPromptSubmit": "input", "zebra": ""} {
		if got := Event(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func TestFunctionsThatReturnNilAndAMessageAreKnown(t *testing.T) {
	t.Parallel()
	n := NewNames()
	for function, want := range map[string]bool{
		"pi.exec": true, "pi.spawn": true, "fs.read": true, "json.decode": true, "git.diff": true, "ctx.exec": true,
		"pi.log": false, "pi.get_flag": false, "fs.exists": false, "zebra.read": false, "fs": false, "": false,
	} {
		if got := n.Fails(function); got != want {
			t.Errorf("%s: %v, want %v", function, got, want)
		}
	}
}
