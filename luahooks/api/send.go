package api

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"pi/agent"
	"pi/internal/suggest"
	"pi/luahooks/record"
	"pi/luavm"
	"pi/session/message"

	lua "github.com/yuin/gopher-lua"
)

// sender is what hooks send into the conversation.
type sender struct{ *bridge }

func (s *sender) part() part {
	return part{"send": s.send, "send_message": s.sendMessage, "send_user_message": s.sendUserMessage}
}

// deliver gives p to the host with the function hand, while other jobs may use the VM. Before
// there is a host it stores p and returns nil; the user is told if hand fails later. It
// raises while the hook's file loads.
func (s *sender) deliver(L *lua.LState, function string, p agent.Prompt, hand func(context.Context, Host, agent.Prompt) error) error {
	s.mustHaveLoaded(L, function)
	p.Origin = s.originOf(s.vm.Context())
	if f, _ := s.vm.Context().Value(followingKey{}).(*following); f != nil {
		f.sent.Store(true)
	}
	if s.Later(func(ctx context.Context, host Host) {
		if err := hand(ctx, host, p); err != nil {
			s.Notify(ctx, agent.LevelError, "hook "+s.Hook.Name+": "+function+": "+err.Error())
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

// maxAttachment bounds a file that a hook attaches.
const maxAttachment = 20 << 20

// attachments reads a list of {path = …}, {data = base64, mime_type = …} and
// {text = …, name = …}. Images become image blocks, text a text block that
// names the file; anything else is refused. The bytes decide whether it is an image:
// mime_type may be given, and is ignored.
func (b *bridge) attachments(L *lua.LState, function string, list *lua.LTable) ([]message.Block, error) {
	n, err := luavm.ListLen(L, list)
	if err != nil {
		return nil, err
	}
	if first, _ := list.Next(lua.LNil); n == 0 && first != lua.LNil {
		luavm.Raise(L, "%s: attachments are a list; put the one into { }", function)
	}
	var blocks []message.Block
	var size luavm.Size
	for i := 1; i <= n; i++ {
		t, ok := list.RawGetInt(i).(*lua.LTable)
		if !ok {
			luavm.Raise(L, "%s: attachment %d must be a table, not a %s", function, i, list.RawGetInt(i).Type())
		}
		var path, data, mime, text, name string
		luavm.UnpackTable(L, t, function, luavm.Opt("path", &path), luavm.Opt("data", &data), luavm.Opt("mime_type", &mime),
			luavm.Opt("text", &text), luavm.Opt("name", &name))
		block, err := b.attachment(path, data, text, name)
		if err == nil {
			err = size.Add(record.SizeOf(block))
		}
		if err != nil {
			return nil, fmt.Errorf("attachment %d: %w", i, err)
		}
		blocks = append(blocks, block)
	}
	return blocks, nil
}

// attachment makes a block of the fields of one attachment: of the file at path, else of
// data in base64, else of text. Without all three it fails.
func (b *bridge) attachment(path, data, text, name string) (message.Block, error) {
	switch {
	case path != "":
		return b.attachFile(path)
	case data != "":
		raw, err := base64.StdEncoding.DecodeString(data)
		if err != nil {
			return message.Block{}, fmt.Errorf("data is not base64: %w", err)
		}
		return attachBytes(raw, name)
	case text != "":
		return message.NamedText(name, text), nil
	}
	return message.Block{}, fmt.Errorf("it has no path, data or text")
}

// attachFile makes a block of a file of at most maxAttachment.
func (b *bridge) attachFile(path string) (message.Block, error) {
	path = b.absolute(path)
	info, err := os.Stat(path)
	if err != nil {
		return message.Block{}, fmt.Errorf("attach file: %w", err)
	}
	if !info.Mode().IsRegular() || info.Size() > maxAttachment {
		return message.Block{}, fmt.Errorf("attach file %s: not a regular file of at most %d MiB", path, maxAttachment>>20)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return message.Block{}, fmt.Errorf("attach file: %w", err)
	}
	return attachBytes(raw, path)
}

// attachBytes makes a block of a file. Its bytes decide what it is, not its name.
func attachBytes(raw []byte, name string) (message.Block, error) {
	b, ok := message.FileBlock(name, raw)
	if !ok {
		return message.Block{}, fmt.Errorf("%s: neither an image nor text (%s)", name, http.DetectContentType(raw))
	}
	return b, nil
}
