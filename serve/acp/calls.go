package acp

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"pi/agent"
	"pi/agent/tool"
	"pi/internal/printable"
	"pi/internal/safefile"
	"pi/session/message"
	"pi/session/rawjson"
)

// progressPause is the time between two updates of what a call has put out.
const progressPause = 100 * time.Millisecond

// calls are the calls of tools in one session. All methods may be called by any goroutine.
type calls struct {
	session *session

	mu    *sync.Mutex // guards what follows, and keeps the order of what is sent
	used  map[string]bool
	open  map[string]*call // those without an end, by the id that the model gave
	order []string         // of those

	children map[string]*call // agents that work for no call of a tool, by their names
}

// call is a call that has not ended.
type call struct {
	toolCall
	started bool        // the loop works on it
	sent    time.Time   // when its output was sent last
	output  *[]any      // what waits to be sent; nil: nothing
	timer   *time.Timer // that sends it; nil: none
}

// uniqueID returns the id of a further call, by which the client has seen none so far. The
// caller has the lock.
func (c *calls) uniqueID(id string) string {
	unique := id
	for n := 2; unique == "" || c.used[unique]; n++ {
		unique = fmt.Sprintf("%s#%d", id, n)
	}
	c.used[unique] = true
	return unique
}

// announce tells of a call that the model begins to write. One that may turn out to be a call of
// another tool is told when that is known.
func (c *calls) announce(id, name string) {
	if isForwarder(name) {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open[id] == nil {
		c.add(id, name, nil)
	}
}

// add tells of a call. The caller has the lock.
func (c *calls) add(id, name string, input json.RawMessage) *call {
	x := &call{toolCall: c.session.view(name, input)}
	x.ID, x.Status = c.uniqueID(id), callPending
	c.open[id], c.order = x, append(c.order, id)
	shown := x.toolCall
	shown.SessionUpdate = "tool_call"
	c.session.out.send(shown)
	return x
}

// start tells what is called with what.
func (c *calls) start(e *agent.ToolExecutionStart) {
	c.mu.Lock()
	defer c.mu.Unlock()
	x := c.open[e.ID]
	if x == nil {
		c.add(e.ID, e.Name, e.Input).started = true
		return
	}
	x.started = true
	is := c.session.view(e.Name, e.Input)
	is.ID, is.Status = x.ID, x.Status
	x.toolCall = is
	is.SessionUpdate, is.Name = "tool_call_update", ""
	c.session.out.send(is)
}

// admit tells that no gate keeps a call from running.
func (c *calls) admit(e *agent.ToolCall) {
	c.mu.Lock()
	defer c.mu.Unlock()
	x := c.open[e.ID]
	if x == nil {
		return
	}
	u := toolCall{SessionUpdate: "tool_call_update", ID: x.ID, Status: callRuns}
	if x.Content != nil { // a question about it, which may have had another title
		u.Content, u.Title = &[]any{}, x.Title
	}
	if e.Server != nil && !e.Annotations.Claimed && e.Annotations.ReadOnly { // a tool behind another
		u.Kind, x.Kind = "read", "read"
	}
	x.Status, x.Content = callRuns, nil
	c.session.out.send(u)
}

// progress shows what a call has put out so far, though not too often.
func (c *calls) progress(e *agent.ToolExecutionUpdate) {
	c.mu.Lock()
	defer c.mu.Unlock()
	x := c.open[e.ID]
	if x == nil {
		return
	}
	output := resultContent(e.Partial.Content)
	c.show(x, output)
}

// show sends what there is so far of the output of a call, now or in a while. The caller has the
// lock.
func (c *calls) show(x *call, output []any) {
	if len(output) == 0 {
		return
	}
	x.output = &output
	switch wait := progressPause - time.Since(x.sent); {
	case x.timer != nil:
	case wait <= 0:
		c.flush(x)
	default:
		x.timer = time.AfterFunc(wait, func() {
			c.mu.Lock()
			defer c.mu.Unlock()
			if x.timer != nil {
				c.flush(x)
			}
		})
	}
}

// flush sends what waits of the output of a call. The caller has the lock.
func (c *calls) flush(x *call) {
	c.session.out.send(toolCall{SessionUpdate: "tool_call_update", ID: x.ID, Content: x.output})
	x.output, x.timer, x.sent = nil, nil, time.Now()
}

// end tells how a call ended.
func (c *calls) end(e *agent.ToolExecutionEnd) {
	c.mu.Lock()
	defer c.mu.Unlock()
	x := c.open[e.ID]
	if x == nil {
		return
	}
	u := toolCall{SessionUpdate: "tool_call_update", ID: x.ID, Status: callCompleted}
	if e.Result.IsError {
		u.Status = callFailed
	}
	content := resultContent(e.Result.Content)
	if touched := e.Result.Touched; touched != nil {
		u.Locations = []location{{touched.Path, touched.Line}}
		if change := changeOf(touched); change != nil && !e.Result.IsError {
			content = []any{*change}
		}
	}
	u.Content = &content
	if x.Content != nil {
		u.Title = x.Title
	}
	c.remove(e.ID)
	c.session.out.send(u)
}

// remove forgets a call that has ended. The caller has the lock.
func (c *calls) remove(id string) {
	if x := c.open[id]; x != nil {
		x.drop()
	}
	delete(c.open, id)
	c.order = slices.DeleteFunc(c.order, func(other string) bool { return other == id })
}

// drop has what waits of the output of a call not sent. The caller has the lock.
func (x *call) drop() {
	if x.timer != nil {
		x.timer.Stop()
		x.timer = nil
	}
}

// sweep ends the calls that the loop never got, as those of an answer that broke off.
func (c *calls) sweep(why string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, id := range slices.Clone(c.order) {
		x := c.open[id]
		if x.started {
			continue
		}
		content := []any{contentOf(textOf(why))}
		c.remove(id)
		c.session.out.send(toolCall{SessionUpdate: "tool_call_update", ID: x.ID, Status: callFailed, Content: &content})
	}
}

// ask marks the call as one that a question is asked about, and returns how the client is
// shown it: a change of a file comes first, and the call is called as the question is; ok is
// false if there is no such call that waits at a gate.
func (c *calls) ask(id, title, question string) (shown toolCall, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	x := c.open[id]
	if id == "" || x == nil || x.Status != callPending {
		return toolCall{}, false
	}
	var content []any
	shown = x.toolCall
	if x.Kind == "edit" {
		content, shown.Title = wouldChange(shown), titleOfQuestion(title)
	}
	content = append(content, contentOf(textOf(question)))
	x.Content, shown.Content = &content, &content
	return shown, true
}

// shownID returns the id by which the client knows a call that has not ended; "" if there
// is none.
func (c *calls) shownID(id string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if x := c.open[id]; x != nil {
		return x.ID
	}
	return ""
}

// stop stops what would still be sent.
func (c *calls) stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, id := range slices.Clone(c.order) {
		c.remove(id)
	}
}

// resultContent is what a client is shown of the result of a tool.
func resultContent(blocks []message.Block) []any {
	content := []any{}
	for _, b := range blocks {
		switch {
		case b.Type == message.BlockText && b.Text != "":
			content = append(content, contentOf(textOf(b.Text)))
		case b.Type == message.BlockImage:
			content = append(content, contentOf(imageOf(b.Data, b.MimeType)))
		}
	}
	return content
}

// titleOfCall is how many characters the title of a call has at most.
const titleOfCall = 160

// view returns how a call is shown: what it is, where it happens, and what the model sent.
func (s *session) view(name string, input json.RawMessage) toolCall {
	c := toolCall{Title: callTitle(name, input), Name: name, Kind: s.kind(name)}
	if c.Name == "" {
		c.Name = "tool"
	}
	if len(input) > 0 && rawjson.Valid(input) {
		c.RawInput = input
		c.Locations = locations(s.cwd, name, input)
	}
	return c
}

// builtin are the kinds of the program's own tools.
func builtin(name string) string {
	switch name {
	case "read", "ls":
		return "read"
	case "bash":
		return "execute"
	case "edit", "write":
		return "edit"
	case "grep", "find":
		return "search"
	}
	return ""
}

// kind returns what sort of thing a tool does.
func (s *session) kind(name string) string {
	if kind := builtin(name); kind != "" {
		return kind
	}
	for _, t := range s.agent().Tools() {
		if t.Spec().Name != name {
			continue
		}
		switch says := agent.AnnotationsOf(t); {
		case slices.Contains(agent.ToolKinds(), says.Kind):
			return says.Kind
		case says.ReadOnly:
			return "read"
		}
	}
	return "other"
}

// callTitle returns a line that says what a call does: of bash the command, of other tools
// the name and what matters most of the arguments, paths in backquotes.
func callTitle(name string, input json.RawMessage) string {
	title, detail := printable.Line(name), callDetail(name, input)
	switch detail = printable.Line(cut(detail, 4096)); {
	case name == "bash" && detail != "":
		title = detail
	case detail != "":
		title = strings.TrimSpace(title + " " + detail)
	case title == "":
		title = "tool"
	}
	return printable.Cut(title, titleOfCall)
}

// callDetail returns what matters most of the arguments of a call.
func callDetail(name string, input json.RawMessage) string {
	f, err := parseFields(input)
	if err != nil {
		return ""
	}
	argument := func(name string) string { text, _ := f.text(name); return text }
	path := argument("path")
	if line := rawjson.Number(f["offset"]); name == "read" && line > 0 {
		path = fmt.Sprintf("%s:%d", path, int(line))
	}
	if path != "" {
		path = "`" + path + "`"
	}
	switch name {
	case "bash":
		return argument("command")
	case "read", "edit", "write", "ls":
		return path
	case "grep", "find":
		return strings.TrimSpace(argument("pattern") + " " + path)
	}
	if len(f) == 0 {
		return ""
	}
	return string(input)
}

// locations returns which file a call is about, as far as its arguments say so.
func locations(cwd, name string, input json.RawMessage) []location {
	if builtin(name) == "" || name == "bash" {
		return nil
	}
	f, err := parseFields(input)
	if err != nil {
		return nil
	}
	argument, ok := f.text("path")
	if !ok || argument == "" {
		if name == "read" || name == "edit" || name == "write" {
			return nil
		}
		argument = "."
	}
	path, err := tool.Absolute(cwd, argument)
	if err != nil {
		return nil
	}
	at := location{Path: filepath.Clean(path)}
	if name == "read" {
		at.Line = max(0, int(rawjson.Number(f["offset"])))
	}
	return []location{at}
}

// changeOf is a change of a file as a client shows it; nil if there is none that can be
// shown.
func changeOf(t *agent.Touched) *diff {
	if t.Change == nil || !t.Change.Created && t.Change.Before == nil {
		return nil
	}
	d := &diff{Type: "diff", Path: t.Path, OldText: t.Change.Before, NewText: t.Change.After}
	if t.Change.Created {
		d.OldText = nil
	}
	return d
}

// wouldChange returns what a call of edit or write is about to change, by the file on the
// disk: whole rows, with some around them.
func wouldChange(c toolCall) (diffs []any) {
	f, err := parseFields(c.RawInput)
	if err != nil || len(c.Locations) == 0 {
		return nil
	}
	path := c.Locations[0].Path
	data, err := safefile.Read(path, mostText)
	before := string(data)
	if c.Name == "write" {
		text, ok := f.text("content")
		switch {
		case !ok:
		case errors.Is(err, fs.ErrNotExist):
			return []any{diff{Type: "diff", Path: path, NewText: text}}
		case err == nil:
			return []any{diff{"diff", path, &before, text}}
		}
		return nil
	}
	before = strings.ReplaceAll(before, "\r\n", "\n") // as models write what they edit
	for _, each := range argumentDiffs(c, "") {
		d := each.(diff)
		if was, is, ok := withRows(before, *d.OldText, d.NewText); ok {
			d.OldText, d.NewText = &was, is
		}
		diffs = append(diffs, d)
	}
	return diffs
}

// rowsAround is how many rows are shown before and behind a change.
const rowsAround = 3

// withRows makes whole rows of a change of a text, with those around it; ok is false if the
// text does not have what is changed, or has it twice.
func withRows(text, was, is string) (before, after string, ok bool) {
	head, tail, found := strings.Cut(text, was)
	if !found || was == "" || strings.Contains(tail, was) {
		return "", "", false
	}
	from, to := len(head), 0
	for range rowsAround + 1 {
		if from = strings.LastIndexByte(head[:from], '\n'); from < 0 {
			break
		}
	}
	head = head[from+1:]
	rows := rowsAround
	if !strings.HasSuffix(was, "\n") {
		rows++ // the rest of its last row
	}
	for range rows {
		end := strings.IndexByte(tail[to:], '\n')
		if end < 0 {
			to = len(tail)
			break
		}
		to += end + 1
	}
	return head + was + tail[:to], head + is + tail[:to], true
}

// argumentDiffs returns what a call of edit or write changes, as far as its arguments say it:
// the file as it was is not stored. result is what the tool said; "" if it has not run.
func argumentDiffs(c toolCall, result string) (diffs []any) {
	f, err := parseFields(c.RawInput)
	if err != nil || len(c.Locations) == 0 {
		return nil
	}
	path := c.Locations[0].Path
	add := func(f fields) {
		was, hasOld := f.text("oldText")
		if is, hasNew := f.text("newText"); hasOld && hasNew {
			diffs = append(diffs, diff{"diff", path, &was, is})
		}
	}
	switch c.Name {
	case "edit":
		add(f)
		edits, _ := f.list("edits")
		for _, raw := range edits {
			if edit, err := parseFields(raw); err == nil {
				add(edit)
			}
		}
	case "write":
		if text, ok := f.text("content"); ok && strings.HasPrefix(result, "Created ") {
			diffs = append(diffs, diff{Type: "diff", Path: path, NewText: text})
		}
	}
	return diffs
}
