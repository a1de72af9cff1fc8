package command

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"pi/agent"
	"pi/agent/llm"
)

// discoverWait is how long the list of models waits for servers to say what they
// have; those that are there answer at once.
const discoverWait = 1500 * time.Millisecond

func modelCommand(o Options) Command {
	a := o.Agent
	return Command{
		Name: "model", Topic: TopicModel, Args: "[provider/id[:thinking]]", Help: "choose the model, or list what there is",
		More:     "An id or words of one will do, as long as they fit one model only.\nThe list of a terminal also has what local servers say they have.",
		Complete: func(prefix string) []string { return completeRef(a.Models(), prefix) },
		Describe: func(ref string) string { // its window, its prices and its thinking levels
			provider, id, _ := strings.Cut(ref, "/")
			m := a.Models().Find(provider, id)
			if m == nil {
				return ""
			}
			return strings.Join(slices.DeleteFunc(modelFacts(m), func(s string) bool { return s == "" }), " · ")
		},
		Run: func(ctx context.Context, args string) (Outcome, error) {
			switch {
			case args != "":
				return setModel(ctx, a, args)
			case o.UI.HasUI():
				return pickModel(ctx, o)
			}
			return Outcome{Status: listModels(a)}, nil
		},
	}
}

// completeRef lists what prefix can be completed to: the full names of models that can be
// used, whose name or id begins so, or, behind a full name and a colon, its thinking
// levels.
func completeRef(models *llm.Models, prefix string) []string {
	var found []string
	// Behind a full name a level follows; what looks like one may be the beginning of
	// another id.
	ref, level, _ := strings.Cut(prefix, ":")
	provider, id, _ := strings.Cut(ref, "/")
	if m := models.Find(provider, id); m != nil && ref != prefix {
		for _, l := range withPrefix(llm.OfferedLevels(m), level) {
			found = append(found, ref+":"+l)
		}
	}
	for _, m := range models.Available() {
		if strings.HasPrefix(m.Ref(), prefix) || strings.HasPrefix(m.ID, prefix) {
			found = append(found, m.Ref())
		}
	}
	return found
}

// setModel selects the model that ref means, with the thinking level in ref, if it names
// one.
func setModel(ctx context.Context, a *agent.Agent, ref string) (Outcome, error) {
	model, level, err := a.Models().Match(ref)
	if err != nil {
		return Outcome{}, err
	}
	if err := a.Select(ctx, model, level, "set"); err != nil {
		return Outcome{}, err
	}
	return Outcome{Status: chosenModel(a, level != "")}, nil
}

// chosenModel returns what the user is told after a choice: the model with its thinking
// level, and whether it is unknown to its provider, lacks a key, or does not offer the
// level. The last is said only if the model thinks or the user named a level (wished).
func chosenModel(a *agent.Agent, wished bool) string {
	model := a.Model()
	lines := []string{fmt.Sprintf("model: %s:%s", model.Ref(), a.Thinking())}
	if note := a.Models().Unlisted(model); note != "" {
		lines = append(lines, note)
	}
	if note := a.ThinkingNote(); note != "" && (wished || model.Reasoning) {
		lines = append(lines, note)
	}
	if missing := a.Models().KeyMissing(model.Provider); missing != "" {
		lines = append(lines, missing)
	}
	return strings.Join(lines, "\n")
}

// pickModelInLines lets the user choose among the models that can be used.
func pickModelInLines(ctx context.Context, a *agent.Agent, ui agent.UI) (Outcome, error) {
	a.Models().Discover(ctx, discoverWait)
	current := a.Model().Ref()
	models := withCurrent(a)
	choices := make([]agent.Choice, len(models))
	for i, line := range inColumns(models, modelFacts) {
		choices[i] = agent.Choice{Value: models[i].Ref(), Description: line}
	}
	chosen, ok, err := selectOne(ctx, ui, "Model (now "+current+")", choices, agent.DialogOptions{Default: []string{current}})
	if err != nil {
		return Outcome{}, err
	}
	if !ok {
		return unchosen("model: still " + current), nil
	}
	return selectModel(ctx, a, models, chosen), nil
}

// selectModel selects one of models by its name.
func selectModel(ctx context.Context, a *agent.Agent, models []*llm.Model, ref string) Outcome {
	i := slices.IndexFunc(models, func(m *llm.Model) bool { return m.Ref() == ref })
	if i < 0 {
		return Outcome{Status: "model: still " + a.Model().Ref()}
	}
	a.SetModel(ctx, models[i], "set")
	return Outcome{Status: chosenModel(a, false)}
}

// withCurrent lists the models that can be used, and the current one first if it
// is none of them.
func withCurrent(a *agent.Agent) []*llm.Model {
	current, models := a.Model(), a.Models().Available()
	if !slices.ContainsFunc(models, func(m *llm.Model) bool { return m.Ref() == current.Ref() }) {
		models = append([]*llm.Model{current}, models...)
	}
	return models
}

// modelFacts are the context window, the price and the thinking levels of a model.
func modelFacts(m *llm.Model) []string {
	return []string{TokenCount(m.ContextWindow), priceText(m), levelsText(m)}
}

// inColumns returns a line for each model with its cells, padded to columns. A column
// without text takes no room.
func inColumns(models []*llm.Model, cells func(*llm.Model) []string) []string {
	const most = 44 // longer cells push their line out of the columns
	var widths [4]int
	rows := make([][]string, len(models))
	for i, m := range models {
		rows[i] = cells(m)
		for column, cell := range rows[i] {
			widths[column] = max(widths[column], min(len(cell), most))
		}
	}
	lines := make([]string, len(models))
	for i, row := range rows {
		for column, cell := range row {
			if widths[column] > 0 {
				lines[i] += fmt.Sprintf("%-*s  ", widths[column], cell)
			}
		}
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return lines
}

// TokenCount formats a number of tokens in a few characters, such as 200k; "" for 0, which
// means that it is not known.
func TokenCount(n int) string {
	switch {
	case n <= 0:
		return ""
	case n >= 1_000_000:
		return strconv.FormatFloat(float64(n/100_000)/10, 'f', -1, 64) + "M"
	case n >= 1000:
		return strconv.Itoa(n/1000) + "k"
	default:
		return strconv.Itoa(n)
	}
}

// priceText returns the prices of a million tokens, in and out; "" if they are not known.
func priceText(m *llm.Model) string {
	if m.Cost == nil || m.Cost.Input < 0 || m.Cost.Output < 0 {
		return ""
	}
	if m.Cost.Input == 0 && m.Cost.Output == 0 {
		return "free"
	}
	return "$" + shortNumber(m.Cost.Input) + "/$" + shortNumber(m.Cost.Output)
}

func shortNumber(f float64) string { return strconv.FormatFloat(f, 'g', 4, 64) }

// levelsText names the lowest and the highest level of a model that thinks.
func levelsText(m *llm.Model) string {
	levels := slices.DeleteFunc(slices.Clone(m.Levels), func(l string) bool { return l == "off" })
	switch {
	case !m.Reasoning:
		return ""
	case len(levels) == 0:
		return "thinks"
	case len(levels) == 1:
		return "thinks " + levels[0]
	}
	return "thinks " + levels[0] + " to " + levels[len(levels)-1]
}

// listModels prints the models that can be used, the current one marked.
func listModels(a *agent.Agent) string {
	current := a.Model().Ref()
	models := withCurrent(a)
	lines := inColumns(models, func(m *llm.Model) []string { return append([]string{m.Ref()}, modelFacts(m)...) })
	for i, m := range models {
		mark := "  "
		if m.Ref() == current {
			mark = "* "
		}
		lines[i] = mark + lines[i]
	}
	return strings.Join(lines, "\n")
}

// CycleModel chooses another of the models that the settings name: 1 is the next, -1 the one
// before. The outcome says which that is, or why it is still the same one: a run is in
// progress, or there are fewer than two models.
func CycleModel(ctx context.Context, a *agent.Agent, by int) (Outcome, error) {
	switch err := a.CycleModel(ctx, by); {
	case errors.Is(err, agent.ErrNotIdle):
		return Outcome{Status: fmt.Sprintf("model: still %s; there is no going through models while the agent works", a.Model().Ref())}, nil
	case errors.Is(err, agent.ErrFewModels):
		return Outcome{Status: fmt.Sprintf("model: still %s; there are fewer than two models to go through (models in config.toml, else those that have a key)", a.Model().Ref())}, nil
	case err != nil:
		return Outcome{}, err
	}
	return Outcome{Status: chosenModel(a, false)}, nil
}

// pickModel lets the user choose among the models that can be used. Those of local
// servers are added as the servers say what they have.
func pickModel(ctx context.Context, o Options) (Outcome, error) {
	_, panel := OpenList(ctx, o.UI, o.modelView(true))
	if panel == nil {
		return pickModelInLines(ctx, o.Agent, o.UI)
	}
	defer panel.Close()
	asking, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		o.Agent.Models().Discover(asking, discoverWait)
		panel.Show(o.modelView(false))
	}()
	for {
		x, err := panel.Next()
		switch {
		case err != nil:
			return Outcome{}, err
		case x.Key == "":
			return unchosen("model: still " + o.Agent.Model().Ref()), nil
		case x.Row != "":
			out := selectModel(ctx, o.Agent, withCurrent(o.Agent), x.Row)
			if x.Key != keyWrite {
				return out, nil
			}
			file, err := o.Settings.Write("model", x.Row)
			if err == nil {
				out.Status += fmt.Sprintf("\nmodel = %s, written to %s", x.Row, file)
			}
			return out, err
		}
	}
}

// modelView is the list of models as it is now; asking says that servers are being asked.
func (o Options) modelView(asking bool) ListView {
	current := o.Agent.Model().Ref()
	v := ListView{Title: "Model · now " + current, Right: "type to filter", Enter: "choose", Initial: current}
	if asking {
		v.Right = "asking local servers …"
	}
	if o.Settings != nil {
		v.Keys = []ListKey{{keyWrite, "choose, and write to config.toml"}}
	}
	for _, m := range withCurrent(o.Agent) {
		v.Rows = append(v.Rows, Row{ID: m.Ref(), Columns: append([]string{m.Ref()}, modelFacts(m)...), Search: m.Name})
	}
	return v
}

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
