package mcp

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"pi/agent"
	"pi/agent/llm"
	"pi/internal/printable"
	"pi/session/compaction"
	"pi/session/message"
)

// ToolName is the name of the tool by which the model comes to the tools of servers.
const ToolName = "mcp"

// The definition of the tool is the same whatever servers there are, so that it costs the same,
// and the beginning of requests stays as it is when they come and go.
const (
	toolText = `Tools of MCP servers. Give one of: search (words; finds tools and resources), describe or call ("server/tool"; describe it before the first call, arguments go with call), read (uri of a resource, with server).`

	toolSnippet = "find and call tools of MCP servers"

	toolSchema = `{"type":"object","properties":{"search":{"type":"string"},"describe":{"type":"string"},"call":{"type":"string"},"arguments":{"type":"object"},"read":{"type":"string"},"server":{"type":"string"}}}`

	sectionHead = "MCP servers (tool mcp):"
)

// Section is the section of the system prompt that names the servers whose tools are found by
// the tool mcp; "" for none. Its rows have what is known without starting a server.
func (s *Servers) Section() string {
	var rows []string
	for _, one := range s.servers() {
		if one.isOffered() && one.as().mayBe(Search) {
			rows = append(rows, sectionRow(one.entry.Name, one.rowDescription()))
		}
	}
	if len(rows) == 0 {
		return ""
	}
	const most = 20
	if more := len(rows) - most; more > 0 {
		rows = append(rows[:most], fmt.Sprintf("- and %d more", more))
	}
	return sectionHead + "\n" + strings.Join(rows, "\n")
}

// maxRow is how many characters a server has in the system prompt, with the end of the row.
const maxRow = 48

// sectionRow is the row of a server in the system prompt.
func sectionRow(name, description string) string {
	row := "- " + name
	if room := maxRow - len(row) - len(": \n"); description != "" && room > 8 {
		row += ": " + printable.Cut(description, room)
	}
	return row
}

// rowDescription is what is said of a server: in the user's words, else in its own, as they
// are known.
func (s *server) rowDescription() string {
	r, _ := s.set.cache.row(s.hash)
	return printable.Line(printable.FirstLine(cmp.Or(s.entry.Description, r.Description), 200))
}

// Tools are what the model is given: the tool mcp while there is a server to be searched, and
// the direct tools of servers as they are known. Those do not change until the server is
// refreshed. Nothing is started. allows, which may be nil, says which names may be called;
// of the tool mcp itself that is whether it may search, describe and read.
func (s *Servers) Tools(allows func(name string) bool) (tools []agent.Tool) {
	proxy := &proxy{set: s, allows: allows}
	hasSearch := false
	names := map[string]bool{}
	var direct []agent.Tool
	for _, one := range s.servers() {
		if !one.isOffered() {
			continue
		}
		hasSearch = hasSearch || one.as().mayBe(Search)
		for _, t := range one.directTools() {
			if names[t.Name] || allows != nil && !allows(t.Name) {
				continue
			}
			names[t.Name] = true
			direct = append(direct, &serverTool{server: one, tool: t.Tool, shown: t})
		}
	}
	if hasSearch {
		tools = append(tools, proxy)
	}
	return append(tools, direct...)
}

// directTools are the direct tools of a server as they were when they were asked for first.
func (s *server) directTools() []*Tool {
	if s.isOpen() || !s.as().mayBe(Direct) {
		return nil
	}
	defs := s.definitions()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.direct == nil && defs != nil {
		s.direct = []*Tool{}
		for i := range defs.Tools {
			if t := &defs.Tools[i]; t.Exposure == Direct {
				s.direct = append(s.direct, t)
			}
		}
	}
	return s.direct
}

// spec is a direct tool as it is sent.
func (t *Tool) spec() llm.ToolSpec {
	return llm.ToolSpec{Name: t.Name, Label: cmp.Or(t.Title, t.Name), Description: t.Description,
		Snippet: cmp.Or(printable.FirstLine(t.Description, 80), t.Tool), Parameters: t.Schema}
}

// tokens estimates what a direct tool costs with each request.
func (t *Tool) tokens() int {
	s := t.spec()
	text := s.Name + s.Description + string(s.Parameters) + "- " + s.Name + ": " + s.Snippet
	return compaction.EstimateTokens(&message.Message{Role: message.RoleUser, Content: []message.Block{message.TextBlock(text)}})
}

// proxy is the tool mcp. It is an [agent.Forwarder].
type proxy struct {
	set    *Servers
	allows func(name string) bool // nil: all
}

// request is what the model wants of the tool mcp.
type request struct {
	Search    *string         `json:"search,omitempty"`
	Describe  string          `json:"describe,omitempty"`
	Call      string          `json:"call,omitempty"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
	Read      string          `json:"read,omitempty"`
	Server    string          `json:"server,omitempty"`
}

// Spec is that of [agent.Tool].
func (p *proxy) Spec() llm.ToolSpec {
	return llm.ToolSpec{Name: ToolName, Label: ToolName, Description: toolText, Snippet: toolSnippet, Parameters: json.RawMessage(toolSchema)}
}

// Annotations are those of a search, a describe and a read.
func (p *proxy) Annotations() agent.Annotations {
	return agent.Annotations{OpenWorld: true, Kind: "search"}
}

// mayCall reports whether a name may be called.
func (p *proxy) mayCall(name string) bool { return p.allows == nil || p.allows(name) }

// mayLook returns an error if the model may not look at what a server has.
func (p *proxy) mayLook(server string) error {
	if p.mayCall(AnyOf(server)) {
		return nil
	}
	return fmt.Errorf("%s may not be looked at here: none of its tools is among the active ones", printable.Short(server))
}

// Within is that of [agent.Forwarder].
func (p *proxy) Within(allows func(name string) bool) agent.Tool {
	return &proxy{set: p.set, allows: func(name string) bool { return p.mayCall(name) && allows(name) }}
}

// Forwards is that of [agent.Forwarder].
func (p *proxy) Forwards(input json.RawMessage) (name string, arguments json.RawMessage, ok bool) {
	var r request
	if json.Unmarshal(input, &r) != nil || r.Call == "" {
		return "", nil, false
	}
	server, tool, ok := p.split(r)
	if arguments = r.arguments(); !ok || arguments[0] != '{' { // it is told as it was written, and refused
		return "", nil, false
	}
	return Name(server, tool), arguments, true
}

// Recorded returns what a call that stands in a session was one of: the name of the tool of a
// server, its arguments, and what gates were told, as far as that stands there; ok is false for
// a call of another tool.
func Recorded(name string, input json.RawMessage) (called string, arguments json.RawMessage, call agent.ServerCall, ok bool) {
	call.Claims = agent.Annotations{Destructive: true, OpenWorld: true, Claimed: true}
	p := &proxy{set: &Servers{}}
	switch {
	case name == ToolName:
		var r request
		if json.Unmarshal(input, &r) != nil || r.Call == "" {
			return "", nil, call, false
		}
		call.Via = agent.ViaForwarder
		call.Server, call.Tool, ok = p.split(r)
		if called = Name(call.Server, call.Tool); IsName(r.Call) {
			called = r.Call // of one that was changed the name alone tells nothing
		}
		arguments = r.arguments()
		return called, arguments, call, ok && arguments[0] == '{'
	case IsName(name):
		call.Via = agent.ViaName
		call.Server, call.Tool, ok = p.split(request{Call: name})
		return name, input, call, ok
	}
	return "", nil, call, false
}

// Wrap is that of [agent.Forwarder].
func (p *proxy) Wrap(name string, arguments json.RawMessage) (input json.RawMessage, ok bool) {
	if !IsName(name) {
		return nil, false
	}
	input, err := json.Marshal(request{Call: name, Arguments: orEmpty(arguments)})
	return input, err == nil
}

// arguments are those of a call, without white space around them: an object where the model wrote a
// text with one in it, or null. What is none begins otherwise.
func (r *request) arguments() json.RawMessage {
	given, text := r.Arguments, ""
	if string(given) == "null" {
		given = nil
	} else if json.Unmarshal(given, &text) == nil && json.Valid([]byte(text)) {
		given = json.RawMessage(text)
	}
	return bytes.TrimSpace(orEmpty(given))
}

// split returns the server and the tool that a call names: "server/tool", the whole name of
// the tool, or the tool alone with the server beside it.
func (p *proxy) split(r request) (server, tool string, ok bool) {
	if rest, whole := strings.CutPrefix(r.Call, prefix); whole {
		if t := p.set.named(r.Call); t != nil {
			return t.Server, t.Tool, true
		}
		server, tool, _ = strings.Cut(rest, "__")
		return server, tool, CheckName(server) == nil && tool != ""
	}
	if server, tool, ok = strings.Cut(r.Call, "/"); ok && CheckName(server) == nil {
		return server, tool, tool != ""
	}
	return r.Server, r.Call, CheckName(r.Server) == nil && r.Call != ""
}

// named returns the tool of a name for the model, if it is known.
func (s *Servers) named(name string) *Tool {
	for _, one := range s.servers() {
		if one.entry.Private || !strings.HasPrefix(name, prefix+one.entry.Name) {
			continue
		}
		if defs := one.definitions(); defs != nil {
			for i := range defs.Tools {
				if defs.Tools[i].Name == name {
					return &defs.Tools[i]
				}
			}
		}
	}
	return nil
}

// Target is that of [agent.Forwarder]: a server of which nothing is known is started, so that
// what is decided about is the tool as it is.
func (p *proxy) Target(ctx context.Context, input json.RawMessage) (agent.Tool, error) {
	var r request
	if err := json.Unmarshal(input, &r); err != nil {
		return nil, err
	}
	if err := r.check(); err != nil {
		return nil, err
	}
	server, tool, ok := p.split(r)
	if !ok {
		return nil, fmt.Errorf("call %q: it is \"server/tool\"", printable.Short(r.Call))
	}
	if name := Name(server, tool); !p.mayCall(name) {
		return nil, fmt.Errorf("%s/%s may not be called here: the tool %s is not among the active ones", printable.Short(server), printable.Short(tool), name)
	}
	t, err := p.set.Describe(ctx, server, tool)
	if err != nil {
		return nil, err
	}
	one, err := p.set.findShared(server)
	if err != nil {
		return nil, err
	}
	return &serverTool{server: one, tool: tool, shown: t}, nil
}

// check returns an error unless one thing is wanted.
func (r *request) check() error {
	wanted := 0
	for _, is := range []bool{r.Search != nil, r.Describe != "", r.Call != "", r.Read != ""} {
		if is {
			wanted++
		}
	}
	if wanted != 1 {
		return errors.New("give one of search, describe, call and read")
	}
	return nil
}

// Run is that of [agent.Tool], for everything but calls.
func (p *proxy) Run(ctx context.Context, input json.RawMessage, _ agent.Update) (agent.Result, error) {
	var r request
	if err := json.Unmarshal(input, &r); err != nil {
		return agent.Result{}, err
	}
	if err := r.check(); err != nil {
		return agent.Result{}, err
	}
	if !p.mayCall(ToolName) && !p.isKnown(r.Describe) {
		return agent.Result{}, errors.New("only calls of tools that are named are allowed here, and describe of those that are known")
	}
	switch {
	case r.Describe != "":
		return p.describe(ctx, r)
	case r.Read != "":
		return p.read(ctx, r)
	case r.Search != nil:
		return agent.TextResult(foundText(p.set.Search(ctx, *r.Search, p.allows))), nil
	}
	return agent.Result{}, fmt.Errorf("call %q: it is \"server/tool\"", printable.Short(r.Call))
}

// isKnown reports whether a describe starts nothing.
func (p *proxy) isKnown(describe string) bool {
	server, _, ok := strings.Cut(describe, "/")
	one, err := p.set.findShared(server)
	return ok && err == nil && one.definitions() != nil
}

func (p *proxy) describe(ctx context.Context, r request) (agent.Result, error) {
	server, tool, ok := p.split(request{Call: r.Describe, Server: r.Server})
	if !ok {
		return agent.Result{}, fmt.Errorf("describe %q: it is \"server/tool\"", printable.Short(r.Describe))
	}
	if err := p.mayLook(server); err != nil {
		return agent.Result{}, err
	}
	t, err := p.set.Describe(ctx, server, tool)
	if err != nil {
		return agent.Result{}, err
	}
	w := &writer{details: details{Server: server, Tool: tool}}
	w.text(describeText(t))
	return w.finish(nil).Tool, nil
}

func (p *proxy) read(ctx context.Context, r request) (agent.Result, error) {
	if r.Server == "" {
		return agent.Result{}, errors.New("read: say of which server, as search shows it")
	}
	if err := p.mayLook(r.Server); err != nil {
		return agent.Result{}, err
	}
	result, err := p.set.Read(ctx, r.Server, r.Read)
	if err != nil {
		return agent.Result{}, err
	}
	return result.Tool, nil
}

// foundText is what a search found, as the model reads it.
func foundText(f Found) string {
	var b strings.Builder
	for _, h := range f.Hits {
		switch {
		case h.Tool != "":
			fmt.Fprintf(&b, "%s/%s: %s\n", h.Server, h.Tool, h.Text)
		case h.Text != "":
			fmt.Fprintf(&b, "%s: resource %s (%s)\n", h.Server, printable.Line(h.URI), h.Text)
		default:
			fmt.Fprintf(&b, "%s: resource %s\n", h.Server, printable.Line(h.URI))
		}
	}
	if len(f.Hits) == 0 {
		b.WriteString("Nothing found.\n")
	}
	if f.More > 0 {
		fmt.Fprintf(&b, "[%d more]\n", f.More)
	}
	for _, silent := range f.Silent {
		fmt.Fprintf(&b, "[%s]\n", silent)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// serverTool is a tool of a server as the agent runs it.
type serverTool struct {
	server *server
	tool   string
	shown  *Tool // as it was sent to the model, or decided about
	with   CallOptions
}

// Spec is that of [agent.Tool].
func (t *serverTool) Spec() llm.ToolSpec { return t.shown.spec() }

// Annotations are what is believed: what a server claims only if the user's entry says so.
func (t *serverTool) Annotations() agent.Annotations {
	if t.server.entry.TrustAnnotations {
		a := t.now().Claims
		a.Claimed = false
		return a
	}
	return agent.Annotations{Destructive: true, OpenWorld: true}
}

// now is the definition as it is now.
func (t *serverTool) now() *Tool {
	if is := t.server.definitions().tool(t.tool); is != nil {
		return is
	}
	return t.shown
}

// OfServer is that of [agent.ServerTool].
func (t *serverTool) OfServer() agent.ServerCall {
	is := t.now()
	claims := is.Claims
	claims.Claimed = !t.server.entry.TrustAnnotations
	return agent.ServerCall{Server: t.server.entry.Name, Tool: t.tool, Definition: is.Hash, Claims: claims}
}

// Run is that of [agent.Tool]. A tool that became another since its call was decided about is
// not called.
func (t *serverTool) Run(ctx context.Context, input json.RawMessage, update agent.Update) (agent.Result, error) {
	hash := t.shown.Hash
	if decided := agent.DecidedDefinition(ctx); decided != "" {
		hash = decided
	}
	o := t.with
	o.Progress = update
	r, err := t.server.call(ctx, t.tool, hash, input, o)
	switch {
	case err == nil, r != nil && ctx.Err() == nil:
		return r.Tool, nil
	}
	return agent.Result{}, err // of a call that was interrupted the agent says so itself
}
