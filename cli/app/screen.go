package app

import (
	"context"
	"encoding/json"

	"pi/agent"
	"pi/agent/prompts"
	"pi/luahooks"
	"pi/repl/completion"
	"pi/session/message"
)

// drawnByHooks draws for the terminal what hooks have an idea of.
type drawnByHooks struct{ chain func() *luahooks.Chain } // it is not there yet

func (d drawnByHooks) Message(ctx context.Context, m *message.Message, expanded bool, width int) ([]string, bool) {
	return d.chain().RenderMessage(ctx, m, expanded, width)
}

func (d drawnByHooks) ToolCall(name string, args json.RawMessage, expanded bool, width int) ([]string, bool) {
	return d.chain().RenderToolCall(context.Background(), name, args, expanded, width)
}

func (d drawnByHooks) ToolResult(name string, r agent.Result, expanded bool, width int) ([]string, bool) {
	return d.chain().RenderToolResult(context.Background(), name, r, expanded, width)
}

// completedByHooks lists what hooks complete words with.
func (r *run) completedByHooks() []completion.Source {
	var all []completion.Source
	for _, c := range r.chain.Completions() {
		all = append(all, completion.Source{Prefix: c.Prefix, Description: c.Description, Hook: c.Hook(),
			Complete: func(ctx context.Context, word string) ([]completion.Item, error) {
				found, err := c.Complete(ctx, word)
				items := make([]completion.Item, len(found))
				for i, f := range found {
					items[i] = completion.Item{Value: f.Value, Label: f.Label, Description: f.Description}
				}
				return items, err
			}})
	}
	return all
}

// folders lists the folders of skills and templates that hooks bring.
func (r *run) folders() []prompts.Folder {
	if r.chain == nil {
		return nil
	}
	var all []prompts.Folder
	found, hooks := r.chain.Resources()
	for i, f := range found {
		all = append(all, prompts.Folder{Skills: f.Skills, Templates: f.Prompts, From: "hook " + hooks[i]})
	}
	return all
}
