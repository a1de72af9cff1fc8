package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"pi/agent/llm"
	"pi/cli/app"
	"pi/cli/providers"
	"pi/internal/printable"
	"pi/internal/suggest"
	"pi/luahooks"
	"pi/luahooks/replay"
	"pi/luahooks/trust"
	"pi/session/folder"

	"github.com/spf13/cobra"
)

const hooksReplayHelp = `Runs a hook over recorded sessions and says what it would have done: each prompt
goes through input, what the model saw through context, each tool call through
tool_call, each result through tool_result, each command of the person through
user_bash. Nothing is run, sent or written.

HOOK is a file or the name of a hook, SESSION a file, the beginning of an id, or
a folder of sessions; without one the sessions of this directory are played.
Questions to the person get the answer of somebody who leaves them. The exit
status is 1 if the hook raised an error.`

// replayFlags are those of `pi hooks replay`.
type replayFlags struct {
	all, asJSON bool
	events      []string
	diff        string
}

func hooksReplay(o *app.Options) *cobra.Command {
	var f replayFlags
	c := &cobra.Command{
		Use: "replay HOOK [SESSION...]", Short: "Run a hook over recorded sessions and say what it would have done", Long: hooksReplayHelp,
		ValidArgsFunction: hookAndSessions(o),
		Args:              usageOf(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(args[1:]); err != nil {
				return err
			}
			p, err := here(*o)
			if err != nil {
				return err
			}
			return f.run(cmd.Context(), p, args[0], args[1:])
		},
	}
	c.Flags().BoolVar(&f.all, "all", false, "the sessions of all directories")
	c.Flags().StringSliceVar(&f.events, "event", nil, "only these `EVENTS`, with commas between")
	flagValues(c, "event", listOf(among(eventValues)))
	c.Flags().StringVar(&f.diff, "diff", "", "another version of the hook, a `FILE`: only what the two do differently is told")
	c.Flags().BoolVar(&f.asJSON, "json", false, "as JSON")
	return c
}

// check returns a usage error for flags that do not go together or name no event.
func (f *replayFlags) check(sessions []string) error {
	if f.all && len(sessions) > 0 {
		return app.UsageError{Err: errors.New("hooks replay: either --all or the sessions")}
	}
	for _, name := range f.events {
		if known := replay.Events(); !slices.Contains(known, name) {
			return app.UsageError{Err: fmt.Errorf("hooks replay: --event %s: a recording has no such event%s\nthere are: %s", name, suggest.Hint(name, known), strings.Join(known, ", "))}
		}
	}
	return nil
}

// run replays and prints what the hook would have done.
func (f *replayFlags) run(ctx context.Context, p *app.Place, hook string, sessions []string) error {
	paths, err := recordedSessions(p, sessions, f.all)
	if err != nil {
		return err
	}
	hooks := []string{hook}
	if f.diff != "" {
		hooks = append(hooks, f.diff)
	}
	chain, models, found, err := loadNamed(ctx, p, hooks)
	if err != nil {
		return err
	}
	defer chain.Close(ctx)
	out := &replayOutput{replayFlags: f, hook: replay.NewTally(), other: replay.NewTally()}
	options := replay.Options{Hook: found[0], Events: f.events, Tools: p.ProgramTools(), Models: models}
	if f.diff != "" {
		options.Other = found[1]
	}
	if err := replay.Run(ctx, chain, paths, options, out.add); err != nil {
		return err
	}
	return out.end(hook)
}

// deaf says to which of the events that were asked for a hook does not listen.
func (f *replayFlags) deaf() string {
	switch len(f.events) {
	case 0:
		return "listens to none of " + strings.Join(replay.Events(), ", ")
	case 1:
		return "does not listen to " + f.events[0]
	}
	return "listens to none of " + strings.Join(f.events, ", ")
}

// recordedSessions returns the files of the sessions that refs name, or where there are none,
// of this directory or of all.
// Those that cannot be read there are told.
func recordedSessions(p *app.Place, refs []string, all bool) (paths []string, err error) {
	s := p.Sessions()
	if len(refs) == 0 {
		cwd := p.Cwd
		if all {
			cwd = ""
		}
		return folder.Paths(s.Root, cwd)
	}
	for _, ref := range refs {
		dir := s.Path(ref)
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			below, err := folder.Paths(dir, "")
			if err != nil {
				return nil, err
			}
			paths = append(paths, below...)
			continue
		}
		path, err := s.FindExisting(ref)
		if err != nil {
			return nil, err
		}
		paths = append(paths, path)
	}
	return paths, nil
}

// loadNamed loads the hooks that refs name, by path or by name, and nothing else. It returns
// them as the chain knows them, in the order of refs. A hook of the project that nobody approved
// is an error: it would run.
func loadNamed(ctx context.Context, p *app.Place, refs []string) (chain *luahooks.Chain, models *llm.Models, found []string, err error) {
	for _, ref := range refs {
		path, err := hookFile(p, ref)
		if err != nil {
			return nil, nil, nil, err
		}
		found = append(found, path)
	}
	places, missing := placesOf(p, found)
	if len(missing) > 0 {
		return nil, nil, nil, errors.New(missing[0].Error)
	}
	models = providers.New(p.Config, p.Keys, p.Catalogue.Models)
	chain = p.ChainToReplay(places, models)
	skipped := chain.Load(ctx)
	for _, h := range chain.Hooks() {
		if s := (trust.Source{Name: h.Name, Path: h.Path, Scope: h.Scope}); isUnapproved(p, s) {
			skipped = append(skipped, s)
		}
	}
	if len(skipped) > 0 {
		chain.Close(ctx)
		return nil, nil, nil, fmt.Errorf("%s is not approved, so it does not run here; `pi trust` shows and approves it", printable.VisibleLine(skipped[0].Path))
	}
	return chain, models, found, nil
}

// hookFile returns the path of the hook that a user means: a file, a folder with an init.lua,
// or the name of a hook that a session here would load.
func hookFile(p *app.Place, ref string) (string, error) {
	abs, err := filepath.Abs(ref)
	if err != nil {
		return "", err
	}
	if info, err := os.Stat(abs); err == nil {
		if info.IsDir() {
			abs = filepath.Join(abs, "init.lua")
		}
		return abs, nil
	}
	found := p.Places().Discover(p.Guard)
	var names []string
	for _, s := range slices.Concat(found.Sources, found.Disabled, found.Untrusted) {
		if s.Name == ref {
			return s.Path, nil
		}
		names = append(names, s.Name)
	}
	return "", fmt.Errorf("no hook %q%s", ref, suggest.Hint(ref, names))
}

// replayOutput prints results as they are there, and the counts at the end.
type replayOutput struct {
	*replayFlags
	hook, other replay.Tally
	repeats     replay.Repeats
	listens     bool
	findings    []any // for JSON
	differ      int
	problems    []error
}

// add prints what the hooks did in one session.
func (out *replayOutput) add(r *replay.Result) error {
	if r.Err != nil {
		out.problems = append(out.problems, r.Err)
		return nil
	}
	for _, problem := range r.Problems {
		tell(printable.Short(r.Path) + ": " + problem)
	}
	out.hook.Add(&r.Hook.Tally)
	out.listens = out.listens || r.Hook.Listens || r.Other.Listens
	if out.diff != "" {
		out.other.Add(&r.Other.Tally)
		for _, d := range r.Differences() {
			out.differ++
			out.tell(d, d.Lines()...)
		}
	} else {
		for _, f := range r.Hook.Findings {
			if out.asJSON || !out.repeats.Add(&f) {
				out.tell(f, f.Line())
			}
		}
	}
	if r.Hook.Stopped || r.Other.Stopped {
		return errors.New("the hook did not stop when its time was up; the replay ends here")
	}
	return nil
}

// tell prints lines, or keeps what they stand for until there is all of it.
func (out *replayOutput) tell(finding any, lines ...string) {
	if out.asJSON {
		out.findings = append(out.findings, finding)
		return
	}
	fmt.Println(strings.Join(lines, "\n"))
}

// replayed is the output as JSON.
type replayed struct {
	Findings []any         `json:"findings"` // with --diff: what the hooks do differently
	Hook     replayCounts  `json:"hook"`
	Other    *replayCounts `json:"other,omitempty"`
}

type replayCounts struct {
	Sessions int            `json:"sessions"`
	Events   map[string]int `json:"events"`
	Effects  map[string]int `json:"effects"`
	Undone   map[string]int `json:"undone"`
	Shut     int            `json:"blocked_by_errors"` // the other blocks are in effects
	LeftOut  map[string]int `json:"left_out"`          // events that it was not asked about, as it is too slow at them
	P99      float64        `json:"p99_ms"`
}

func countsOf(t *replay.Tally) *replayCounts {
	return &replayCounts{t.Sessions, t.Events, t.Effects, t.Undone, t.Shut, t.LeftOut, float64(t.P99().Microseconds()) / 1000}
}

// end prints the counts. The error says that a hook raised, or that a session could not be
// read.
func (out *replayOutput) end(hook string) error {
	var err error
	switch {
	case out.asJSON:
		all := replayed{Findings: out.findings, Hook: *countsOf(&out.hook)}
		if all.Findings == nil {
			all.Findings = []any{}
		}
		if out.diff != "" {
			all.Other = countsOf(&out.other)
		}
		err = printJSON(all)
	case out.diff != "":
		fmt.Println("- " + strings.Join(out.hook.Lines(), "\n  "))
		fmt.Println("+ " + strings.Join(out.other.Lines(), "\n  "))
		fmt.Println(printable.Count(out.differ, "difference"))
	default:
		fmt.Println(strings.Join(slices.Concat(out.repeats.Lines(), out.hook.Lines()), "\n"))
	}
	if out.hook.Sessions == 0 && len(out.problems) == 0 {
		tell("no sessions to replay; `pi sessions list --all` shows those of all directories")
	} else if !out.listens && out.hook.Sessions > 0 {
		tell("hook " + hook + " " + out.deaf())
	}
	if len(out.problems) > 0 {
		err = errors.Join(err, app.SessionError{Err: errors.Join(out.problems...)})
	}
	if out.hook.Effects[replay.Raised]+out.other.Effects[replay.Raised] > 0 {
		err = errors.Join(err, app.ErrReported)
	}
	return err
}
