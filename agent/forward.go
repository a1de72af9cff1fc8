package agent

import (
	"context"
	"encoding/json"

	"pi/session/message"
)

// A tool of a server (see agent/mcp) can be called in several ways: by its own name, by the tool
// mcp, by a hook, by a command in a shell. All of them come to the same gate, with the name of
// the tool and its own arguments. What the model wrote stays in the session and on the wire;
// everybody else sees what it means.

// ServerTool is a Tool that a server has, which says itself what the tool is.
type ServerTool interface{ OfServer() ServerCall }

// ServerCall is what gates are told of a call of a [ServerTool].
type ServerCall struct {
	Server, Tool string
	Definition   string      // a hash of what the server says of the tool now
	Claims       Annotations // what it says that the tool does
	Via          Via
}

// Via is how a call of a tool of a server came.
type Via string

const (
	ViaForwarder Via = "mcp"    // the model called the tool mcp
	ViaName      Via = "direct" // the model called the tool by its name
	ViaHook      Via = "hook"   // a hook called it
	ViaShell     Via = "shell"  // a command in a shell did
)

// MCPServer comes when a server is in another state, or its lists were read again.
type MCPServer struct {
	Server string
	State  string // as agent/mcp calls it
	Tools  int    // how many it has, as far as is known
	Error  string // why it cannot be used, or what ended it; "": nothing did
}

// MCPChange comes when a server has another definition of a tool than when it was listed first.
type MCPChange struct {
	Server, Tool  string
	Before, After *Definition // nil: there is none
}

// Definition is what a server says of a tool.
type Definition struct {
	Name        string // of the tool, as gates see it
	Description string
	Parameters  json.RawMessage // a schema
	Claims      Annotations
	Hash        string // of all that; ServerCall.Definition
}

// Kind is KindMCPServer.
func (*MCPServer) Kind() Kind { return KindMCPServer }

// Kind is KindMCPChange.
func (*MCPChange) Kind() Kind { return KindMCPChange }

type viaKey struct{}

// WithVia returns a context in which calls of tools come that way.
func WithVia(ctx context.Context, via Via) context.Context {
	return context.WithValue(ctx, viaKey{}, via)
}

// DecidedDefinition is the definition of the tool of a server that the gate was asked about
// before the tool began to run with ctx; "" if it was no such tool.
func DecidedDefinition(ctx context.Context) string {
	if running, _ := ctx.Value(runsKey{}).(*approvedCall); running != nil && running.server != nil {
		return running.server.Definition
	}
	return ""
}

// meaning is what a call is: the tool and its arguments, and the Forwarder that it goes
// through, with its own input.
type meaning struct {
	message.Block           // with the name of the tool and its arguments
	through       Forwarder // nil: none
	input         json.RawMessage
	forwarded     bool // it was written as one of a Forwarder, though another tool may stand in the place
	given         Tool // what is called, active or not; nil: the name says it
}

// meaning returns what a call is. A name that no active tool has may be one of a tool behind a
// Forwarder. Where an active tool that is none of a server has the name of one behind it, that one
// stands in its place, whichever way the call was written.
func (t *toolset) meaning(call message.Block) meaning {
	m := t.written(call)
	if m.through != nil {
		if own := t.tool(m.Name); own != nil && !isOfServer(own) {
			m.through = nil
		}
	}
	return m
}

func isOfServer(tool Tool) bool {
	_, ok := tool.(ServerTool)
	return ok
}

// written returns what a call is as it is written.
func (t *toolset) written(call message.Block) meaning {
	m := meaning{Block: call, input: call.Arguments}
	if tool := t.tool(call.Name); tool != nil {
		f, _ := tool.(Forwarder)
		return m.by(f)
	}
	for _, tool := range t.active() {
		if f, ok := tool.(Forwarder); ok {
			if input, ok := f.Wrap(call.Name, call.Arguments); ok {
				m.input = input
				return m.by(f)
			}
		}
	}
	return m
}

// by is what the call is if it goes through f, which may be nil.
func (m meaning) by(f Forwarder) meaning {
	if f == nil {
		return m
	}
	if name, arguments, ok := f.Forwards(m.input); ok {
		m.through, m.forwarded, m.Name, m.Arguments = f, true, name, arguments
	}
	return m
}

// serverCall is what gates are told of a tool of a server that was called with ctx, by a Forwarder if
// forwarded; nil for another tool.
func serverCall(ctx context.Context, tool Tool, forwarded bool) *ServerCall {
	of, ok := tool.(ServerTool)
	if !ok {
		return nil
	}
	call := of.OfServer()
	switch via, _ := ctx.Value(viaKey{}).(Via); {
	case via != "":
		call.Via = via
	case forwarded:
		call.Via = ViaForwarder
	default:
		call.Via = ViaName
	}
	return &call
}
