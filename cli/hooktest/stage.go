package hooktest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"pi/agent"
	"pi/agent/attach"
	"pi/agent/command"
	"pi/agent/llm"
	"pi/cli/app"
	"pi/internal/process"
	"pi/session/message"
)

// stage is what one case has: folders of its own, what it has set up, and the run, which is
// opened when something of it is needed. It is used by the case alone, one call at a time;
// model, user and witness may be used by any goroutine.
type stage struct {
	root, home, project string

	settings map[string]any // of config.toml
	flags    app.GivenFlags
	hooks    copies
	approved bool
	judge    func(path string, code []byte) error // see Options.MayRun
	env      map[string]string

	clock    *clock
	script   *script
	user     *user
	servers  playedServers
	agents   playedAgents
	witness  *witness
	recorder *recorder
	drawn    *drawn
	leftover leftover
	watcher  *process.Watcher

	life   context.Context // of the case
	typed  sync.WaitGroup  // what was typed while the agent worked, see [stage.beside]
	run    *app.TestRun    // nil until it is needed, and after it was closed
	began  bool            // there was a run
	resume string          // the file of the session that the next run goes on with
}

// newStage makes the folders of a case. read reads the file of a hook, if it may run; judge
// says of a module whether it may.
func newStage(read func(path string) ([]byte, error), judge func(path string, code []byte) error) (*stage, error) {
	root, err := os.MkdirTemp("", "pi-test-")
	if err == nil {
		root, err = filepath.EvalSymlinks(root)
	}
	if err != nil {
		return nil, fmt.Errorf("make a folder for the case: %w", err)
	}
	s := &stage{root: root, home: filepath.Join(root, "home"), project: filepath.Join(root, "project"), env: map[string]string{}, judge: judge}
	s.hooks = copies{root: filepath.Join(root, "hooks"), read: read}
	s.flags = app.GivenFlags{Values: map[string]string{}, Bare: map[string]bool{}}
	// The scripted model stays in a session that is reopened before it was asked, and nobody
	// waits between the tries of a request.
	s.settings = map[string]any{"model": testModel, "retry": map[string]any{"base_delay": "0s"}}
	for _, dir := range []string{s.agentDir(), s.project, s.hooks.root} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, fmt.Errorf("make a folder for the case: %w", err)
		}
	}
	s.clock, s.script, s.witness = newClock(), &script{}, &witness{}
	s.agents.clock = s.clock
	s.user, s.recorder, s.drawn = &user{witness: s.witness}, &recorder{}, &drawn{stage: s}
	return s, nil
}

func (s *stage) agentDir() string { return filepath.Join(s.home, ".pi", "agent") }

// getenv is the environment of the run: what the case has set, and of the process what is
// about neither the user nor keys.
func (s *stage) getenv(name string) string {
	switch value, ok := s.env[name]; {
	case ok:
		return value
	case name == "HOME":
		return s.home
	case isOfMachine(name):
		return os.Getenv(name)
	}
	return ""
}

// variables are what programs get that hooks and tools start. Git finds no settings of the
// user, and a name for what is committed.
func (s *stage) variables() []string {
	all := []string{
		"HOME=" + s.home, "PI_CODING_AGENT_DIR=", "XDG_CONFIG_HOME=", "GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_CONFIG_SYSTEM=" + os.DevNull, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=test", "GIT_AUTHOR_EMAIL=test@localhost", "GIT_COMMITTER_NAME=test", "GIT_COMMITTER_EMAIL=test@localhost",
	}
	for name, value := range s.env {
		all = append(all, name+"="+value)
	}
	return all
}

// testModel is the model that a case begins with, unless its settings name another.
const testModel = "test/model"

// opened returns the run, which it opens if there is none. The error is one for the test's
// author: a setting that has no effect, a hook that does not load.
func (s *stage) opened(ctx context.Context) (*app.TestRun, error) {
	if s.run != nil {
		return s.run, nil
	}
	ui, _ := s.settings["ui"].(map[string]any)
	s.user.desk.change(func() { s.user.desk.quiet = ui["notify"] == "off" })
	if err := writeSettings(filepath.Join(s.agentDir(), "config.toml"), s.settings); err != nil {
		return nil, err
	}
	o := app.Options{Version: "test", Watcher: s.watcher, Catch: func(f func() error) error { return f() }}
	o.Env = app.Environment{Getenv: s.getenv, Variables: s.variables(), Stderr: io.Discard, Now: s.clock.Now}
	o.Hooks = app.HookFlags{Files: s.hooks.paths, Approve: s.approved, Given: s.flags, Judge: s.judge}
	o.Session.Ref = s.resume
	place, err := app.New(o, s.project)
	if err != nil {
		return nil, err
	}
	if lost := place.Problems(); len(lost) > 0 {
		return nil, fmt.Errorf("config: %v", lost[0])
	}
	s.run, err = place.OpenTest(context.WithoutCancel(ctx), app.Script{Mode: s.mode(), Before: s.recorder, Watcher: watchers{s.witness, s.drawn}, Child: s.witness.ofAgent,
		User: s.user, Servers: s.servers.entries(), Play: s.servers.play, Agents: s.agents.around,
		Model: s.model(), Clock: s.clock, Reach: reach, Started: s.leftover.note, MaxLua: luaTime, Emitted: s.recorder.noteEmitted})
	if err != nil {
		return nil, err
	}
	s.began = true
	s.awaitHandlers(ctx)
	for _, h := range s.run.Chain().Hooks() {
		if h.State == "failed" {
			return nil, errors.New(h.LastError)
		}
	}
	return s.run, nil
}

// mode is the name that hooks have for the front end.
func (s *stage) mode() string {
	if s.user.HasUI() {
		return "interactive"
	}
	return "print"
}

// model is the provider of the scripted model.
func (s *stage) model() llm.ProviderSpec {
	m := &llm.Model{Provider: "test", ID: "model", Name: "Test model", API: "test", ContextWindow: 200_000, MaxTokens: 32_000, Reasoning: true,
		Levels: []string{"off", "minimal", "low", "medium", "high"}, Input: []string{"text", "image"}, Cost: &llm.Price{Input: 1, Output: 5, CacheRead: 0.1, CacheWrite: 1.25}}
	return llm.ProviderSpec{Name: "test", Default: "model", Models: llm.Listed(m), Stream: s.script}
}

// submit does what a user does who types text: it runs as a command, or is sent to the
// model. It returns when nothing is left to do.
func (s *stage) submit(ctx context.Context, text string, attached []message.Block) error {
	if _, err := s.opened(ctx); err != nil {
		return err
	}
	if s.isHeldUp(ctx) {
		return s.steer(ctx, text, attached)
	}
	err := s.driver().Run(ctx, agent.Prompt{Text: text, Attachments: attached, Source: s.mode()})
	return cmp.Or(err, s.finish(ctx))
}

// finish waits until nothing is left to do: what hooks sent was answered, and their handlers
// have ended. Where the agent waits for the test it returns at once.
func (s *stage) finish(ctx context.Context) error {
	if s.isHeldUp(ctx) {
		return nil
	}
	s.typed.Wait()
	for {
		s.awaitHandlers(ctx)
		done := s.run.Agent().IsIdle() // else what comes of its work is waited for, too
		if err := s.run.Agent().WaitIdle(ctx); err != nil {
			return err
		}
		d := s.driver()
		for prompt := range d.Submitted() {
			done = false
			if err := d.Run(ctx, prompt); err != nil {
				return err
			}
		}
		if done {
			return nil
		}
	}
}

// How long the handlers are waited for that finish behind the agent, and how often is looked
// whether one of them only sleeps: that may be until the clock is set forward.
const (
	handlersTime  = 20 * time.Second
	handlersPause = 200 * time.Millisecond
)

// awaitHandlers waits until the handlers that finish behind the agent, and what hooks do beside,
// have ended, or sleep.
func (s *stage) awaitHandlers(ctx context.Context) {
	defer func() { s.clock.await(ctx, s.clock.Now()) }()
	for began := time.Now(); time.Since(began) < handlersTime && ctx.Err() == nil; {
		pause, cancel := context.WithTimeout(ctx, handlersPause)
		done := s.run.Chain().AwaitHandlers(pause)
		cancel()
		if done || s.clock.hasSleepers(2*handlersPause) {
			return
		}
	}
}

// driver runs what is typed, sent by hooks, or done by a key, and shows what comes of it.
func (s *stage) driver() command.Driver {
	act := func(ctx context.Context, line string, run command.Action) (command.Outcome, error) {
		outcome, err := run(ctx)
		if _, cancelled := errors.AsType[*command.CancelledError](err); cancelled && line != "" {
			name, _ := command.Split(line)
			err = fmt.Errorf("/%s: %w", name, err)
		}
		if err != nil {
			return outcome, err
		}
		for _, text := range []string{outcome.Status, outcome.Draft} {
			if text != "" {
				s.witness.add(text)
			}
		}
		return outcome, nil
	}
	return command.Driver{Agent: s.run.Agent(), Commands: s.run.Commands(), Ask: s.run.Agent().Prompt, Act: act}
}

// close ends the run as the end of the program does.
func (s *stage) close(ctx context.Context) error {
	if s.run == nil {
		return nil
	}
	run := s.run
	s.run, s.resume = nil, run.Session().File()
	s.user.closeAll()
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	running := make(chan struct{})
	go func() { // nobody can set the clock now, and the end waits for what hooks have to finish
		defer close(running)
		s.clock.run(ctx)
	}()
	err := run.Close(ctx)
	stop()
	<-running
	return err
}

// remove ends the run and what it has left running, and removes the folders of the case.
func (s *stage) remove(ctx context.Context) error {
	err := s.close(ctx)
	s.servers.lives.Wait()
	s.agents.lives.Wait()
	s.leftover.end()
	return errors.Join(err, os.RemoveAll(s.root))
}

// inProject returns the path of a file of the project, for a function. A path out of it is an
// error, which shows how the function is called if the file is in the project or the home.
func (s *stage) inProject(function, path string) (string, error) {
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		return filepath.Join(s.home, rest), nil
	}
	if filepath.IsLocal(path) {
		return filepath.Join(s.project, path), nil
	}
	for prefix, dir := range map[string]string{"": s.project, "~/": s.home} {
		if inside, err := filepath.Rel(dir, path); err == nil && filepath.IsLocal(inside) {
			return "", fmt.Errorf("a path of the case begins in its project or with ~/: t.%s(%q)", function, prefix+filepath.ToSlash(inside))
		}
	}
	return "", fmt.Errorf("%s is not in the project of the case; ~/… is its home directory", path)
}

// attached is what goes along with a prompt for a path of the project.
func (s *stage) attached(path string) attach.Found {
	return attach.Find("@"+path, attach.Options{Cwd: s.project, Home: s.home, ImageScale: true})
}

// press does what a key of a hook does.
func (s *stage) press(ctx context.Context, do func(ctx context.Context) (command.Outcome, error)) error {
	act := func(ctx context.Context, d command.Driver) error {
		return d.Do(ctx, "", func(ctx context.Context) (command.Outcome, error) {
			return do(s.run.Agent().CommandContext(ctx, agent.Prompt{Source: s.mode()}))
		})
	}
	if s.isHeldUp(ctx) {
		return s.beside(ctx, act)
	}
	err := act(ctx, s.driver())
	return cmp.Or(err, s.finish(ctx))
}
