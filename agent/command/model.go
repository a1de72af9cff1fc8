package command

import (
	"context"
	"fmt"
	"strings"

	"pi/agent"
)

func modelCommand(a *agent.Agent, ui agent.UI) Command {
	return Command{
		Name: "model", Args: "[provider/id[:thinking]]", Help: "choose the model, or list what there is",
		Complete: func(prefix string) []string { return completeRef(a.Models(), prefix) },
		Run: func(ctx context.Context, args string) (Outcome, error) {
			switch {
			case args != "":
				return setModel(ctx, a, args)
			case ui != nil && ui.HasUI():
				return pickModel(ctx, a, ui)
			}
			return Outcome{Status: listModels(a)}, nil
		},
	}
}

func completeRef(models *agent.Models, prefix string) []string {
	return withPrefix(refs(models.Available()), prefix)
}

func refs(models []*agent.Model) []string {
	var found []string
	for _, m := range models {
		found = append(found, m.Ref())
	}
	return found
}

func setModel(ctx context.Context, a *agent.Agent, ref string) (Outcome, error) {
	model, level, err := a.Models().Match(ref)
	if err != nil {
		return Outcome{}, err
	}
	if level != "" {
		if err := a.SetThinking(ctx, level); err != nil {
			return Outcome{}, err
		}
	}
	a.SetModel(ctx, model, "set")
	status := fmt.Sprintf("model: %s:%s", model.Ref(), a.Thinking())
	if spec, ok := a.Models().Lookup(model.Provider); ok && spec.HasKey != nil && !spec.HasKey() {
		status += fmt.Sprintf("\nno key for %s yet: set api_key of [providers.%s] in config.toml, or its environment variable", model.Provider, model.Provider)
	}
	return Outcome{Status: status}, nil
}

func pickModel(ctx context.Context, a *agent.Agent, ui agent.UI) (Outcome, error) {
	current := a.Model().Ref()
	ref, ok, err := ui.Select(ctx, "Model (now "+current+")", refs(a.Models().Available()), agent.DialogOptions{})
	if err != nil {
		return Outcome{}, err
	}
	if !ok {
		return Outcome{Status: "model: still " + current}, nil
	}
	provider, id, _ := strings.Cut(ref, "/")
	model := a.Models().Find(provider, id)
	if model == nil {
		return Outcome{}, fmt.Errorf("%w: %q", agent.ErrNoModel, ref)
	}
	a.SetModel(ctx, model, "set")
	return Outcome{Status: fmt.Sprintf("model: %s:%s", ref, a.Thinking())}, nil
}

// listModels prints the models that can be used, the current one marked.
func listModels(a *agent.Agent) string {
	current := a.Model().Ref()
	found := refs(a.Models().Available())
	lines := make([]string, 0, len(found)+1)
	listed := false
	for _, ref := range found {
		mark := "  "
		if ref == current {
			mark, listed = "* ", true
		}
		lines = append(lines, mark+ref)
	}
	if !listed {
		lines = append([]string{"* " + current}, lines...)
	}
	return strings.Join(lines, "\n")
}
