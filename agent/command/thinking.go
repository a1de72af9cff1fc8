package command

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"pi/agent"
	"pi/agent/llm"
)

func thinkingCommand(a *agent.Agent, ui agent.UI) Command {
	return Command{
		Name: "thinking", Topic: TopicModel, Args: "[level]", Help: "choose how much the model thinks, or list the levels it offers",
		More:     "What a model does not offer is asked of it as far as it goes;\nwith another model the choice counts again.",
		Complete: func(prefix string) []string { return withPrefix(llm.OfferedLevels(a.Model()), prefix) },
		Run: func(ctx context.Context, args string) (Outcome, error) {
			switch {
			case args != "":
				return setThinking(ctx, a, args)
			case ui.HasUI():
				return pickThinking(ctx, a, ui)
			}
			return Outcome{Status: "thinking: " + marked(llm.OfferedLevels(a.Model()), a.Thinking())}, nil
		},
	}
}

// setThinking sets the wanted level. The outcome says so if the model does not offer it.
func setThinking(ctx context.Context, a *agent.Agent, level string) (Outcome, error) {
	level = strings.ToLower(level)
	if !llm.ValidThinking(level) {
		return Outcome{}, fmt.Errorf("unknown thinking level %q; %s offers %s", level, a.Model().Ref(),
			strings.Join(llm.OfferedLevels(a.Model()), ", "))
	}
	if err := a.SetThinking(ctx, level); err != nil {
		return Outcome{}, err
	}
	if note := a.ThinkingNote(); note != "" {
		return Outcome{Status: note}, nil
	}
	return Outcome{Status: "thinking: " + level}, nil
}

// pickThinking lets the user choose one of the levels that the model offers. If there is
// only one, it says so and does not ask.
func pickThinking(ctx context.Context, a *agent.Agent, ui agent.UI) (Outcome, error) {
	model, current := a.Model(), a.Thinking()
	levels := llm.OfferedLevels(model)
	if len(levels) < 2 {
		return Outcome{Status: onlyLevel(a)}, nil
	}
	choice, ok, err := selectOne(ctx, ui, fmt.Sprintf("Thinking of %s (now %s)", model.Ref(), current), agent.Choices(levels...), agent.DialogOptions{Default: []string{current}})
	if err != nil {
		return Outcome{}, err
	}
	if !ok || !slices.Contains(levels, choice) {
		return unchosen("thinking: still " + current), nil
	}
	return setThinking(ctx, a, choice)
}

// onlyLevel says of a model that offers a single level that there is no choice. One of which
// nobody knows whether it thinks may be told not to.
func onlyLevel(a *agent.Agent) string {
	model := a.Model()
	switch {
	case !llm.AsksOff(model, "off") || a.ThinkingWish() == "off":
		return fmt.Sprintf("thinking: %s; %s offers nothing else", a.Thinking(), model.Ref())
	case a.Models().NoOff(model) != "":
		return fmt.Sprintf("thinking: nobody knows whether %s thinks, and nothing is said to it", model.Ref())
	}
	return fmt.Sprintf("thinking: nobody knows whether %s thinks, and nothing is said to it; /thinking off tells it not to", model.Ref())
}

// marked lists words in one line, the current one in brackets.
func marked(words []string, current string) string {
	var out []string
	for _, w := range words {
		if w == current {
			w = "[" + w + "]"
		}
		out = append(out, w)
	}
	return strings.Join(out, " ")
}

// CycleThinking goes on to the next thinking level and says which that is.
func CycleThinking(ctx context.Context, a *agent.Agent) (Outcome, error) {
	changed, err := a.CycleThinking(ctx)
	if err != nil {
		return Outcome{}, err
	}
	if !changed {
		return Outcome{Status: onlyLevel(a)}, nil
	}
	status := "thinking: " + marked(llm.OfferedLevels(a.Model()), a.Thinking())
	if note := a.ThinkingNote(); note != "" {
		status += "\n" + note
	}
	return Outcome{Status: status}, nil
}
