//go:build unix

package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The hooks of the guide, each in a world of its own, doing what the guide says.

var luaBlock = regexp.MustCompile("(?s)```lua\n(.*?)```")

func TestEveryExampleOfTheDocumentsLoads(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"README.md", "docs/hooks.md"} {
		a, blocks := readAnnotations(t), luaBlock.FindAllStringSubmatch(mustRead(t, inModule(path)), -1)
		if len(blocks) == 0 {
			t.Errorf("%s has no example", path)
		}
		for i, block := range blocks {
			if strings.Contains(block[1], `require "pi.test"`) || awaits(t, a, block[1]) {
				continue // TestTheTestsOfTheGuidePass
			}
			t.Run(fmt.Sprintf("%s %d", path, i+1), func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				w.write(w.agentFile("hooks/example.lua"), block[1])
				answer, notices := w.piTells("-p", "read a.txt")
				// That is what it is for; and where a machine is busy, the end is seen to wait for it.
				notices = strings.ReplaceAll(notices, "warning: hook example replaces the tool bash\n", "")
				notices = regexp.MustCompile(`(?m)^before the end, hook example: pushing notes$`).ReplaceAllString(notices, "")
				if !strings.HasPrefix(answer, "a.txt has 2 lines:") || strings.Contains(notices, "hook") {
					t.Errorf("%s\n%s", answer, notices)
				}
			})
		}
	}
}

func TestTheHooksOfTheGuidePassTheCheck(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var names []string
	for name, code := range guideHooks(t) {
		w.write(w.agentFile("hooks/"+name+".lua"), code)
		names = append(names, name)
	}
	answer, _ := w.piTells("hooks", "check")
	for _, name := range names {
		if !regexp.MustCompile(`(?m)^loads +` + name + " ").MatchString(answer) {
			t.Errorf("%s does not load:\n%s", name, answer)
		}
	}
	if len(names) < 10 {
		t.Errorf("only %d hooks have a name", len(names))
	}
}

// withHook is a world with one hook of the guide.
func withHook(t *testing.T, name string) *world {
	t.Helper()
	t.Parallel()
	w := newWorld(t)
	w.write(w.agentFile("hooks/"+name+".lua"), guideHook(t, name))
	return w
}

// guideHook is the code of a hook of the guide, by the file that it names.
func guideHook(t *testing.T, name string) string {
	t.Helper()
	code, ok := guideHooksAnd(t, true)[name]
	if !ok {
		t.Fatalf("the guide has no hook %s", name)
	}
	if awaits(t, readAnnotations(t), code) {
		t.Skip("it uses what is still being built")
	}
	return code
}

// guideHooks are the hooks of the guide that name their file.
func guideHooks(t *testing.T) map[string]string {
	t.Helper()
	return guideHooksAnd(t, false)
}

func guideHooksAnd(t *testing.T, awaiting bool) map[string]string {
	t.Helper()
	a, hooks, named := readAnnotations(t), map[string]string{}, regexp.MustCompile(`^-- ~/\.pi/agent/hooks/(\w+)\.lua\n`)
	for _, block := range luaBlock.FindAllStringSubmatch(mustRead(t, inModule("docs/hooks.md")), -1) {
		if name := named.FindStringSubmatch(block[1]); name != nil && (awaiting || !awaits(t, a, block[1])) {
			hooks[name[1]] = block[1]
		}
	}
	return hooks
}

// model gives a world a model that answers as script says.
func (w *world) model(script string) *modelServer {
	s := newModelServer("openai-completions", script, "")
	w.t.Cleanup(s.http.Close)
	w.write(w.agentFile("config.toml"), s.settings())
	return s
}

// asks wants the n-th request to have a text, or not to have it.
func (s *modelServer) asks(t *testing.T, n int, text string, want bool) {
	t.Helper()
	asked := s.asked()
	if len(asked) < n {
		t.Fatalf("the model was asked %d times", len(asked))
	}
	if got := strings.Contains(string(asked[n-1].body), text); got != want {
		t.Errorf("request %d has %q: %v, want %v\n%s", n, text, got, want, asked[n-1].body)
	}
}

// says wants each text in the answer or the notices of one run.
func (w *world) says(args []string, texts ...string) {
	w.t.Helper()
	answer, notices := w.piTells(args...)
	for _, text := range texts {
		if !strings.Contains(answer+notices, text) {
			w.t.Errorf("pi %q says no %q:\n%s%s", args, text, answer, notices)
		}
	}
}

func prompts(texts ...string) []string { return append([]string{"-p"}, texts...) }

func TestTheFirstHookOfTheReadmeProtectsAFile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write(w.agentFile("hooks/careful.lua"), luaBlock.FindStringSubmatch(mustRead(t, inModule("README.md")))[1])
	w.says(prompts("run `rm a.txt`"), "do not remove files")
	w.has("a.txt")
}

// has wants a file in the project.
func (w *world) has(name string) {
	w.t.Helper()
	if _, err := os.Stat(filepath.Join(w.project, name)); err != nil {
		w.t.Error(err)
	}
}

func TestTheFirstHookOfTheGuideSaysHello(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write(w.agentFile("hooks/hello.lua"), luaBlock.FindStringSubmatch(mustRead(t, inModule("docs/hooks.md")))[1])
	if answer, notices := w.piTells("-p", "help"); !strings.Contains(notices, "hello from hello: startup") || strings.Contains(answer, "hello from") {
		t.Errorf("%s\n%s", answer, notices)
	}
}

func TestTheGateOfTheGuideRefusesWithoutAUser(t *testing.T) {
	w := withHook(t, "careful")
	w.says(prompts("run `rm a.txt`"), "removing files needs a user to confirm it")
	w.has("a.txt")
	w.says(prompts("run `echo on`"), "on")
}

func TestTheModeOfTheGuideRefusesWithoutAUser(t *testing.T) {
	w := withHook(t, "look_first")
	if answer := w.pi("-p", "/mode look_first", "run `touch made`"); !strings.Contains(answer, "the user did not want that") {
		t.Errorf("the gate of the mode lets pass: %s", answer)
	}
	if answer := w.pi("-p", "/mode look_first", "list"); !strings.Contains(answer, "This directory") {
		t.Errorf("what only reads is stopped: %s", answer)
	}
	if answer := w.pi("-p", "run `echo done`"); !strings.Contains(answer, "done") {
		t.Errorf("it is asked where the mode is not on: %s", answer)
	}
}

func TestTheGuideReadsCommandLines(t *testing.T) {
	w := withHook(t, "no_sudo")
	for line, want := range map[string]string{
		"sudo true":        "nothing here needs root",
		"echo a; s'u'do x": "nothing here needs root",
		"$(echo sudo) x":   "name the programs plainly",
		"echo 'x":          "this is no shell syntax",
		"echo plain":       "plain",
	} {
		w.says(prompts("run `"+line+"`"), want)
	}
}

func TestTheReviewOfTheGuideSendsTheChange(t *testing.T) {
	w := withHook(t, "review")
	s := w.model("text looks good")
	w.git("init", "-q")
	w.git("add", "a.txt")
	w.git("-c", "user.name=n", "-c", "user.email=e", "commit", "-q", "-m", "first")
	w.says(prompts("/review"), "nothing has changed")
	w.says(prompts("/review --stagd"), "--stagd")
	w.write(filepath.Join(w.project, "a.txt"), "alpha\nbetter\n")
	w.says(prompts("/review"), "looks good")
	s.asks(t, 1, "+better", true)
	s.asks(t, 1, "change.diff", true)
}

// git runs git in the project.
func (w *world) git(args ...string) {
	w.t.Helper()
	git := exec.Command("git", args...)
	git.Dir, git.Env = w.project, w.command().Env
	if out, err := git.CombinedOutput(); err != nil {
		w.t.Fatalf("git %q: %v\n%s", args, err, out)
	}
}

func TestTheNotesOfTheGuideAreKept(t *testing.T) {
	w := withHook(t, "notes")
	w.says(prompts("/notes"), "no notes")
	w.says(prompts("/note buy milk", "/note and bread", "/notes"), "2 notes since", "buy milk", "and bread")
	w.says([]string{"--continue", "-p", "/notes"}, "buy milk", "and bread")
}

func TestTheGuideForgetsAsItSays(t *testing.T) {
	w := withHook(t, "forget")
	s := w.model("text noted\n---\ntext no idea")
	w.pi("-p", "the word is xyzzy", "/forget", "what was the word?")
	s.asks(t, 1, "xyzzy", true)
	s.asks(t, 2, "xyzzy", false)
}

func TestTheGuideHidesSecretsFromModelAndFile(t *testing.T) {
	const secret = "ghp_abcdefghijklmnopqrstuvwxyz0123456789"
	w := withHook(t, "redact")
	w.write(filepath.Join(w.project, "env"), "TOKEN="+secret+"\n")
	s := w.model("call bash {\"command\":\"cat env\"}\n---\ntext done")
	w.pi("-p", "look")
	s.asks(t, 2, secret, false)
	s.asks(t, 2, "[redacted]", true)
	for _, file := range w.sessions() {
		if strings.Contains(mustRead(t, file), secret) {
			t.Errorf("the secret is in %s", file)
		}
	}
}

func TestTheToolOfTheGuideCounts(t *testing.T) {
	w := withHook(t, "wordcount")
	s := w.model("call word_count {\"path\":\"a.txt\"}\ncall word_count {\"path\":\"none\"}\ncall word_count {\"path\":\"a.txt\",\"unit\":\"pages\"}\n---\ntext done")
	w.pi("-p", "count")
	s.asks(t, 1, "Count the words of a text file.", true)
	s.asks(t, 2, "2 words", true)
	s.asks(t, 2, "no such file", true)
	s.asks(t, 2, "unit", true)
}

func TestTheModelOfTheGuideShouts(t *testing.T) {
	w := withHook(t, "loud")
	w.says([]string{"--model", "echo/loud", "-p", "hello"}, "HELLO")
}

func TestTheGuideGoesOnUntilTheTestsPass(t *testing.T) {
	w := withHook(t, "green")
	w.write(filepath.Join(w.project, "Makefile"), "test:\n\tgrep fixed b.txt || { echo b is broken; exit 1; }\n")
	s := w.model("call write {\"path\":\"b.txt\",\"content\":\"x\"}\n---\ntext done\n---\ncall write {\"path\":\"b.txt\",\"content\":\"fixed\"}\n---\ntext now it is done")
	w.says(prompts("write b"), "now it is done")
	s.asks(t, 2, "b is broken", false)
	s.asks(t, 3, "b is broken", true)
	if n := len(s.asked()); n != 4 {
		t.Errorf("the model was asked %d times, want 4", n)
	}
}

func TestTheGuideTellsTheModelOfTheBranch(t *testing.T) {
	w := withHook(t, "branch")
	s := w.model("text hm\n---\ntext hm")
	w.pi("-p", "hello")
	s.asks(t, 1, "current git branch", false)
	w.git("init", "-q", "-b", "trunk")
	w.pi("-p", "hello")
	s.asks(t, 2, "The current git branch is trunk.", true)
}

func TestTheGuideAnswersWithoutTheModel(t *testing.T) {
	w := withHook(t, "thanks")
	s := w.model("text indeed")
	w.says(prompts("thanks"), "you are welcome")
	w.says(prompts("thanks a lot"), "indeed")
	s.asks(t, 1, "thanks a lot", true)
}

func TestTheGuideStopsAnAnswer(t *testing.T) {
	w := withHook(t, "no_todo")
	s := w.model("text func f() {} // TODO later\n---\ntext func f() { work() }")
	w.says(prompts("write f"), "func f() { work() }")
	s.asks(t, 2, "Write the code out; leave no TODO.", true)
}

func TestTheGuideNamesTheSession(t *testing.T) {
	w := withHook(t, "title")
	s := w.model("text noted\n---\ntext The matter of words")
	w.says(prompts("the word is xyzzy", "/title"), "The matter of words")
	s.asks(t, 2, "xyzzy", true)
	s.asks(t, 2, "Name this conversation", true)
	sessions := w.sessions()
	if len(sessions) != 1 || !strings.Contains(mustRead(t, sessions[0]), `"name":"The matter of words"`) {
		t.Errorf("the session has no name: %q", sessions)
	}
}

func TestHooksOfTheGuideTalk(t *testing.T) {
	w := withHook(t, "finished")
	w.write(w.agentFile("hooks/clock.lua"), guideHook(t, "clock"))
	_, notices := w.piTells("-p", "help")
	if !regexp.MustCompile(`finished at \d\d:\d\d`).MatchString(notices) {
		t.Errorf("the notices are %q", notices)
	}
}

func TestTheHookOfTheGuideAsksBesideTheConversation(t *testing.T) {
	w := withHook(t, "aside")
	model := w.model("text an aside")
	w.says(prompts("/aside what is it?"), "an aside")
	model.asks(t, 1, "what is it?", true)
}

func TestTheGuideReadsALineAsItWasTyped(t *testing.T) {
	w := withHook(t, "alias")
	w.write(w.agentFile("hooks/review.lua"), guideHook(t, "review"))
	w.git("init", "-q")
	w.says(prompts("/rs"), "nothing has changed")
}

func TestACommandOfTheGuideAsksTwice(t *testing.T) {
	w := withHook(t, "twice")
	s := w.model("text a first try\n---\ntext a better one")
	w.says(prompts("/twice write a line"), "a better one")
	s.asks(t, 1, "write a line", true)
	s.asks(t, 2, "with fresh eyes", true)
}

func TestTheGuideHasSettings(t *testing.T) {
	w := withHook(t, "standup")
	w.says(prompts("help"), "good morning")
	w.write(w.agentFile("config.toml"), demoSettings+"\n[hook.standup]\ngreeting = \"moin\"\n")
	w.says(prompts("help"), "moin")
	w.write(w.agentFile("config.toml"), demoSettings+"\n[hook.standup]\ngreting = \"moin\"\n")
	w.says(prompts("help"), "config.toml", "greting", "greeting")
}

func TestTheFooterOfTheGuideIsAsWideAsTheWindow(t *testing.T) {
	w := withHook(t, "bar")
	w.write(w.agentFile("hooks/bar_test.lua"), `local t, text = require "pi.test", require "pi.text"
t.case("as wide", function(t)
  t.hook("bar.lua")
  t.model { "hello" }
  t.prompt("hello")
  for _, width in ipairs { 10, 80, 200 } do t.equal(text.width(t.footer(width)[1]), width) end
end)`)
	if out := w.pi("test"); !strings.HasPrefix(out, "ok ") {
		t.Errorf("pi test says\n%s", out)
	}
}

func TestTheGuideWaitsForAnAnswer(t *testing.T) {
	w := withHook(t, "asks")
	w.says(prompts("/ask how are you"), "how are you")
}

func TestTheGuideSharesAFile(t *testing.T) {
	w := withHook(t, "tally")
	w.pi("-p", "read a.txt", "list")
	if tally := mustRead(t, w.agentFile("tally.json")); !strings.Contains(tally, `"read":1`) {
		t.Errorf("it counts %s", tally)
	}
}
