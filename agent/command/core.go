package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"strings"

	"pi/agent"
	"pi/internal/printable"
	"pi/session"
	"pi/session/compaction"
	"pi/session/folder"
	"pi/session/message"
)

// Core returns the commands that every front end has.
func Core(o Options) []Command {
	if o.UI == nil {
		o.UI = agent.NoUI{}
	}
	commands := []Command{modelCommand(o), thinkingCommand(o.Agent, o.UI), modeCommand(o.Agent, o.UI), newCommand(o)}
	if o.Sessions != nil {
		commands = append(commands, resumeCommand(o))
	}
	commands = append(commands, branchCommand(o), treeCommand(o), labelCommand(o.Agent), undoCommand(o.Agent), redoCommand(o.Agent),
		compactCommand(o.Agent), uncompactCommand(o.Agent))
	if o.Settings != nil {
		commands = append(commands, settingsCommand(o.Settings, o.UI))
	}
	if o.Copy != nil {
		commands = append(commands, copyCommand(o.Agent, o.Copy))
	}
	commands = append(commands, nameCommand(o.Agent), sessionCommand(o.Agent), contextCommand(o), exportCommand(o.Agent), toolsCommand(o.Agent))
	if o.Prompts != nil {
		commands = append(commands, skillsCommand(o.Prompts))
	}
	if o.Agents != nil {
		commands = append(commands, agentsCommand(o.Agents, o.UI))
	}
	return commands
}

// Options are what the commands work on.
type Options struct {
	Agent *agent.Agent
	UI    agent.UI // asked for what a user has to choose; without a user, as with nil, the choices are listed

	Blocks bool // bars may be drawn with block characters

	Sessions *Sessions // nil: there is no /resume
	Settings *Settings // nil: there is no /settings
	Prompts  *Prompts  // nil: there is no /skills
	Agents   *Agents   // nil: there is no /agents

	// Copy copies a text to the user's clipboard and returns the way that it went;
	// nil: there is no /copy.
	Copy func(ctx context.Context, text string) (way string, err error)
	// KnowsType reports whether entries of a type are those of a hook; nil: none are.
	KnowsType func(typ string) bool
}

// Sessions is the place where sessions are kept, as /resume needs it.
type Sessions struct {
	// Scan yields the sessions of this directory, or of all, newest first.
	Scan func(all bool) iter.Seq2[folder.Info, error]
	// ScanWords is Scan with the words that each session is found by.
	ScanWords func(all bool) iter.Seq2[folder.Info, error]
	// IDs returns ids that begin with prefix, of this directory.
	IDs func(prefix string) []string
	// Find returns the path of the session that a user names by its id, the
	// beginning of it, or a path. It is there, else the error is a
	// *folder.NotFoundError.
	Find func(ref string) (path string, err error)
	// Open is session.OpenAs with the options of the program.
	Open func(ctx context.Context, path string, as session.Access, waiting func(*session.BusyError)) (*session.Session, error)
	// Remove moves a session to the trash and says where it is, or deletes it for
	// good; the error is a *folder.NoTrashError if there is no trash for it.
	Remove func(path string, forGood bool) (to string, err error)
}

// withoutArgument returns the Run function of a command that takes no arguments: with one
// it fails, because whoever gives one means something else.
func withoutArgument(name string, run func(context.Context) (Outcome, error)) func(context.Context, string) (Outcome, error) {
	return func(ctx context.Context, args string) (Outcome, error) {
		if args != "" {
			return Outcome{}, fmt.Errorf("/%s takes no argument", name)
		}
		return run(ctx)
	}
}

// selectOne lets the user choose one of choices. It returns its value; ok is false if
// they chose none.
func selectOne(ctx context.Context, ui agent.UI, title string, choices []agent.Choice, o agent.DialogOptions) (value string, ok bool, err error) {
	values, ok, err := ui.Select(ctx, title, choices, o)
	if err != nil || !ok || len(values) != 1 {
		return "", false, err
	}
	return values[0], true, nil
}

func newCommand(o Options) Command {
	return Command{
		Name: "new", Topic: TopicSession, Aliases: []string{"clear"}, Help: "leave this session and start an empty one", Title: "New session",
		Run: withoutArgument("new", func(ctx context.Context) (Outcome, error) {
			if leave, err := o.mayLeave(ctx); err != nil || !leave {
				return o.stays(), err
			}
			return o.beginNew(ctx)
		}),
	}
}

// beginNew leaves the session for an empty one.
func (o Options) beginNew(ctx context.Context) (Outcome, error) {
	left := o.Agent.Session()
	if err := o.Agent.NewSession(ctx, agent.NewSessionOptions{}); err != nil {
		return Outcome{}, err
	}
	status := "new session " + o.Agent.Session().ID()
	if left.File() != "" {
		status += ", left " + left.ID()
	}
	return Outcome{Status: status}, nil
}

// mayLeave reports whether the session may be left. If a part of it could not be saved and
// would be lost, the user is asked; where nobody can be asked, the answer is yes.
func (o Options) mayLeave(ctx context.Context) (bool, error) {
	s := o.Agent.Session()
	err := s.Sync()
	if err == nil {
		err = s.Unsaved()
	}
	if err == nil || !o.UI.HasUI() {
		return true, nil
	}
	answer, err := o.UI.Confirm(ctx, "Part of this session is only in memory. Leave it, and lose that?",
		err.Error()+"\n/export FILE writes all of it elsewhere", agent.DialogOptions{})
	return answer == agent.Yes, err
}

// stays says that the session is the same as before.
func (o Options) stays() Outcome {
	s := o.Agent.Session()
	if len(s.Entries()) == 0 {
		return unchosen("session: still " + s.ID() + ", a new one")
	}
	return unchosen("session: still " + s.ID())
}

func toolsCommand(a *agent.Agent) Command {
	return Command{
		Name: "tools", Topic: TopicModel, Help: "list the active tools, and what they say of what they do",
		Run: func(context.Context, string) (Outcome, error) {
			var lines []string
			width := 0
			for _, t := range a.Tools() {
				width = max(width, len(t.Spec().Name))
			}
			for _, t := range a.Tools() {
				spec := t.Spec()
				line, _, _ := strings.Cut(cmp.Or(spec.Snippet, spec.Description), "\n")
				if says := agent.AnnotationsOf(t).String(); says != "" {
					line += " (" + says + ")"
				}
				lines = append(lines, fmt.Sprintf("%-*s  %s", width, spec.Name, line))
			}
			if len(lines) == 0 {
				return Outcome{Status: "no tools are active"}, nil
			}
			return Outcome{Status: strings.Join(lines, "\n")}, nil
		},
	}
}

func undoCommand(a *agent.Agent) Command {
	return Command{
		Name: "undo", Topic: TopicBranches, Args: "[n]", Help: "go back to before your last prompt, or the n-th last; files stay as they are",
		Run: func(ctx context.Context, args string) (Outcome, error) {
			n := 1
			if args != "" {
				var err error
				if n, err = strconv.Atoi(args); err != nil || n < 1 {
					return Outcome{}, fmt.Errorf("how many prompts to go back is a number from 1, not %q", args)
				}
			}
			m, err := a.Undo(ctx, n)
			if errors.Is(err, agent.ErrNothingToUndo) {
				return Outcome{Status: "nothing to undo: no prompt on this branch"}, nil
			}
			return moved(a, m, "undone (/redo takes it back)"), err
		},
	}
}

func redoCommand(a *agent.Agent) Command {
	return Command{
		Name: "redo", Topic: TopicBranches, Help: "take the last /undo back",
		Run: withoutArgument("redo", func(ctx context.Context) (Outcome, error) {
			m, err := a.Redo(ctx)
			if errors.Is(err, agent.ErrNothingToRedo) {
				return Outcome{Status: "nothing to redo: nothing was undone since the last message"}, nil
			}
			return moved(a, m, "redone"), err
		}),
	}
}

func nameCommand(a *agent.Agent) Command {
	return Command{
		Name: "name", Topic: TopicSession, Args: "[text]", Help: "show or set the name of the session",
		Run: func(ctx context.Context, args string) (Outcome, error) {
			if args == "" {
				if name := a.Session().Name(); name != "" {
					return Outcome{Status: "name: " + name}, nil
				}
				return Outcome{Status: "the session has no name"}, nil
			}
			args = strings.Join(strings.FieldsFunc(args, func(r rune) bool { return r == '\n' || r == '\r' }), " ") // lists have a row for it
			if err := a.SetSessionName(ctx, args); err != nil {
				return Outcome{}, err
			}
			return Outcome{Status: "name: " + args}, a.Session().Flush()
		},
	}
}

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

func compactCommand(a *agent.Agent) Command {
	return Command{
		Name: "compact", Topic: TopicSession, Args: "[instructions]", Help: "put a summary in the place of the conversation so far", Title: "Compaction",
		Run: func(ctx context.Context, args string) (Outcome, error) {
			o := agent.CompactOptions{Instructions: args, IfSmaller: true}
			done, err := a.Compact(ctx, o)
			switch {
			case errors.Is(err, agent.ErrNotIdle):
				return compactLater(ctx, a, o), nil
			case errors.Is(err, compaction.ErrNothingToCompact):
				return Outcome{Status: "nothing to compact: the conversation is short enough as it is"}, nil
			case errors.Is(err, compaction.ErrJustCompacted):
				return Outcome{Status: "nothing to compact: nothing was said since the last compaction"}, nil
			case errors.Is(err, compaction.ErrNotSmaller):
				return Outcome{Status: err.Error()}, nil
			case done == nil:
				return Outcome{}, err
			}
			return Outcome{Status: done.String()}, err
		},
	}
}

// compactLater leaves the compaction to the run in progress and says so. The user is
// told later if it fails.
func compactLater(ctx context.Context, a *agent.Agent, o agent.CompactOptions) Outcome {
	ctx = context.WithoutCancel(ctx)
	status := "the context is compacted before the next request, or at the end of the work"
	a.RequestCompact(o, func(done *agent.Compacted, err error) {
		switch {
		case errors.Is(err, agent.ErrCompactionWaits):
			status = err.Error()
		case done == nil:
			a.Notify(ctx, agent.LevelWarning, fmt.Sprintf("/compact: %v", err))
		}
	})
	return Outcome{Status: status}
}

func uncompactCommand(a *agent.Agent) Command {
	return Command{
		Name: "uncompact", Topic: TopicSession, Help: "go back to before the last compaction",
		Run: withoutArgument("uncompact", func(ctx context.Context) (Outcome, error) {
			undone, err := a.Uncompact(ctx)
			switch {
			case errors.Is(err, agent.ErrNotCompacted):
				return Outcome{Status: "nothing to undo: this branch has no compaction"}, nil
			case undone == nil:
				return Outcome{}, err
			}
			return Outcome{Status: undone.String()}, err
		}),
	}
}

// copyCommand returns /copy, which gives the last answer or one of its code blocks to
// toClipboard; that returns the way it went.
func copyCommand(a *agent.Agent, toClipboard func(ctx context.Context, text string) (way string, err error)) Command {
	return Command{
		Name: "copy", Topic: TopicSession, Args: "[n]", Help: "copy the last answer, or its n-th code block, to the clipboard",
		More: "What is copied is the text as the model wrote it, not as it is drawn.",
		Run: func(ctx context.Context, args string) (Outcome, error) {
			text, what, err := TextToCopy(a.Session().Branch(), args)
			if err != nil {
				return Outcome{}, err
			}
			lines := strings.Count(strings.TrimSuffix(text, "\n"), "\n") + 1
			way, err := toClipboard(ctx, text)
			if err != nil {
				return Outcome{}, err
			}
			return Outcome{Status: fmt.Sprintf("copied %s: %s, %s (%s)", what, printable.Count(lines, "line"), printable.Size(int64(len(text))), way)}, nil
		},
	}
}

// TextToCopy returns the text of the last answer on a branch, or, if which is a number, that
// of its code block with this number, which count from 1; what says in words which it is.
func TextToCopy(branch []*session.Entry, which string) (text, what string, err error) {
	answer := lastAnswer(branch)
	if answer == "" {
		return "", "", errors.New("copy: there is no answer yet")
	}
	if which == "" {
		return answer, "the last answer", nil
	}
	n, err := strconv.Atoi(which)
	if err != nil || n < 1 {
		return "", "", fmt.Errorf("copy: %q is not the number of a code block; they count from 1", printable.Short(which))
	}
	blocks := message.CodeBlocks(answer)
	if n > len(blocks) {
		return "", "", fmt.Errorf("copy: the last answer has %s", printable.Count(len(blocks), "code block"))
	}
	return blocks[n-1], fmt.Sprintf("code block %d of %d", n, len(blocks)), nil
}

// lastAnswer returns the text of the last message of the model that has one.
func lastAnswer(branch []*session.Entry) string {
	for i := len(branch) - 1; i >= 0; i-- {
		if m := branch[i].Message(); m != nil && m.Role == message.RoleAssistant && strings.TrimSpace(m.Text()) != "" {
			return m.Text()
		}
	}
	return ""
}
