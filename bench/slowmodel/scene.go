package main

import (
	"fmt"
	"strings"
	"time"
)

// scene is an answer, and the word of a prompt that brings it.
type scene struct {
	word, what string
	play       func(p player)
}

// list tells a user which words there are.
func list() string {
	var b strings.Builder
	b.WriteString("I play what your words ask for:\n\n")
	for _, s := range scenes() {
		fmt.Fprintf(&b, "- `%s` %s\n", s.word, s.what)
	}
	return b.String()
}

// ended plays something and ends the answer.
func ended(play func(p player)) func(p player) {
	return func(p player) {
		play(p)
		p.End()
	}
}

func scenes() []scene {
	return []scene{
		{"mcp {", "calls the tool mcp with the object that your words end with, such as `mcp {\"search\": \"files\"}`", ended(func(p player) {
			text := p.Request.Last()
			if from := strings.Index(strings.ToLower(text), "mcp {"); from >= 0 {
				p.call("c1", "mcp", text[from+len("mcp "):])
			}
		})},
		{"hang", "says nothing at all, until you interrupt", func(p player) { <-p.Abandoned() }},
		{"stall", "stops in the middle of a sentence", func(p player) { p.words("I begin a sentence and "); <-p.Abandoned() }},
		{"retry", "fails, and is answered every fourth time", failSometimes},
		{"refuse", "is refused for its key", func(p player) { p.Fail(401, "this key is not good") }},
		{"cut", "loses the connection", func(p player) { p.words("The beginning of an answer that is"); p.Cut() }},
		{"think", "thinks before it speaks", ended(func(p player) {
			p.pieces(strings.Repeat("I wonder whether this is right, and look at it from the other side. ", 6), p.Think)
			p.words("I thought about it.")
		})},
		{"markdown", "writes a document of every form", ended(func(p player) { p.words(document) })},
		{"code", "writes 300 rows of code", ended(func(p player) { p.lines("```go\n", 300, "\tfmt.Println(%d) // row\n", "```\n") })},
		{"items", "writes a list of 100 items", ended(func(p player) {
			p.lines("", 100, "- item %d of the list, with some words to wrap where the window is narrow\n", "")
		})},
		{"wide", "writes in wide characters", ended(func(p player) {
			p.words(strings.Repeat("日本語の文章は幅が二つ分です。 👩‍👩‍👧 🇩🇪 e\u0301 ", 12))
		})},
		{"flood", "writes 20,000 pieces, 2,000 a second", ended(flood)},
		{"slow args", "writes the arguments of a call slowly", ended(func(p player) {
			p.call("c1", "write", `{"path":"poem.txt","content":"`+strings.Repeat("a line of the poem and ", 60)+`"}`)
		})},
		{"long", "runs a command that prints a line a second", ended(func(p player) {
			p.call("c1", "bash", `{"command":"for i in 1 2 3 4 5 6 7 8 9 10; do echo line $i; sleep 1; done"}`)
		})},
		{"bar", "runs a command with a bar of progress", ended(func(p player) {
			p.call("c1", "bash", `{"command":"for i in $(seq 1 50); do printf '\\r%3d%% done' $((i*2)); sleep 0.1; done; echo"}`)
		})},
		{"seq", "runs seq 1 5000", ended(func(p player) { p.call("c1", "bash", `{"command":"seq 1 5000"}`) })},
		{"fail", "runs a command of several lines that fails", ended(func(p player) {
			p.call("c1", "bash", `{"command":"for i in $(seq 1 41); do\n  echo row $i\ndone\nexit 3"}`)
		})},
		{"edit", "edits main.go", ended(func(p player) {
			p.call("c1", "edit", `{"path":"main.go","edits":[{"oldText":"println(\"hi\")","newText":"println(\"hello, world\")\n\tprintln(\"second line\")"}]}`)
		})},
		{"several", "runs three tools at a time", ended(func(p player) {
			p.call("c1", "bash", `{"command":"sleep 3; echo slow"}`)
			p.call("c2", "read", `{"path":"notes.txt"}`)
			p.call("c3", "bash", `{"command":"sleep 1; echo fast"}`)
		})},
	}
}

// lines plays many lines between a first and a last one.
func (p player) lines(first string, n int, line, last string) {
	p.Text(first)
	for i := 1; i <= n && p.wait(p.pause); i++ {
		p.Text(strings.ReplaceAll(line, "%d", fmt.Sprint(i)))
	}
	p.Text(last)
}

// failSometimes answers every fourth request.
func failSometimes(p player) {
	if p.nth%4 != 0 {
		p.Fail(503, "overloaded, try again")
		return
	}
	p.words("At last.")
	p.End()
}

// flood plays many pieces quickly, in groups, as timers are too coarse for each.
func flood(p player) {
	for i := 0; i < 20000 && p.wait(10*time.Millisecond); i += 20 {
		for j := range 20 {
			p.Text(fmt.Sprintf("word%d ", i+j))
		}
	}
}

const document = "# A heading\n\nA paragraph with *emphasis*, **strength**, `code` and [a link](https://example.com/page), long enough to be wrapped at words in any window that is not very wide.\n\n" +
	"## Lists\n\n1. The first item, whose text goes on and on so that its second row shows the hanging indent\n2. The second\n   - one below\n   - another below\n\n> A quotation of somebody\n> over two rows\n\n" +
	"```go\nfunc main() {\n\tfmt.Println(\"hello\") // a comment that is rather long, so that the terminal has to wrap the line by itself\n}\n```\n\n" +
	"| name | what it does | size |\n|:---|---|---:|\n| first | reads the files of a folder | 12 |\n| 日本語 | wide characters | 3,400 |\n| third | nothing | 5 |\n\n---\n\nThe end.\n"
