package command

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"pi/agent"
	"pi/internal/printable"
	"pi/session"
)

// treeWays are what can be done with an entry that was picked.
const (
	wayGo      = "go on from there"
	waySummary = "the same, with a summary of what is left behind"
	wayAbout   = "the same, with a summary that looks at something in particular"
	wayLabel   = "label it"
	wayBranch  = "branch off to a new session"
	wayBack    = "back to the tree"
)

func treeCommand(o Options) Command {
	var words []string
	more := []string{"/tree           pick an entry; without a person: print the tree"}
	for _, f := range treeFilters {
		words = append(words, f[0])
		more = append(more, fmt.Sprintf("/tree %-8s  %s", f[0], f[1]))
	}
	more = append(more,
		"/tree TEXT      what has the text in it or in its label",
		"/tree ID        go on from that entry; from one that you sent: from before it",
		"/tree ID summary [about]   the same, and the model sums up what is left behind",
		"> you are here, * on this branch, - leaves it, + is folded: pick it to see more")
	return Command{
		Name: "tree", Args: "[filter|text|id [summary [about]]]", Title: "Move",
		Help: "show the branches of the session, go on from another place", More: strings.Join(more, "\n"),
		Complete: func(prefix string) []string { return withPrefix(words, prefix) },
		Run:      navigator{o}.run,
	}
}

// navigator is the command /tree.
type navigator struct{ Options }

func (t navigator) run(ctx context.Context, args string) (Outcome, error) {
	s := t.Agent.Session()
	ref, rest, _ := strings.Cut(args, " ")
	if len(newTreeFilter(ref).word) == 0 {
		e, err := findEntry(s, ref)
		if err != nil {
			return Outcome{}, err
		}
		word, about, _ := strings.Cut(strings.TrimSpace(rest), " ")
		if e != nil && (word == "" || word == "summary") {
			return t.moveTo(ctx, e.ID, agent.NavigateOptions{Summarize: word != "", Instructions: strings.TrimSpace(about)})
		}
	}
	if len(s.Entries()) == 0 {
		return Outcome{Status: "the session is empty"}, nil
	}
	f := newTreeFilter(args)
	if !t.UI.HasUI() {
		return t.print(s, f)
	}
	return t.pick(ctx, s, f)
}

func (t navigator) print(s *session.Session, f treeFilter) (Outcome, error) {
	rows := newTreeView(s, f).rows(nil)
	if len(rows) == 0 {
		return Outcome{Status: nothingShown(f)}, nil
	}
	lines := make([]string, len(rows))
	for i, row := range rows {
		lines[i] = row.text
	}
	return Outcome{Status: strings.Join(lines, "\n")}, nil
}

func nothingShown(f treeFilter) string {
	if f.search != "" {
		return fmt.Sprintf("no entry has %q in it; /tree all lists them", f.search)
	}
	return "no entry is shown with the filter " + f.word + "; /tree all lists them"
}

// canceller is a UI on which the person can cancel what takes a while.
type canceller interface {
	Cancellable(ctx context.Context, doing string, do func(context.Context))
}

// moveTo moves the leaf to an entry and says where the conversation is now.
func (t navigator) moveTo(ctx context.Context, id string, o agent.NavigateOptions) (_ Outcome, err error) {
	var m agent.Moved
	move := func(ctx context.Context) { m, err = t.Agent.Navigate(ctx, id, o) }
	if ui, ok := t.UI.(canceller); ok && o.Summarize {
		ui.Cancellable(ctx, "summing up", move)
	} else {
		move(ctx)
	}
	if errors.Is(err, agent.ErrAborted) {
		return Outcome{}, errors.New("interrupted; nothing has moved")
	}
	word := "moved"
	switch {
	case m.Stayed:
		word = "you are there already"
	case m.Summary != nil:
		word = "moved, with a summary of what was left"
	case o.Summarize:
		word = "moved; nothing was left that could be summed up"
	}
	return moved(t.Agent, m, word), err
}

// moved is the outcome of a move of the leaf.
func moved(a *agent.Agent, m agent.Moved, word string) Outcome {
	s, text := a.Session(), word+": the conversation is empty here"
	if e := lastMessage(s.Path(m.Leaf)); e != nil {
		line, _ := entryText(e, true)
		text = fmt.Sprintf("%s: the conversation (%s) ends with %s", word, printable.Count(len(s.Context()), "message"), line)
	}
	return recalled(text, m.Recalled)
}

// recalled gives back what was sent once.
func recalled(status string, r agent.Recalled) Outcome {
	if r.Attachments > 0 {
		status += "\n" + printable.Count(r.Attachments, "attachment") + " went with that prompt: what its text names with @ goes along again, the rest has to be attached again"
	}
	return Outcome{Status: status, Draft: r.Text}
}
