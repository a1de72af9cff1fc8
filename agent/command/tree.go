package command

import (
	"context"
	"fmt"
	"strings"

	"pi/agent"
	"pi/session"
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
		Name: "tree", Topic: TopicBranches, Args: "[filter|text|id [summary [about]]]", Title: "Move",
		Help: "show the branches of the session, go on from another place", More: strings.Join(more, "\n"),
		Complete: func(prefix string) []string { return withPrefix(words, prefix) },
		Run:      navigator{o}.run,
	}
}

// run moves to the entry that args names, with a summary of the branch that is left if
// "summary" and perhaps what it is to be about follow. Other args are the name of a
// filter or a text to search for: the entries that fit are shown as a tree, a list to pick
// from, or a text where nobody can pick.
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

// print returns the whole tree as text, for a front end where nobody can pick.
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
