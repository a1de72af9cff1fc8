package page

import (
	"encoding/base64"
	"encoding/json"
	"strings"

	"pi/internal/markup"
	"pi/internal/picture"
	"pi/internal/printable"
	"pi/session"
	"pi/session/message"
	"pi/session/rawjson"
)

// message writes what is neither an answer nor a result.
func (p *page) message(e *session.Entry, m *message.Message) {
	switch m.Role {
	case message.RoleUser:
		p.article(e, "user", "User", "")
		p.blocks(m.Content)
	case message.RoleBashExecution:
		p.command(e, m)
	case message.RoleCustom:
		by := m.CustomType
		if !m.Display {
			by += ", for the model only"
		}
		p.article(e, "custom", "Note", by)
		p.blocks(m.Content)
	case message.RoleCompactionSummary:
		p.article(e, "summary", "Summary of the conversation before", "")
		if m.TokensBefore > 0 {
			p.w.Raw(`<p class="stop">compacted from `)
			p.w.Text(printable.Grouped(m.TokensBefore))
			p.w.Raw(` tokens</p>`)
		}
		p.markdown(m.Summary)
	case message.RoleBranchSummary:
		p.article(e, "summary", "Summary of a branch that was left", "")
		p.markdown(m.Summary)
	default:
		p.article(e, "custom", "Message", string(m.Role))
		p.blocks(m.Content)
	}
	p.w.Raw("</article>\n")
}

// article begins the element of a message with its heading.
func (p *page) article(e *session.Entry, class string, name markup.Literal, by string) {
	p.open(e, "<article")
	p.w.Attr("class", class)
	p.w.Raw(">")
	p.heading(e, by, name, nil)
	p.speaker = speaker(class, by)
}

// blocks writes what a user or a hook said: the text as it is, and images.
func (p *page) blocks(blocks []message.Block) {
	for _, b := range blocks {
		switch b.Type {
		case message.BlockText:
			p.plain(b.Text)
		case message.BlockImage:
			p.image(b)
		}
	}
}

// plain writes a text with its line ends.
func (p *page) plain(text string) {
	if text = strings.TrimRight(text, " \t\r\n"); text == "" {
		return
	}
	p.w.Raw(`<div class="text plain" dir="auto">`)
	p.w.Text(text)
	p.w.Raw("</div>")
}

// markdown writes a text that a model wrote.
func (p *page) markdown(text string) {
	if strings.TrimSpace(text) == "" {
		return
	}
	p.w.Raw(`<div class="text" dir="auto">`)
	p.prose.Write(text)
	p.w.Raw("</div>")
}

// answer writes what a model said, thought and called, with the results. One that goes on after
// another of the same model does not name it again.
func (p *page) answer(e *session.Entry, m *message.Message, results map[string]result) {
	by := strings.Trim(m.Provider+"/"+m.Model, "/")
	goesOn := p.speaker == speaker("answer", by) && p.labels[e.ID] == ""
	p.open(e, "<article")
	if goesOn {
		p.w.Raw(` class="answer on"`)
	} else {
		p.w.Raw(` class="answer"`)
	}
	p.usage(m.Usage)
	p.w.Raw(">")
	shown := by
	if goesOn {
		shown = ""
	}
	p.heading(e, shown, "Assistant", m.Usage)
	p.speaker = speaker("answer", by)
	for _, b := range m.Content {
		p.answerBlock(b, results)
	}
	p.stop(m)
	p.w.Raw("</article>\n")
}

func speaker(class, by string) string { return class + " " + by }

func (p *page) answerBlock(b message.Block, results map[string]result) {
	switch b.Type {
	case message.BlockText:
		p.markdown(b.Text)
	case message.BlockThinking:
		p.thinking(b)
	case message.BlockToolCall:
		r := results[b.ID]
		delete(results, b.ID) // a second call of the same id has no result of its own
		p.call(b, r)
	case message.BlockImage:
		p.image(b)
	}
}

// thinking writes a thought, folded.
func (p *page) thinking(b message.Block) {
	text := strings.TrimSpace(b.Text)
	switch {
	case text != "":
		p.w.Raw(`<details class="think"><summary>Thinking · `)
		p.w.Text(printable.Count(1+strings.Count(text, "\n"), "line"))
		p.w.Raw("</summary>")
		p.plain(text)
		p.w.Raw("</details>")
	case b.Redacted:
		p.w.Raw(`<p class="stop">a thought that the provider withholds</p>`)
	}
}

// stop writes why an answer failed or ended early; nothing if it ended normally.
func (p *page) stop(m *message.Message) {
	switch {
	case m.ErrorMessage != "":
		p.w.Raw(`<p class="stop error">`)
		p.w.Line(string(m.StopReason))
		p.w.Raw(": ")
		p.w.Text(m.ErrorMessage)
		p.w.Raw("</p>")
	case m.StopReason == message.StopAborted || m.StopReason == message.StopError || m.StopReason == message.StopLength:
		p.w.Raw(`<p class="stop">stopped: `)
		p.w.Line(string(m.StopReason))
		p.w.Raw("</p>")
	}
}

// command writes a command that the user ran, and its output.
func (p *page) command(e *session.Entry, m *message.Message) {
	by := ""
	if m.ExcludeFromContext {
		by = "kept from the model"
	}
	p.article(e, "command", "Command of the user", by)
	p.w.Raw("<details")
	if strings.Count(m.Output, "\n") <= shortOutput {
		p.w.Raw(` open=""`)
	}
	p.w.Raw("><summary><code>$ ")
	p.w.Line(m.Command)
	p.w.Raw("</code>")
	p.outcome(m.ExitCode != nil && *m.ExitCode != 0, m.Output)
	p.w.Raw("</summary>")
	if strings.Contains(strings.TrimSpace(m.Command), "\n") {
		p.prose.WriteCode("sh", m.Command)
	}
	p.pre(m.Output)
	p.w.Raw("</details>")
	if m.ExitCode != nil && *m.ExitCode != 0 {
		p.w.Raw(`<p class="stop">exit status `)
		p.w.Int(*m.ExitCode)
		p.w.Raw("</p>")
	}
}

// note writes a line of what is no message: settings, edits, the state of hooks.
func (p *page) note(e *session.Entry) {
	switch e.Type {
	case session.TypeModelChange:
		if c, err := session.Body[session.ModelChange](e); err == nil {
			p.line(e, "model: ", c.Provider+"/"+c.ModelID)
		} else {
			p.unreadable(e)
		}
	case session.TypeThinkingLevelChange:
		if c, err := session.Body[session.ThinkingLevelChange](e); err == nil {
			p.line(e, "thinking: ", c.ThinkingLevel)
		} else {
			p.unreadable(e)
		}
	case session.TypeContextEdit:
		p.edit(e)
	case session.TypeUsage:
		p.completion(e)
	case session.TypeCustom:
		p.custom(e)
	default:
		p.state(e, "entry of another kind: ", e.Type, e.Raw())
	}
}

// custom writes which mode is on, or on which branch of git, from there on, or the state of a hook.
func (p *page) custom(e *session.Entry) {
	c, err := session.Body[session.Custom](e)
	switch {
	case err != nil:
		p.unreadable(e)
	case c.CustomType == session.ModeChange:
		mode := rawjson.Unquote(rawjson.Field(c.Data, "mode"))
		if mode == "" {
			mode = "off"
		}
		p.line(e, "mode: ", mode)
	case c.CustomType == session.GitBranch:
		p.line(e, "git branch: ", rawjson.Unquote(rawjson.Field(c.Data, "name")))
	default:
		p.state(e, "state of a hook: ", c.CustomType, c.Data)
	}
}

// line writes an entry that is a few words.
func (p *page) line(e *session.Entry, what markup.Literal, value string) {
	p.open(e, `<p class="note"`)
	p.w.Raw(">")
	p.w.Raw(what)
	p.w.Line(value)
	p.w.Raw("</p>\n")
}

// edit writes that the model sees another entry changed, or not at all.
func (p *page) edit(e *session.Entry) {
	c, err := session.Body[session.ContextEdit](e)
	if err != nil {
		p.unreadable(e)
		return
	}
	p.open(e, `<p class="note"`)
	p.w.Raw(">")
	if n := p.numbers[c.TargetID]; n > 0 {
		p.w.Raw(`<a href="#m`)
		p.w.Int(n)
		p.w.Raw(`">message `)
		p.w.Int(n)
		p.w.Raw("</a>")
	} else {
		p.w.Raw("message ")
		p.w.Line(c.TargetID)
	}
	if c.Replacement == nil {
		p.w.Raw(" was taken out of what the model sees</p>\n")
	} else {
		p.w.Raw(" was changed for the model</p>\n")
	}
}

// completion writes a call of a model outside of the conversation.
func (p *page) completion(e *session.Entry) {
	c, err := session.Body[session.UsageEntry](e)
	if err != nil {
		p.unreadable(e)
		return
	}
	p.open(e, `<p class="note"`)
	p.usage(c.Usage)
	p.w.Raw(">used outside of the conversation (")
	p.w.Line(c.Kind)
	if c.Note != "" {
		p.w.Raw(", ")
		p.w.Line(c.Note)
	}
	p.w.Raw("): ")
	if c.Provider != "" {
		p.w.Line(c.Provider + "/" + c.Model)
		p.w.Raw(" · ")
	}
	p.w.Text(usageText(c.Usage))
	p.w.Raw("</p>\n")
}

// state writes data that no model sees, folded.
func (p *page) state(e *session.Entry, what markup.Literal, kind string, data json.RawMessage) {
	p.open(e, `<details class="note"`)
	p.w.Raw("><summary>")
	p.w.Raw(what)
	p.w.Line(kind)
	p.w.Raw("</summary>")
	if rawjson.Valid(data) {
		p.prose.WriteCode("json", string(data))
	}
	p.w.Raw("</details>\n")
}

// image writes an image into the page if its bytes begin as those of a PNG, JPEG, GIF or WebP
// do. Anything else, an SVG or a page that says it is an image, is named only.
func (p *page) image(b message.Block) {
	mime, width, height := imageHead(b.Data)
	if mime == "" || !isBase64(b.Data) {
		p.w.Raw(`<p class="stop">an image that is not shown: `)
		p.w.Line(b.MimeType)
		p.w.Raw("</p>")
		return
	}
	p.w.Raw(`<img alt="image" loading="lazy" decoding="async"`)
	if width > 0 && height > 0 && width < 1<<20 && height < 1<<20 {
		p.number("width", width)
		p.number("height", height)
	}
	p.w.Attr("src", "data:", mime, ";base64,", b.Data)
	p.w.Raw("/>")
}

func (p *page) number(name markup.Literal, n int) {
	p.w.Raw(" ")
	p.w.Raw(name)
	p.w.Raw(`="`)
	p.w.Int(n)
	p.w.Raw(`"`)
}

// imageHead reads the type and the size of an image from the beginning of its data; the type is
// "" if it is none that a page shows.
func imageHead(data string) (mime string, width, height int) {
	const enough = 64 << 10 // of a JPEG the size may be behind other things
	head, err := base64.StdEncoding.DecodeString(data[:min(len(data), enough)/4*4])
	if err != nil && len(data) > enough {
		return "", 0, 0
	}
	size := picture.SizeOf(head)
	return message.ImageType(head), size.Width, size.Height
}

// isBase64 reports whether a text consists of the characters of base64.
func isBase64(s string) bool {
	s = strings.TrimRight(s, "=")
	return strings.IndexFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '+' || r == '/')
	}) < 0
}
