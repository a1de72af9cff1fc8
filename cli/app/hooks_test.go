package app

import (
	"slices"
	"strings"
	"testing"

	"pi/agent"
	"pi/agent/command"
	"pi/repl"
	"pi/session"
	"pi/session/message"
)

func TestNamesOfTheProgramsCommandsAreReserved(t *testing.T) {
	own := slices.Concat( // only their names are looked at
		command.Core(command.Options{Sessions: &command.Sessions{}, Settings: &command.Settings{}, Copy: new(run).copier(nil), Prompts: &command.Prompts{}, Agents: &command.Agents{}}),
		new(hookCommands).list(), new(mcpCommands).list(), []command.Command{new(Place).loginCommand(nil, nil, nil)}, new(repl.REPL).Commands())
	var want []string
	for _, c := range command.NewSet(own, nil).All() {
		want = append(append(want, c.Name), c.Aliases...)
	}
	slices.Sort(want)
	if names := ReservedCommands(); !slices.Equal(names, want) {
		t.Errorf("reserved are\n%q\nand the program has\n%q", names, want)
	}
}

func TestHookCommands(t *testing.T) {
	p := place(t, Options{}, map[string]string{"one.lua": `pi.on("input", function() return { text = "new" } end) pi.command("c", { handler = function() end })`, "two.lua": `error("no")`})
	chain := p.Chain(p.Places(), nil)
	chain.Load(t.Context())
	defer chain.Close(t.Context())
	h := &hookCommands{chain: chain, places: p.Places(), log: p.hookLog(), ui: agent.NoUI{}, tools: func() []agent.Tool { return nil }}
	s := session.New(session.Options{Cwd: p.Cwd})
	if _, err := s.AppendMessage(&message.Message{Role: message.RoleUser, Content: []message.Block{message.TextBlock("do it")}}); err != nil {
		t.Fatal(err)
	}
	h.session = func() *session.Session { return s }
	for _, tt := range [][2]string{
		{"", "active    global       " + p.Places().GlobalDir() + "/one.lua"},
		{"disable one", "hook one is disabled until you enable it or pi ends"},
		{"enable one", "hook one is enabled"},
		{"trace one", "hook one is traced"},
		{"trace one off", "hook one is not traced any more"},
		{"log", "the hook log is empty"},
		{"approve", "nothing waits for approval"},
		{"approve nothing", "nothing waits for approval"},
		{"replay one", "input  \"do it\": changed: the text is now new\n1 prompt, 0 blocked, 1 changed, 0 errors, p99 "},
		{"replay two", "!hook two does not run: "},
		{"replay one --diff two", "!/hooks replay takes the name of a hook and no --diff; flags are for the shell: pi hooks replay one --diff two"},
		{"replay", "!/hooks replay wants the name of a hook"},
		{"reload", "reloaded: 1 hook, 1 failed"},
		{"trace", "!/hooks trace wants the name of a hook"},
		{"aprove", "!/hooks aprove: the words are add, reload, log"},
	} {
		args, want := tt[0], tt[1]
		status, err := h.run(t.Context(), args)
		if err != nil {
			status = "!" + err.Error()
		}
		if wantError, isError := strings.CutPrefix(want, "!"); isError != (err != nil) || !strings.Contains(status, wantError) {
			t.Errorf("/hooks %s: %q, want %q", args, status, want)
		}
	}
	for prefix, want := range map[string]string{"": "add reload log trace replay enable disable approve adopt", "tr": "trace", "trace ": "trace one,trace two", "trace tw": "trace two", "add snak": "add snake", "add pop snak": "add pop snake"} {
		sep := " "
		if strings.Contains(want, ",") || strings.HasPrefix(want, "trace ") {
			sep = ","
		}
		if got := strings.Join(h.complete(prefix), sep); got != want {
			t.Errorf("%q is completed to %q, want %q", prefix, got, want)
		}
	}
}
