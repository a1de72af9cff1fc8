package api

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

// sender is what hooks send into the conversation.
type sender struct {
	*bridge
	// later stores what is to be sent until there is a session; it is false when there
	// is one.
	later func(send func(ctx context.Context, host Host)) bool
}

func (s *sender) part() part {
	return part{"send": s.send, "send_message": s.sendMessage, "send_user_message": s.sendUserMessage}
}

// deliver gives p to the host with the function hand, while other jobs may use the VM. Before
// there is a host it stores p and returns nil; the person is told if hand fails later. It
// raises while the hook's file loads.
func (s *sender) deliver(L *lua.LState, function string, p agent.Prompt, hand func(context.Context, Host, agent.Prompt) error) error {
	s.mustHaveLoaded(L, function)
	p.Origin = originOf(s.vm.Context(), s.hook)
	if s.later(func(ctx context.Context, host Host) {
		if err := hand(ctx, host, p); err != nil {
			s.notify(ctx, agent.LevelError, "hook "+s.hook+": "+function+": "+err.Error())
		}
	}) {
		return nil
	}
	host := s.mustHost(L, function)
	return s.wait(L, function, func(ctx context.Context) error { return hand(ctx, host, p) })
}

// send is pi.send(text, attachments?) → true, or nil and a message: it submits a prompt as if
// it had been typed. One without text and attachments does nothing.
func (s *sender) send(L *lua.LState) int {
	p := agent.Prompt{Text: L.CheckString(1), Source: "hook"}
	var err error
	if v := L.Get(2); v != lua.LNil {
		list, ok := v.(*lua.LTable)
		if !ok {
			luavm.RaiseArg(L, 2, "send", "table expected, got %s", v.Type())
		}
		if p.Attachments, err = s.attachments(L, "send", list); err != nil {
			return pushResult(L, nil, err)
		}
	}
	if strings.TrimSpace(p.Text) != "" || len(p.Attachments) > 0 {
		err = s.deliver(L, "send", p, func(ctx context.Context, host Host, p agent.Prompt) error { return host.Submit(ctx, p) })
	}
	return pushResult(L, lua.LTrue, err)
}

// sendMessage is pi.send_message({custom_type, content, display?, details?},
// {trigger_turn?, deliver_as?}).
func (s *sender) sendMessage(L *lua.LState) int {
	m := s.customMessage(L)
	var trigger bool
	var as string
	luavm.Unpack(L, 2, "send_message", luavm.Opt("trigger_turn", &trigger), luavm.Opt("deliver_as", &as))
	d := delivery(L, "send_message", as, agent.DeliverSteer, "steer", "follow_up", "next_turn")
	err := s.deliver(L, "send_message", agent.Prompt{Custom: m}, func(ctx context.Context, host Host, p agent.Prompt) error {
		return host.SendCustom(ctx, p, d, trigger)
	})
	return pushResult(L, lua.LTrue, err)
}

// customMessage reads the message that is the first argument of pi.send_message.
func (s *sender) customMessage(L *lua.LState) *message.Message {
	m := &message.Message{Role: message.RoleCustom, Display: true, Timestamp: time.Now().UnixMilli()}
	var content, details lua.LValue
	luavm.Unpack(L, 1, "send_message", luavm.Opt("custom_type", &m.CustomType).Required(), luavm.Opt("content", &content).Required(),
		luavm.Opt("display", &m.Display), luavm.Opt("details", &details))
	if m.CustomType == "" {
		luavm.Raise(L, "send_message: custom_type is empty")
	}
	m.Content, m.Plain = s.content(L, "send_message", content)
	if details != nil {
		var err error
		m.Details, err = s.records.Encode(details, "details")
		must(L, "send_message", err)
	}
	return m
}

// delivery returns what the text as, from deliver_as, means: standard if it is empty. It
// raises for one that is not among known, the ways that the function has.
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

// sendUserMessage is pi.send_user_message(content, {deliver_as?, attachments?,
// expand?}): as if it had been typed. The text that leads the content is the prompt's.
func (s *sender) sendUserMessage(L *lua.LState) int {
	blocks, err := s.records.Content(L, L.Get(1), "content")
	if err != nil {
		luavm.RaiseArg(L, 1, "send_user_message", "%v", err)
	}
	p := agent.Prompt{Source: "hook"}
	var as string
	var attachments *lua.LTable
	luavm.Unpack(L, 2, "send_user_message", luavm.Opt("deliver_as", &as), luavm.Opt("attachments", &attachments), luavm.Opt("expand", &p.Expand))
	d := delivery(L, "send_user_message", as, agent.DeliverFollowUp, "steer", "follow_up")
	if len(blocks) > 0 && blocks[0].Type == message.BlockText {
		p.Text, blocks = blocks[0].Text, blocks[1:]
	}
	p.Attachments = slices.Clip(blocks)
	if attachments != nil {
		more, err := s.attachments(L, "send_user_message", attachments)
		if err != nil {
			return pushResult(L, nil, err)
		}
		p.Attachments = append(p.Attachments, more...)
	}
	if strings.TrimSpace(p.Text) == "" && len(p.Attachments) == 0 {
		return pushResult(L, nil, agent.ErrEmptyPrompt)
	}
	err = s.deliver(L, "send_user_message", p, func(ctx context.Context, host Host, p agent.Prompt) error {
		return host.SendUser(ctx, p, d)
	})
	return pushResult(L, lua.LTrue, err)
}
