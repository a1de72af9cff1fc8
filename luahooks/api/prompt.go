package api

import (
	"context"
	"errors"
	"strings"

	"pi/agent"
	"pi/agent/command"
	"pi/luahooks/record"
	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

// prompts are those that a command hands in and waits for.
type prompts struct{ *bridge }

func (p *prompts) part() part { return part{"prompt": p.prompt} }

// prompt is ctx.prompt(text, {attachments?, expand?}) → {outcome, messages, error?}: it has the
// agent work on a prompt and returns when that has settled. The command has nothing of the
// program meanwhile, so that it is no part of the work and may do as it likes afterwards.
func (p *prompts) prompt(L *lua.LState) int {
	host := p.mustCommand(L, "prompt")
	asked := agent.Prompt{Text: L.CheckString(1), Source: "hook"}
	asked.Origin = p.originOf(p.vm.Context())
	var attachments *lua.LTable
	var expand bool
	luavm.Unpack(L, 2, "prompt", luavm.Opt("attachments", &attachments), luavm.Opt("expand", &expand))
	if attachments != nil {
		var err error
		if asked.Attachments, err = p.attachments(L, "prompt", attachments); err != nil {
			return pushResult(L, nil, err)
		}
	}
	self := p.vm.Context().Value(commandKey{}).(*commandRun)
	var settled agent.Settled
	err := p.waitFor(L, "prompt", true, func(ctx context.Context) (err error) {
		if expand {
			if asked, err = p.expanded(ctx, asked); err != nil {
				return err
			}
		}
		self.asked.Store(true) // also if the session is left, of which nothing is known then
		settled, err = host.Await(ctx, asked)
		return err
	})
	if err != nil {
		return pushResult(L, nil, err)
	}
	t := luavm.NewRecord(L, 3)
	luavm.Set(t, "outcome", lua.LString(settled.Outcome))
	luavm.Set(t, "messages", p.records.Messages(L, record.ItemsOf(settled.Messages)))
	if settled.Err != nil {
		luavm.Set(t, "error", lua.LString(settled.Err.Error()))
	}
	L.Push(t)
	return 1
}

// expanded returns a prompt that names a template or a skill with what that stands for. Any
// other text, also one that is a command, is as it was.
func (b *bridge) expanded(ctx context.Context, p agent.Prompt) (agent.Prompt, error) {
	if !agent.IsCommandLine(p.Text) {
		return p, nil
	}
	name, args := command.Split(p.Text)
	for _, c := range b.Commands() {
		if c.Origin == "" || c.Name != name {
			continue
		}
		out, err := c.Run(ctx, args)
		switch {
		case err != nil:
			return p, err
		case out.Prompt == nil:
			return p, errors.New(strings.TrimSpace("/" + name + " gave nothing to ask: " + out.Status))
		}
		p.Text, p.Attachments = out.Prompt.Text, append(out.Prompt.Attachments, p.Attachments...)
		return p, nil
	}
	return p, nil
}
