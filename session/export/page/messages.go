package page

import (
	"strings"

	"pi/internal/markup"
	"pi/internal/printable"
	"pi/session"
	"pi/session/message"
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
