package page

import (
	"bytes"
	"encoding/json"
	"path"
	"strings"

	"pi/internal/markup"
	"pi/internal/printable"
	"pi/session"
	"pi/session/message"
	"pi/session/rawjson"
)

// shortOutput is how many lines a command of the user may have written to be open.
const shortOutput = 20

// call writes a tool call with its result, folded to a line.
func (p *page) call(b message.Block, r result) {
	args := argumentsOf(b.Arguments)
	p.w.Raw(`<details class="tool"><summary><b>`)
	p.w.Line(b.Name)
	p.w.Raw("</b> <code>")
	main, rest := args.main()
	p.w.Text(printable.FirstLine(main, mostTitle))
	p.w.Raw("</code>")
	if r.message != nil {
		p.outcome(r.message.IsError, r.message.Text())
	}
	p.w.Raw("</summary>")
	if strings.Contains(strings.TrimSpace(main), "\n") || len(main) > mostTitle {
		language := ""
		if b.Name == "bash" {
			language = "sh"
		}
		p.prose.WriteCode(language, main)
	}
	diff := diffOf(r.message)
	if diff == "" {
		p.arguments(rest, main)
	}
	if r.message != nil {
		p.totals.entry(r.entry)
		p.open(r.entry, `<div class="result"`)
		p.w.Raw(">")
		p.resultBlocks(r.message, diff)
		p.w.Raw("</div>")
	}
	p.w.Raw("</details>")
}

// outcome writes whether it went well and how long the output is.
func (p *page) outcome(failed bool, output string) {
	mark := "✓"
	if failed {
		mark = "✗"
		p.w.Raw(` <small class="bad">`)
	} else {
		p.w.Raw(" <small>")
	}
	if output = strings.TrimRight(output, "\n"); output != "" {
		mark += " " + printable.Count(1+strings.Count(output, "\n"), "line")
	}
	p.w.Text(mark)
	p.w.Raw("</small>")
}

// resultBlocks writes what a tool has given back.
func (p *page) resultBlocks(m *message.Message, diff string) {
	for _, b := range m.Content {
		switch b.Type {
		case message.BlockText:
			p.pre(b.Text)
		case message.BlockImage:
			p.image(b)
		}
	}
	if diff != "" {
		p.diff(diff)
	}
}

// lostResult writes a result whose call is not on the page right before it.
func (p *page) lostResult(e *session.Entry, m *message.Message) {
	p.open(e, `<article class="answer on"`)
	p.w.Raw(`><details class="tool"><summary>result of <b>`)
	p.w.Line(m.ToolName)
	p.w.Raw("</b>")
	p.outcome(m.IsError, m.Text())
	p.w.Raw("</summary>")
	p.resultBlocks(m, diffOf(m))
	p.w.Raw("</details></article>\n")
}

// pre writes the output of a program.
func (p *page) pre(text string) {
	if text = strings.TrimRight(text, "\n"); text == "" {
		return
	}
	p.w.Raw("<pre>\n")
	p.w.Text(text)
	p.w.Raw("</pre>")
}

// diff writes the difference that an edit made, its lines in their colours.
func (p *page) diff(text string) {
	p.w.Raw("<pre class=\"diff\">\n")
	for line := range strings.Lines(strings.TrimRight(text, "\n")) {
		end := markup.Literal("</ins>")
		switch line[0] {
		case '+':
			p.w.Raw("<ins>")
		case '-':
			p.w.Raw("<del>")
			end = "</del>"
		default:
			p.w.Text(line)
			continue
		}
		p.w.Text(strings.TrimSuffix(line, "\n"))
		p.w.Raw(end)
		if strings.HasSuffix(line, "\n") {
			p.w.Raw("\n")
		}
	}
	p.w.Raw("</pre>")
}

// diffOf is the difference in the details of a result, "" if there is none.
func diffOf(m *message.Message) string {
	if m == nil || len(m.Details) == 0 {
		return ""
	}
	return rawjson.Unquote(rawjson.Field(m.Details, "diff"))
}

// argument is one of a call: a string as its text, anything else as JSON.
type argument struct {
	name, value string
	isText      bool
}

type arguments []argument

// argumentsOf reads the arguments of a call, which are one without a name if they are no object.
func argumentsOf(raw json.RawMessage) (found arguments) {
	if raw = bytes.TrimSpace(raw); len(raw) == 0 {
		return nil
	}
	if raw[0] != '{' || !rawjson.Valid(raw) {
		return arguments{{value: string(raw)}}
	}
	for key, value := range rawjson.Fields(raw) {
		a := argument{name: rawjson.Unquote(append(append([]byte{'"'}, key...), '"')), value: string(value), isText: rawjson.IsString(value)}
		if a.isText {
			a.value = rawjson.Unquote(value)
		}
		found = append(found, a)
	}
	return found
}

// main returns the argument that says most, by the names that tools give it, and the others.
func (all arguments) main() (value string, rest arguments) {
	best := -1
	for _, name := range []string{"command", "path", "file_path", "pattern", "query", "url", "name"} {
		for i, a := range all {
			if best < 0 && a.name == name && a.isText {
				best = i
			}
		}
	}
	for i, a := range all {
		if best < 0 && a.isText && len(a.value) <= mostTitle {
			best = i
		}
	}
	for i, a := range all {
		if i == best {
			value = a.value
		} else {
			rest = append(rest, a)
		}
	}
	return value, rest
}

// arguments writes arguments with their names. A text of several lines is coloured as its
// file is, if main is one.
func (p *page) arguments(all arguments, main string) {
	for _, a := range all {
		if !strings.Contains(a.value, "\n") && len(a.value) <= mostTitle {
			p.w.Raw(`<p class="arg">`)
			p.w.Line(a.name)
			p.w.Raw(": <code>")
			p.w.Line(a.value)
			p.w.Raw("</code></p>")
			continue
		}
		p.w.Raw(`<p class="arg">`)
		p.w.Line(a.name)
		p.w.Raw("</p>")
		language := "json"
		if a.isText {
			language = strings.TrimPrefix(path.Ext(printable.FirstLine(main, mostTitle)), ".")
		}
		p.prose.WriteCode(language, a.value)
	}
}
