package app

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"pi/agent"
	"pi/agent/mcp"
	"pi/cli/keyring/oauth"
)

// CallServer calls a tool of a server for whoever typed a command in a shell. A model may have: so
// it is no way round. The hooks are loaded and asked as about a call of the model, and in a terminal
// its user is asked; where there is none, nobody says yes. Nothing is written into a session. A result that is an
// error says why.
//
// signer signs in where the server cannot be reached without, and in the middle of a call that it did
// not let in for want of rights, which is made then. For a command that an agent has started nobody
// is asked for anything, whatever terminal it has made.
func (p *Place) CallServer(ctx context.Context, server, tool string, arguments json.RawMessage, signer oauth.User) (agent.Result, error) {
	p.Session = SessionFlags{None: true}
	r := p.newRun()
	r.logins = p.Logins("")
	var refused error // of a sign-in in the middle of the call
	r.signIn = func(ctx context.Context, e mcp.Entry, _ []string) bool {
		if isInAgent() {
			return false
		}
		refused = r.logins.SignIn(ctx, e, signer)
		return refused == nil
	}
	if err := r.approve(ctx); err != nil {
		return agent.Result{}, err
	}
	if !p.Config.MCP.Enabled {
		return agent.Result{}, UsageError{Err: fmt.Errorf("[mcp] enabled = false in config.toml: there is no server %q", server)}
	}
	var result agent.Result
	err := r.with(ctx, r.caller(), "print", nil, func() error {
		status, err := r.mcp.Server(server)
		if err != nil {
			return UsageError{Err: err}
		}
		if !status.Known { // direct tools have to be known by their names
			if _, _, _, err := r.mcp.Definitions(ctx, server); err == nil {
				r.chain.ApplyTools()
			}
		}
		result = r.callServer(ctx, server, tool, arguments)
		if refused != nil {
			return refused
		}
		status, err = r.mcp.Server(server)
		if _, wants := r.logins.Wants(*status.Entry); err != nil || status.State != mcp.StateSignIn || !result.IsError || !wants || isInAgent() {
			return err
		}
		if err := r.logins.SignIn(ctx, *status.Entry, signer); err != nil {
			return err
		}
		if err := r.mcp.SignedIn(server); err != nil {
			return err
		}
		result = r.callServer(ctx, server, tool, arguments) // the one before was not sent: the server did not start
		return nil
	})
	return result, err
}

// callServer calls a tool by the way of all calls.
func (r *run) callServer(ctx context.Context, server, tool string, arguments json.RawMessage) agent.Result {
	return r.agent.CallTool(agent.WithVia(ctx, agent.ViaShell), mcp.Name(server, tool), arguments)
}

// isInAgent reports whether a tool of an agent runs this program.
func isInAgent() bool { return os.Getenv("PI_SESSION_ID") != "" }
