package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"pi/agent"
	"pi/internal/printable"
	"pi/session"
	"pi/session/folder"
)

// pageSize is how many sessions are read before the user is asked; with what
// else can be chosen they fill the list that a terminal shows at once.
const (
	pageSize = 27
	nextPage = 10 * pageSize
)

// The lines of the list of sessions that are no session.
const (
	chooseMore   = "… more, older ones"
	chooseAll    = "… those of all directories"
	chooseHere   = "… only those of this directory"
	chooseRemove = "… delete one of these"
)

const pickTitle = "Session to go on with (at the end of the list: older ones, all directories, delete)"

// sessionPicker is the list that a user picks a session from. It is read as
// far as somebody wants to see it.
type sessionPicker struct {
	resumer
	all   bool
	next  func() (folder.Info, error, bool)
	stop  func()
	infos []folder.Info
	ended bool // there are no more
}

// pickInLines shows the list of sessions until the user opens one or leaves the list. They
// may also ask for more sessions, or those of all directories, or delete one.
func (r resumer) pickInLines(ctx context.Context) (Outcome, error) {
	p := &sessionPicker{resumer: r}
	p.begin(false)
	defer func() { p.stop() }()
	for {
		info, action, err := p.choose(ctx, pickTitle)
		switch {
		case err != nil:
			return Outcome{}, err
		case info != nil:
			return r.open(ctx, info.Path)
		case action == chooseRemove:
			err = p.remove(ctx)
		case slices.Contains(p.actions(), action):
			p.do(action)
		case len(p.infos) == 0:
			return Outcome{Status: nothingToResume}, nil
		default:
			return r.stays(), nil
		}
		if err != nil {
			return Outcome{}, err
		}
	}
}

// begin starts the list over: with the first page of the sessions of this directory or,
// with all, of every directory. p.stop ends the reading of it.
func (p *sessionPicker) begin(all bool) {
	if p.stop != nil {
		p.stop()
	}
	p.all, p.infos, p.ended = all, nil, false
	p.next, p.stop = iter.Pull2(p.others(all))
	p.read(pageSize)
}

// read reads up to n further sessions into the list. Those that cannot be read are shown
// to the user as warnings.
func (p *sessionPicker) read(n int) {
	for want := len(p.infos) + n; len(p.infos) < want; {
		info, err, ok := p.next()
		switch {
		case !ok:
			p.ended = true
			return
		case err != nil:
			p.UI.Notify(err.Error(), agent.LevelWarning)
		default:
			p.infos = append(p.infos, info)
		}
	}
}

// do changes what is listed: more sessions, or those of all directories or of this one.
func (p *sessionPicker) do(action string) {
	switch action {
	case chooseMore:
		p.read(nextPage)
	case chooseAll:
		p.begin(true)
	case chooseHere:
		p.begin(false)
	}
}

// actions returns the lines of the list that are no sessions, as they apply now: show
// more, show other directories, delete one.
func (p *sessionPicker) actions() (words []string) {
	if !p.ended {
		words = append(words, chooseMore)
	}
	if p.all {
		words = append(words, chooseHere)
	} else {
		words = append(words, chooseAll)
	}
	if len(p.infos) > 0 {
		words = append(words, chooseRemove)
	}
	return words
}

// choices returns the sessions that were read, by their paths.
func (p *sessionPicker) choices() []agent.Choice {
	choices, now := make([]agent.Choice, len(p.infos)), time.Now()
	for i, info := range p.infos {
		choices[i] = agent.Choice{Value: info.Path, Label: pickLine(info, now, p.all)}
	}
	return choices
}

// find returns the position of the session at path; -1: there is none.
func (p *sessionPicker) find(path string) int {
	return slices.IndexFunc(p.infos, func(i folder.Info) bool { return i.Path == path })
}

// choose lets the user pick a line of the list. It returns the session, or the action
// that they picked; neither if they left the list.
func (p *sessionPicker) choose(ctx context.Context, title string) (info *folder.Info, action string, err error) {
	choices := p.choices()
	for _, action := range p.actions() {
		choices = append(choices, agent.Choice{Value: action, Further: true})
	}
	choice, ok, err := selectOne(ctx, p.UI, title, choices, agent.DialogOptions{})
	if err != nil || !ok {
		return nil, "", err
	}
	if i := p.find(choice); i >= 0 {
		return &p.infos[i], "", nil
	}
	return nil, choice, nil
}

// remove lets the user pick a session and deletes it after a question. A failure is
// shown, and the list goes on; the error ends it.
func (p *sessionPicker) remove(ctx context.Context) error {
	choice, ok, err := selectOne(ctx, p.UI, "Session to delete", p.choices(), agent.DialogOptions{})
	i := p.find(choice)
	if err != nil || !ok || i < 0 {
		return err
	}
	out, _, err := p.removeInfo(ctx, p.infos[i])
	if err != nil {
		p.UI.Notify(err.Error(), agent.LevelError)
		return ctx.Err()
	}
	p.UI.Notify(out.Status, agent.LevelInfo)
	p.begin(p.all)
	return nil
}

// removeNamed deletes the session that ref names.
func (r resumer) removeNamed(ctx context.Context, ref string) (Outcome, error) {
	path, err := r.existing(ref)
	if err != nil {
		return Outcome{}, err
	}
	info, err := folder.Describe(path)
	if err != nil {
		return Outcome{}, err
	}
	if !r.UI.HasUI() {
		return Outcome{}, errors.New("deleting a session is asked about, and there is nobody to answer: `pi sessions rm --yes ID` deletes it without")
	}
	out, _, err := r.removeInfo(ctx, info)
	return out, err
}

// removeInfo deletes a session if the user agrees: it moves it to the trash, or, where
// that is not possible, deletes it for good after another question. The current session is
// refused. gone is false if the session is still there.
func (r resumer) removeInfo(ctx context.Context, info folder.Info) (out Outcome, gone bool, err error) {
	if info.ID == r.Agent.Session().ID() {
		return Outcome{}, false, errors.New("session " + info.ID + " is the current one")
	}
	kept := Outcome{Status: "session " + info.ID + " stays"}
	if answer, err := r.UI.Confirm(ctx, "Move this session to the trash?", pickLine(info, time.Now(), true), agent.DialogOptions{}); err != nil || answer == agent.No {
		return kept, false, err
	}
	to, err := r.store.Remove(info.Path, false)
	if none, ok := errors.AsType[*folder.NoTrashError](err); ok {
		if answer, err := r.UI.Confirm(ctx, "Delete it for good?", none.Error(), agent.DialogOptions{}); err != nil || answer == agent.No {
			return kept, false, err
		}
		to, err = r.store.Remove(info.Path, true)
	}
	switch {
	case err != nil:
		return Outcome{}, false, err
	case to == "":
		return Outcome{Status: "deleted session " + info.ID + " for good"}, true, nil
	}
	return Outcome{Status: "session " + info.ID + " is in the trash: " + to}, true, nil
}

// pickLine returns the line of a list to pick a session from: first what people know it by
// (name, first prompt), and last its id, which makes the line unique. where adds the
// directory in which it was started.
func pickLine(i folder.Info, now time.Time, where bool) string {
	parts := []string{Title(i)}
	if i.Name != "" && i.FirstPrompt != "" {
		parts = append(parts, printable.FirstLine(i.FirstPrompt, titleLength))
	}
	parts = append(parts, age(i.Modified, now), printable.Count(i.Messages, "message"), printable.Size(i.Size))
	if i.Branch != "" {
		parts = append(parts, ShortBranch(i))
	}
	if where {
		parts = append(parts, printable.Cut(i.Cwd, titleLength))
	}
	return strings.Join(append(parts, i.ID), " · ")
}

// shortAge is age in as few letters as a column wants.
func shortAge(t, now time.Time) string {
	d := now.Sub(t)
	switch {
	case d < time.Minute:
		return "0 min"
	case d < time.Hour:
		return fmt.Sprintf("%d min", d/time.Minute)
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", d/time.Hour)
	case d < 14*24*time.Hour:
		return fmt.Sprintf("%d d", d/(24*time.Hour))
	}
	return t.Local().Format(time.DateOnly)
}

// age returns in words how long before now t was, or its date after two weeks.
func age(t, now time.Time) string {
	d := now.Sub(t)
	switch {
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return fmt.Sprintf("%d min ago", d/time.Minute)
	case d < 24*time.Hour:
		return fmt.Sprintf("%d h ago", d/time.Hour)
	case d < 14*24*time.Hour:
		return fmt.Sprintf("%d d ago", d/(24*time.Hour))
	}
	return t.Local().Format(time.DateOnly)
}

// ShortID returns the beginning of a session id, which is long enough to find the session
// by.
func ShortID(id string) string { return id[:min(len(id), 13)] }

// ShortBranch returns the branch of git that a session was on last, as far as a list has
// room for it; "" if it was on none.
func ShortBranch(i folder.Info) string { return printable.Cut(printable.Line(i.Branch), 24) }

// BusyRow says in one row of a window which session another process has, who that is, and
// since when, as far as that is known.
func BusyRow(busy *session.BusyError, now time.Time) string {
	row := "the session"
	if info, err := folder.Describe(busy.Path); err == nil {
		row = cmp.Or(printable.Cut(Title(info), 22), ShortID(info.ID))
	}
	row += ": in use by another process"
	if busy.PID != 0 {
		row = strings.TrimSuffix(row, "another process") + fmt.Sprintf("process %d", busy.PID)
	}
	if busy.Host != "" {
		row += " on " + printable.Cut(busy.Host, 10)
	}
	if since := busy.Since.Local(); !busy.Since.IsZero() {
		layout := time.DateOnly
		if since.Format(layout) == now.Local().Format(layout) {
			layout = "15:04"
		}
		row += " since " + since.Format(layout)
	}
	return printable.Line(row)
}

// titleLength is as much of a first prompt as a list has room for.
const titleLength = 60

// Title returns the name of a session or, without one, the beginning of its first prompt,
// marked if the session is a copy of another. That of an agent has its parent for another reason.
func Title(info folder.Info) string {
	text := printable.FirstLine(cmp.Or(info.Name, info.FirstPrompt), titleLength)
	if info.Parent != "" && !info.Agent.IsSet() {
		return "(a copy) " + text
	}
	return text
}

const (
	mostRecent = 100             // sessions that are known by their names
	recentTime = 5 * time.Second // for which what was read of them counts
)

// recentSessions are the sessions of this directory that were written last, for completion:
// they are read once for the keys that are typed one after the other. Any goroutine may
// use it.
type recentSessions struct {
	read func(all bool) iter.Seq2[folder.Info, error]

	mu    sync.Mutex
	at    time.Time
	infos []folder.Info
}

func (r *recentSessions) all() []folder.Info {
	r.mu.Lock()
	defer r.mu.Unlock()
	if time.Since(r.at) < recentTime {
		return r.infos
	}
	r.infos = nil
	for info, err := range r.read(false) {
		if err == nil {
			r.infos = append(r.infos, info)
		}
		if len(r.infos) == mostRecent {
			break
		}
	}
	r.at = time.Now()
	return r.infos
}

// names are the names that people gave to sessions.
func (r *recentSessions) names() (names []string) {
	for _, info := range r.all() {
		if name := printable.Line(info.Name); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// describe returns what a session is about, of an id, and how old it is.
func (r *recentSessions) describe(candidate string) string {
	all := r.all()
	i := slices.IndexFunc(all, func(info folder.Info) bool {
		return candidate == info.ID || candidate == printable.Line(info.Name)
	})
	if i < 0 {
		return ""
	}
	words := age(all[i].Modified, time.Now()) + " · " + printable.Count(all[i].Messages, "message")
	if candidate == all[i].ID {
		return Title(all[i]) + " · " + words
	}
	return words
}
