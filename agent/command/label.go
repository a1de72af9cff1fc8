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

func labelCommand(a *agent.Agent) Command {
	return Command{
		Name: "label", Topic: TopicBranches, Args: "[id] [text]", Help: "name a place of the session, or list the names",
		More: "/label           list the labels\n" +
			"/label TEXT      name the last message\n" +
			"/label ID TEXT   name that entry; /tree shows ids, of which four letters will do\n" +
			"/label ID        take its name away",
		Run: func(ctx context.Context, args string) (Outcome, error) {
			s := a.Session()
			if args == "" {
				return Outcome{Status: labelList(s)}, nil
			}
			ref, text, _ := strings.Cut(args, " ")
			e, err := findEntry(s, ref)
			if err != nil {
				return Outcome{}, err
			}
			if e != nil {
				return setLabel(ctx, a, s, e.ID, strings.TrimSpace(text))
			}
			if e = lastMessage(s.Branch()); e == nil {
				return Outcome{}, errors.New("there is no message yet to give a label to")
			}
			return setLabel(ctx, a, s, e.ID, args)
		},
	}
}

// labelList lists the entries that have a label, one a line.
func labelList(s *session.Session) string {
	names := s.Labels()
	var lines []string
	for _, e := range s.Entries() {
		if name := names[e.ID]; name != "" {
			text, _ := entryText(e, true)
			lines = append(lines, fmt.Sprintf("%s  [%s]  %s", e.ID, printable.Cut(name, titleLength), text))
		}
	}
	if len(lines) == 0 {
		return "no entry has a label"
	}
	return strings.Join(lines, "\n")
}

// setLabel names an entry, and has it saved.
func setLabel(ctx context.Context, a *agent.Agent, s *session.Session, id, name string) (Outcome, error) {
	name = strings.TrimSpace(name)
	if name == "" && s.Labels()[id] == "" {
		return Outcome{Status: id + " has no label"}, nil
	}
	if err := a.SetLabel(ctx, id, name); err != nil {
		return Outcome{}, err
	}
	text, _ := entryText(s.Entry(id), true)
	status := fmt.Sprintf("label %q: %s", name, text)
	if name == "" {
		status = "no label any more: " + text
	}
	return Outcome{Status: status}, s.Flush()
}
