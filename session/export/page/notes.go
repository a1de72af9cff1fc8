package page

import (
	"encoding/json"

	"pi/internal/markup"
	"pi/session"
	"pi/session/rawjson"
)

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
		p.outside(e)
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

// outside writes a call of a model outside of the conversation.
func (p *page) outside(e *session.Entry) {
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
