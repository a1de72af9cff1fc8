package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"pi/agent"
	"pi/agent/llm"
)

// Client is a server as somebody beside the model uses it: a hook. It asks no gate; what it
// gives to be called ([Client.Tool], [Client.Reader]) is run by the agent, which does. All
// methods may be called from any goroutine.
type Client struct {
	server *server
	isOwn  bool // the server ends with the client
}

// Client returns a client of a server of the session. The error says that there is none of that
// name, or that it is private.
func (s *Servers) Client(name string) (*Client, error) {
	one, err := s.findShared(name)
	if err != nil {
		return nil, err
	}
	return &Client{server: one}, nil
}

// ClientOf is Client for the hook at path, which may have a private one too. ok is false if the hook
// has put no server of that name there.
func (s *Servers) ClientOf(path, name string) (c *Client, ok bool) {
	one, err := s.find(name)
	if err != nil || one.entry.Source.Kind != FromHook || one.entry.Source.Path != path {
		return nil, false
	}
	return &Client{server: one}, true
}

// Put is [Servers.Add], and returns the client with which the server ends.
func (s *Servers) Put(e Entry) (*Client, error) {
	one, err := s.add(e)
	if err != nil {
		return nil, err
	}
	return &Client{one, true}, nil
}

// Name is that of the server.
func (c *Client) Name() string { return c.server.entry.Name }

// Tools are those of the server that are not off. It is started if nothing is known of it.
func (c *Client) Tools(ctx context.Context) ([]Tool, error) {
	defs, err := c.definitions(ctx)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(defs.Tools), func(t Tool) bool { return t.Exposure == Off }), nil
}

// Resources are those of the server, which is started if nothing is known of it.
func (c *Client) Resources(ctx context.Context) ([]Resource, error) {
	if err := c.server.isOff(); err != nil {
		return nil, err
	}
	defs, err := c.definitions(ctx)
	if err != nil {
		return nil, err
	}
	return slices.Clone(defs.Resources), nil
}

// Prompts are those of the server, which is started if nothing is known of it.
func (c *Client) Prompts(ctx context.Context) ([]Prompt, error) {
	if err := c.server.isOff(); err != nil {
		return nil, err
	}
	defs, err := c.definitions(ctx)
	if err != nil {
		return nil, err
	}
	return slices.Clone(defs.Prompts), nil
}

// definitions are what is known of the server. One that is off as a whole is not started.
func (c *Client) definitions(ctx context.Context) (*definitions, error) {
	if !c.server.entry.mayBe(Search) && !c.server.entry.mayBe(Direct) {
		return nil, c.server.isOff()
	}
	if err := c.server.know(ctx); err != nil {
		return nil, err
	}
	return c.server.definitions(), nil
}

// Prompt returns the messages of a prompt of the server, which is started if it does not run.
func (c *Client) Prompt(ctx context.Context, name string, arguments map[string]string) ([]Message, error) {
	if err := c.server.isOff(); err != nil {
		return nil, err
	}
	return c.server.prompt(ctx, name, arguments)
}

// Tool returns a tool of the server, to be run by the agent; with is how. The server is started
// if nothing is known of it. The error says that there is no such tool, or that it is off.
func (c *Client) Tool(ctx context.Context, name string, with CallOptions) (agent.Tool, error) {
	if _, err := c.definitions(ctx); err != nil {
		return nil, err
	}
	t, err := c.server.find(name)
	if err != nil {
		return nil, err
	}
	return &serverTool{server: c.server, tool: name, shown: t, with: with}, nil
}

// Reader returns the tool mcp as far as it reads resources of this server: what gates are asked
// about when the model reads one.
func (c *Client) Reader() agent.Tool { return &reader{server: c.server} }

// Leave takes the server out of the session, at once, if it is the client's own. The function
// that it returns has to be called, and returns when the server has ended.
func (c *Client) Leave() (end func()) {
	if !c.isOwn {
		return func() {}
	}
	return c.server.set.takeOut(c.server)
}

// StructuredContent is what a server sent beside the texts of a result, by the details of that;
// nil for nothing.
func StructuredContent(of json.RawMessage) json.RawMessage {
	var d details
	if json.Unmarshal(of, &d) != nil {
		return nil // a listener made other details of them
	}
	return d.StructuredContent
}

// reader is the tool mcp for the reading of one server's resources.
type reader struct{ server *server }

// Spec is that of the tool mcp.
func (*reader) Spec() llm.ToolSpec { return new(proxy).Spec() }

// Annotations are those of the tool mcp.
func (*reader) Annotations() agent.Annotations { return new(proxy).Annotations() }

// Run is that of [agent.Tool].
func (r *reader) Run(ctx context.Context, input json.RawMessage, _ agent.Update) (agent.Result, error) {
	var wanted request
	if err := json.Unmarshal(input, &wanted); err != nil {
		return agent.Result{}, err
	}
	if wanted.Read == "" || wanted.Server != r.server.entry.Name {
		return agent.Result{}, errors.New("only resources of the server " + r.server.entry.Name + " are read here")
	}
	result, err := r.server.read(ctx, wanted.Read)
	if err != nil {
		return agent.Result{}, err
	}
	return result.Tool, nil
}

// ReadInput are the arguments of the tool mcp with which a resource is read.
func ReadInput(server, uri string) json.RawMessage {
	input, _ := json.Marshal(request{Read: uri, Server: server}) // of texts
	return input
}
