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

// branchHere names the end of the conversation.
const branchHere = "here"

// branchCommand returns /branch, which leaves the session and goes on in a new one that
// has a part of it.
func branchCommand(o Options) Command {
	return Command{
		Name: "branch", Topic: TopicBranches, Aliases: []string{"fork"}, Args: "[id|here]", Title: "Branch",
		Help: "go on in a new session, from an earlier prompt or from here",
		More: "/branch        pick one of your prompts; without a person: list them\n" +
			"/branch ID     the new session has what was before that prompt, which is in the line again;\n" +
			"               of another entry: everything up to and with it\n" +
			"/branch here   it has all of this branch\n" +
			"This session stays as it is; the new one names it as its parent. /tree moves inside of one session.",
		Run: func(ctx context.Context, args string) (Outcome, error) {
			s := o.Agent.Session()
			switch {
			case args == branchHere && s.Leaf() == "":
				return Outcome{Status: "the session is empty: there is nothing to branch off"}, nil
			case args == branchHere:
				return branchTo(ctx, o.Agent, s.Leaf())
			case args != "":
				e, err := needEntry(s, args)
				if err != nil {
					return Outcome{}, err
				}
				return branchTo(ctx, o.Agent, e.ID)
			}
			return pickBranch(ctx, o, s)
		},
	}
}

// branchTo goes on in a new session that has the branch up to the entry id, and gives back
// the prompt that was cut off there, if one was. If the agent stays in the session, only
// the error is returned.
func branchTo(ctx context.Context, a *agent.Agent, id string) (Outcome, error) {
	left := a.Session()
	r, err := a.Branch(ctx, id)
	s := a.Session()
	if s == left {
		return Outcome{}, err
	}
	status := fmt.Sprintf("session %s, %s, branched off %s", s.ID(), printable.Count(len(s.Context()), "message"), left.ID())
	return recalled(status, r), err
}

// pickBranch lets the user choose one of the prompts of the branch, the newest
// first, or all of it.
func pickBranch(ctx context.Context, o Options, s *session.Session) (Outcome, error) {
	choices := []agent.Choice{{Value: s.Leaf(), Label: branchHere + ", with all that was said"}}
	var lines []string
	path := s.Branch()
	for i := len(path) - 1; i >= 0; i-- {
		if text, kind := entryText(path[i], false); kind == kindUser {
			choices = append(choices, agent.Choice{Value: path[i].ID, Label: text, Description: path[i].ID})
			lines = append(lines, path[i].ID+"  "+text)
		}
	}
	if len(lines) == 0 {
		return Outcome{Status: "no prompt on this branch yet"}, nil
	}
	if !o.UI.HasUI() {
		return Outcome{Status: strings.Join(lines, "\n")}, nil
	}
	id, ok, err := selectOne(ctx, o.UI, "Branch off before which prompt?", choices, agent.DialogOptions{})
	if ok && err == nil {
		return branchTo(ctx, o.Agent, id)
	}
	return o.stays(), err
}

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

// navigator is the command /tree.
type navigator struct{ Options }

// nothingShown says that the filter leaves no entry to show.
func nothingShown(f treeFilter) string {
	if f.search != "" {
		return fmt.Sprintf("no entry has %q in it; /tree all lists them", f.search)
	}
	return "no entry is shown with the filter " + f.word + "; /tree all lists them"
}

// canceller is a UI on which the user can cancel what takes a while.
type canceller interface {
	Cancellable(ctx context.Context, doing string, do func(context.Context))
}

// moveTo moves the leaf to an entry, so that the conversation goes on from there, and says
// with which message it ends now. Where the UI can, the user may cancel while the model
// writes a summary.
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

// moved returns the outcome of a move of the leaf: word, the message that the conversation
// ends with now, and the prompt that was taken back, if one was.
func moved(a *agent.Agent, m agent.Moved, word string) Outcome {
	s, text := a.Session(), word+": the conversation is empty here"
	if e := lastMessage(s.Path(m.Leaf)); e != nil {
		line, _ := entryText(e, true)
		text = fmt.Sprintf("%s: the conversation (%s) ends with %s", word, printable.Count(len(s.Context()), "message"), line)
	}
	return recalled(text, m.Recalled)
}

// recalled returns an outcome that gives back a prompt that was sent once, as a draft to
// edit. Its attachments are not given back; the status says so.
func recalled(status string, r agent.Recalled) Outcome {
	if r.Attachments > 0 {
		status += "\n" + printable.Count(r.Attachments, "attachment") + " went with that prompt: what goes along again is told when it is sent, the rest has to be attached again"
	}
	return Outcome{Status: status, Draft: r.Text}
}

// lastMessage returns the last entry of path that is a message; nil if there is none.
func lastMessage(path []*session.Entry) *session.Entry {
	for i := len(path) - 1; i >= 0; i-- {
		if path[i].Message() != nil {
			return path[i]
		}
	}
	return nil
}

// shortestRef is how much of an id a user has to write.
const shortestRef = 4

// findEntry returns the entry whose id is ref or, if ref has at least shortestRef letters,
// begins with it; nil if there is none. If several begin so, that is an error.
func findEntry(s *session.Session, ref string) (*session.Entry, error) {
	if e := s.Entry(ref); e != nil || len(ref) < shortestRef {
		return e, nil
	}
	var found []*session.Entry
	for _, e := range s.Entries() {
		if strings.HasPrefix(e.ID, ref) {
			found = append(found, e)
		}
	}
	switch len(found) {
	case 0:
		return nil, nil
	case 1:
		return found[0], nil
	}
	return nil, fmt.Errorf("%q is the beginning of %d ids, such as %s and %s: write more of it", ref, len(found), found[0].ID, found[1].ID)
}

// needEntry is findEntry, but it is an error if there is no such entry.
func needEntry(s *session.Session, ref string) (*session.Entry, error) {
	e, err := findEntry(s, ref)
	if e == nil && err == nil {
		err = fmt.Errorf("no entry %q in this session; /tree all lists them", ref)
	}
	return e, err
}
