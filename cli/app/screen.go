package app

import (
	"context"

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

func (d drawnByHooks) ToolCall(c agent.DrawnCall, expanded bool, width int) ([]string, bool) {
	return d.chain().RenderToolCall(context.Background(), c, expanded, width)
}

func (d drawnByHooks) ToolResult(c agent.DrawnCall, r agent.Result, expanded bool, width int) ([]string, bool) {
	return d.chain().RenderToolResult(context.Background(), c, r, expanded, width)
}

func (d drawnByHooks) DrawsTool(name string) bool { return d.chain().DrawsTool(name) }

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
