package luahooks

import (
	"context"
	"slices"
	"strings"
	"time"

	"pi/agent"
	"pi/internal/suggest"
	"pi/luavm"
	"pi/session/message"

	lua "github.com/yuin/gopher-lua"
)

// deliver has the host take p while the VM is free. Before there is a session, what
// is sent is kept until there is one.
func (in *instance) deliver(L *lua.LState, function string, p agent.Prompt, take func(context.Context, Host, agent.Prompt) error) error {
	if in.vm.Loading() {
		luavm.Raise(L, "%s: %v", function, errLoading)
	}
	p.Origin = in.origin()
	later := func(host Host) {
		ctx, cancel := in.chain.behind.within(context.Background())
		defer cancel()
		if err := take(ctx, host, p); err != nil {
			in.chain.notify(ctx, agent.LevelError, "hook "+in.hook.Name+": "+function+": "+err.Error())
		}
	}
	if in.chain.audience.keep(later) {
		return nil
	}
	host := in.mustHost(L, function)
	return in.wait(L, function, false, func(ctx context.Context) error { return take(ctx, host, p) })
}

// apiSend is pi.send(text, attachments?): as typed at the prompt.
func (in *instance) apiSend(L *lua.LState) int {
	p := agent.Prompt{Text: L.CheckString(1), Source: "hook"}
	var err error
	if v := L.Get(2); v != lua.LNil {
		list, ok := v.(*lua.LTable)
		if !ok {
			luavm.RaiseArg(L, 2, "send", "table expected, got %s", v.Type())
		}
		if p.Attachments, err = in.attachments(L, "send", list); err != nil {
			return pushResult(L, nil, err)
		}
	}
	if strings.TrimSpace(p.Text) != "" || len(p.Attachments) > 0 {
		err = in.deliver(L, "send", p, func(ctx context.Context, host Host, p agent.Prompt) error { return host.Submit(ctx, p) })
	}
	return pushResult(L, lua.LTrue, err)
}

// apiSendMessage is pi.send_message({custom_type, content, display?, details?},
// {trigger_turn?, deliver_as?}).
func (in *instance) apiSendMessage(L *lua.LState) int {
	m := in.sentMessage(L)
	var trigger bool
	var as string
	luavm.Unpack(L, 2, "send_message", luavm.Opt("trigger_turn", &trigger), luavm.Opt("deliver_as", &as))
	d := delivery(L, "send_message", as, agent.DeliverSteer, "steer", "follow_up", "next_turn")
	err := in.deliver(L, "send_message", agent.Prompt{Custom: m}, func(ctx context.Context, host Host, p agent.Prompt) error {
		return host.SendCustom(ctx, p, d, trigger)
	})
	return pushResult(L, lua.LTrue, err)
}

func (in *instance) sentMessage(L *lua.LState) *message.Message {
	m := &message.Message{Role: message.RoleCustom, Display: true, Timestamp: time.Now().UnixMilli()}
	var content, details lua.LValue
	luavm.Unpack(L, 1, "send_message", luavm.Opt("custom_type", &m.CustomType).Required(), luavm.Opt("content", &content).Required(),
		luavm.Opt("display", &m.Display), luavm.Opt("details", &details))
	if m.CustomType == "" {
		luavm.Raise(L, "send_message: custom_type is empty")
	}
	blocks, err := in.records.Content(L, content, "content")
	if err == nil && details != nil {
		m.Details, err = in.records.Encode(details, "details")
	}
	if err != nil {
		luavm.Raise(L, "send_message: %v", err)
	}
	m.Content = blocks
	_, m.Plain = content.(lua.LString)
	return m
}

// delivery reads deliver_as; known are the ways that the function has.
func delivery(L *lua.LState, function, as string, standard agent.Delivery, known ...string) agent.Delivery {
	switch {
	case as == "":
		return standard
	case !slices.Contains(known, as):
		luavm.Raise(L, "%s: deliver_as must be %s, not %q%s", function, strings.Join(known, " or "), as, suggest.Hint(as, known))
	}
	switch as {
	case "follow_up":
		return agent.DeliverFollowUp
	case "next_turn":
		return agent.DeliverNextTurn
	}
	return agent.DeliverSteer
}

// apiSendUserMessage is pi.send_user_message(content, {deliver_as?,
// attachments?, expand?}): as if it had been typed.
func (in *instance) apiSendUserMessage(L *lua.LState) int {
	blocks, err := in.records.Content(L, L.Get(1), "content")
	if err != nil {
		luavm.RaiseArg(L, 1, "send_user_message", "%v", err)
	}
	p := agent.Prompt{Source: "hook"}
	var as string
	var attachments *lua.LTable
	luavm.Unpack(L, 2, "send_user_message", luavm.Opt("deliver_as", &as), luavm.Opt("attachments", &attachments), luavm.Opt("expand", &p.Expand))
	d := delivery(L, "send_user_message", as, agent.DeliverFollowUp, "steer", "follow_up")
	p.Text, p.Attachments = typed(blocks)
	if attachments != nil {
		more, err := in.attachments(L, "send_user_message", attachments)
		if err != nil {
			return pushResult(L, nil, err)
		}
		p.Attachments = append(p.Attachments, more...)
	}
	if strings.TrimSpace(p.Text) == "" && len(p.Attachments) == 0 {
		return pushResult(L, nil, agent.ErrEmptyPrompt)
	}
	err = in.deliver(L, "send_user_message", p, func(ctx context.Context, host Host, p agent.Prompt) error {
		return host.SendUser(ctx, p, d)
	})
	return pushResult(L, lua.LTrue, err)
}

// typed takes the text that leads a message out of its blocks.
func typed(blocks []message.Block) (text string, rest []message.Block) {
	if len(blocks) > 0 && blocks[0].Type == message.BlockText {
		return blocks[0].Text, blocks[1:len(blocks):len(blocks)]
	}
	return "", blocks[:len(blocks):len(blocks)]
}
