//go:build unix

package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"pi/internal/process"
	"pi/internal/testing/wiretest"
)

// jobServer is a model for many runs at a time: its answer to a prompt is that prompt, behind a
// few words. In the middle of each answer it waits until goOn is closed.
type jobServer struct {
	http  *httptest.Server
	asked chan string // the prompts in the middle of whose answers it is
	goOn  chan struct{}
}

// jobSettings are those of a server, each of whose answers costs a cent.
const jobSettings = `
model = "local/small"
[retry]
max_attempts = 0
[providers.local]
base_url = %q
api = "openai-completions"
api_key = "env:LOCAL_KEY"
[[providers.local.models]]
id = "small"
context_window = 100000
cost = { input = 1000, output = 0 }
`

func newJobServer(t testing.TB, runs int) *jobServer {
	s := &jobServer{asked: make(chan string, runs), goOn: make(chan struct{})}
	s.http = httptest.NewServer(s)
	t.Cleanup(s.http.Close)
	return s
}

func (s *jobServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err == nil {
		err = wiretest.CheckChat(body)
	}
	prompt, ok := lastPrompt(body)
	if err != nil || !ok {
		http.Error(w, fmt.Sprint("no prompt, or ", err), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	a := &openaiAnswer{w: w, used: [4]int{10, 0}}
	a.text("an answer to ")
	w.(http.Flusher).Flush()
	s.asked <- prompt
	select {
	case <-s.goOn:
		a.text(prompt)
		a.end()
	case <-r.Context().Done():
	}
}

// lastPrompt is what the user said last in a request of Chat Completions.
func lastPrompt(body []byte) (prompt string, ok bool) {
	var r struct {
		Messages []struct {
			Role    string
			Content json.RawMessage
		}
	}
	if json.Unmarshal(body, &r) != nil || len(r.Messages) == 0 {
		return "", false
	}
	last := r.Messages[len(r.Messages)-1]
	var blocks []struct{ Text string }
	if json.Unmarshal(last.Content, &prompt) == nil {
		return prompt, last.Role == "user"
	}
	if json.Unmarshal(last.Content, &blocks) != nil || len(blocks) != 1 {
		return "", false
	}
	return blocks[0].Text, last.Role == "user"
}

// job is one of the scripts of examples/jobs, with the program as it is handed out.
func (w *world) job(script string, args ...string) *exec.Cmd {
	w.t.Helper()
	pi, err := binary.build()
	if err != nil {
		w.t.Fatal(err)
	}
	path, err := filepath.Abs(inModule("examples/jobs/" + script))
	if err != nil {
		w.t.Fatal(err)
	}
	cmd := exec.Command("sh", append([]string{path}, args...)...)
	cmd.Dir, cmd.Env = w.project, append(w.command().Env, "PI="+pi, "JOB_PAUSE=0")
	return cmd
}

// sideBySide starts a run for each prompt, and returns what waits for their ends.
func (w *world) sideBySide(prompts int) (wait func(), last *exec.Cmd) {
	w.t.Helper()
	var runs sync.WaitGroup
	for i := range prompts {
		name := fmt.Sprintf("task %d", i)
		w.write(filepath.Join(w.project, "prompts", name), fmt.Sprintf("the prompt of number %d.", i))
		cmd := w.job("one.sh", "prompts/"+name, "results", "--no-tools")
		process.Group(cmd)
		var said bytes.Buffer
		cmd.Stderr = &said
		if err := cmd.Start(); err != nil {
			w.t.Fatal(err)
		}
		w.t.Cleanup(func() { process.Kill(cmd) })
		killed := i == prompts-1
		runs.Go(func() {
			if err := cmd.Wait(); (err != nil) != killed {
				w.t.Errorf("%s: %v: %s", name, err, said.String())
			}
		})
		last = cmd
	}
	return runs.Wait, last
}

// 200 runs are in the middle of their answers at the same time, with one folder of sessions, and one
// is killed there with its script, as a machine takes its work along.
func TestTwoHundredRunsSideBySideLoseAndMixNothing(t *testing.T) {
	if testing.Short() || raceEnabled {
		t.Skip("has 200 programs run at a time, which the race detector does not look into")
	}
	const runs = 200
	w := newWorld(t)
	s := newJobServer(t, 2*runs)
	w.write(w.agentFile("config.toml"), fmt.Sprintf(jobSettings, s.http.URL+"/v1"))
	wait, victim := w.sideBySide(runs)
	asked := map[string]bool{}
	for late := time.After(4 * patience); len(asked) < runs; {
		select {
		case prompt := <-s.asked:
			asked[prompt] = true
		case <-late:
			t.Fatalf("only %d of %d runs have asked", len(asked), runs)
		}
	}
	process.Kill(victim)
	close(s.goOn)
	wait()

	lost := fmt.Sprintf("the prompt of number %d.", runs-1)
	ids := w.eachSessionIsItsOwn(runs, lost)
	for i := range runs {
		prompt := fmt.Sprintf("the prompt of number %d.", i)
		task := filepath.Join(w.project, "results", "tasks", fmt.Sprintf("task %d", i))
		status, err := os.ReadFile(filepath.Join(task, "status"))
		if prompt == lost && os.IsNotExist(err) {
			continue
		}
		if string(status) != "0\n" {
			t.Errorf("task %d ended with %q, %v", i, status, err)
		}
		records := mustRead(t, filepath.Join(task, "1.jsonl"))
		if !strings.Contains(records, `"id":"`+ids[prompt]+`"`) {
			t.Errorf("the records of task %d are those of another session", i)
		}
		if said := answersIn(t, records, "message_end"); len(said) != 1 || said[0] != "an answer to "+prompt {
			t.Errorf("task %d was told %q", i, said)
		}
	}
	w.gathersAll(runs)
}

// eachSessionIsItsOwn checks that there are so many sessions, of which each has a prompt of its own and
// the answer to that, but for the prompt that was lost on the way. It returns their ids, by prompt.
func (w *world) eachSessionIsItsOwn(want int, lost string) (ids map[string]string) {
	w.t.Helper()
	files, err := filepath.Glob(filepath.Join(w.project, "results", "sessions", "*", "*.jsonl"))
	if err != nil || len(files) != want {
		w.t.Errorf("%d sessions, want %d: %v", len(files), want, err)
	}
	ids = map[string]string{}
	known := map[string]bool{}
	for _, file := range files {
		text := mustRead(w.t, file)
		var head struct{ ID string }
		first, _, _ := strings.Cut(text, "\n")
		if err := json.Unmarshal([]byte(first), &head); err != nil || known[head.ID] || !strings.HasSuffix(file, "_"+head.ID+".jsonl") {
			w.t.Errorf("%s has the id %q, %v", file, head.ID, err)
		}
		known[head.ID] = true
		prompts, answers := promptsIn(w.t, text), answersIn(w.t, text, "message")
		if len(prompts) != 1 || ids[prompts[0]] != "" {
			w.t.Errorf("%s has the prompts %q, or another one has them too", file, prompts)
			continue
		}
		ids[prompts[0]] = head.ID
		switch prompt := prompts[0]; {
		case prompt == lost && len(answers) == 0:
		case len(answers) != 1 || answers[0] != "an answer to "+prompt:
			w.t.Errorf("the answers to %q are %q", prompt, answers)
		}
	}
	return ids
}

// promptsIn are what the user says in the lines of a session.
func promptsIn(t testing.TB, lines string) []string {
	t.Helper()
	return wordsOf(t, lines, "message", "user")
}

// answersIn are what the model says in lines of a type.
func answersIn(t testing.TB, lines, kind string) []string {
	t.Helper()
	return wordsOf(t, lines, kind, "assistant")
}

// wordsOf are the texts of messages in lines, all of which have to be whole and JSON. No entry
// may stand there twice.
func wordsOf(t testing.TB, lines, kind, role string) (texts []string) {
	t.Helper()
	known := map[string]bool{}
	for line := range strings.Lines(lines) {
		var entry struct {
			Type, ID string
			Message  struct {
				Role    string
				Content []struct{ Text string }
			}
		}
		if err := json.Unmarshal([]byte(line), &entry); err != nil || !strings.HasSuffix(line, "\n") {
			t.Errorf("%q: %v", line, err)
		}
		if entry.ID != "" && known[entry.ID] {
			t.Errorf("the entry %s is there twice", entry.ID)
		}
		known[entry.ID] = true
		if entry.Type != kind || entry.Message.Role != role {
			continue
		}
		var text strings.Builder
		for _, block := range entry.Message.Content {
			text.WriteString(block.Text)
		}
		texts = append(texts, text.String())
	}
	return texts
}

// gathered is a line of gather.sh.
type gathered struct {
	Task     string
	Status   *int
	Tries    int
	Sessions []string
	Models   []string
	Cost     float64
	Tokens   int
	Answer   string
}

// gather runs gather.sh over the results and returns its lines by task, what it told, and how it ended.
func (w *world) gather() (tasks map[string]gathered, told string, err error) {
	w.t.Helper()
	var stdout, stderr bytes.Buffer
	cmd := w.job("gather.sh", "results")
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err = cmd.Run()
	tasks = map[string]gathered{}
	for line := range strings.Lines(stdout.String()) {
		var g gathered
		if err := json.Unmarshal([]byte(line), &g); err != nil {
			w.t.Errorf("%q: %v", line, err)
		}
		if _, twice := tasks[g.Task]; twice {
			w.t.Errorf("the task %q is there twice", g.Task)
		}
		tasks[g.Task] = g
	}
	return tasks, strings.TrimSpace(stderr.String()), err
}

// gathersAll checks that what 200 runs left is gathered, and that the one that was killed is done once
// more, and no other.
func (w *world) gathersAll(runs int) {
	w.t.Helper()
	if _, err := exec.LookPath("jq"); err != nil {
		w.t.Log("there is no jq for gather.sh")
		return
	}
	tasks, told, err := w.gather()
	want := fmt.Sprintf("%d tasks: 1 not ended, %d done; ", runs, runs-1)
	if len(tasks) != runs || err == nil || !strings.HasPrefix(told, want) {
		w.t.Errorf("%d tasks, told %q, want %q…; %v", len(tasks), told, want, err)
	}
	for i := range runs {
		g := tasks[fmt.Sprintf("task %d", i)]
		answer, done := fmt.Sprintf("an answer to the prompt of number %d.", i), i < runs-1
		if done && (g.Status == nil || *g.Status != 0 || g.Cost != 0.01 || g.Tokens != 10 || g.Answer != answer) ||
			!done && (g.Status != nil || g.Cost != 0 || g.Answer != "") || g.Tries != 1 || len(g.Sessions) != 1 {
			w.t.Errorf("task %d: %+v", i, g)
		}
	}
	for _, i := range []int{0, runs - 1} {
		if again, err := w.job("one.sh", fmt.Sprintf("prompts/task %d", i), "results", "--no-tools").CombinedOutput(); err != nil {
			w.t.Errorf("task %d once more: %v: %s", i, err, again)
		}
	}
	tasks, told, err = w.gather()
	if g := tasks[fmt.Sprintf("task %d", runs-1)]; err != nil || !strings.HasPrefix(told, fmt.Sprintf("%d tasks: %d done; ", runs, runs)) || g.Tries != 2 || len(g.Sessions) != 2 {
		w.t.Errorf("told %q, %v; the last task is %+v", told, err, g)
	}
	if files, err := filepath.Glob(filepath.Join(w.project, "results", "sessions", "*", "*.jsonl")); len(files) != runs+1 {
		w.t.Errorf("%d sessions, want %d: %v", len(files), runs+1, err)
	}
}

// Who ends a task from outside ends the tools with it, and the session is whole.
func TestASignalReachesTheProgramOfATask(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	started := w.mailbox("started")
	w.write(filepath.Join(w.project, "prompts", "-long"), "run `echo $$ > started; exec sleep 600`")
	cmd := w.job("one.sh", "-n", "0", "prompts", "results")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	pid := started()
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	status := mustRead(t, filepath.Join(w.project, "results", "tasks", "-long", "status"))
	if cmd.ProcessState.ExitCode() != 143 || status != "143\n" || processExists(pid) {
		t.Errorf("exit status %d, %q is kept, and the command runs: %v", cmd.ProcessState.ExitCode(), status, processExists(pid))
	}
}

// oddNames are names of files that a shell might take for something else.
func oddNames() []string {
	return []string{"-n", "a b", "new\nline", "end\n", `qu"o'te`, "$(touch gone)", "*", "[a-z]", `back\slash`, "ünï", "{}", ";true", "~", strings.Repeat("x", 250)}
}

// writesOddPrompts writes a prompt into a file of each odd name.
func (w *world) writesOddPrompts() {
	w.t.Helper()
	for _, name := range oddNames() {
		w.write(filepath.Join(w.project, "prompts", name), "run `printf %s '"+fmt.Sprintf("%x", name)+"'`")
	}
}

// didOddPrompts checks that the prompt of each was done, once, by itself.
func (w *world) didOddPrompts() {
	w.t.Helper()
	for _, name := range oddNames() {
		task := filepath.Join(w.project, "results", "tasks", name)
		if status, err := os.ReadFile(filepath.Join(task, "status")); string(status) != "0\n" {
			log, _ := os.ReadFile(filepath.Join(task, "1.log"))
			w.t.Errorf("%q ended with %q, %v: %s", name, status, err, log)
			continue
		}
		said := answersIn(w.t, mustRead(w.t, filepath.Join(task, "1.jsonl")), "message_end")
		if len(said) == 0 || !strings.Contains(said[len(said)-1], fmt.Sprintf("    %x\n", name)) && !strings.HasSuffix(said[len(said)-1], fmt.Sprintf("    %x", name)) {
			w.t.Errorf("%q was told %q", name, said)
		}
		if _, err := os.Stat(filepath.Join(task, "2.jsonl")); err == nil {
			w.t.Errorf("%q was tried twice", name)
		}
	}
	if entries, err := os.ReadDir(filepath.Join(w.project, "results", "tasks")); err != nil || len(entries) != len(oddNames()) {
		w.t.Errorf("%d tasks, want %d: %v", len(entries), len(oddNames()), err)
	}
	if _, err := os.Stat(filepath.Join(w.project, "gone")); err == nil {
		w.t.Error("the name of a file was run")
	}
}

func TestParallelRunsEachPromptOfAFolder(t *testing.T) {
	t.Parallel()
	if out, err := exec.Command("parallel", "--version").Output(); err != nil || !strings.HasPrefix(string(out), "GNU parallel") {
		t.Skip("there is no GNU parallel")
	}
	w := newWorld(t)
	w.writesOddPrompts()
	for range 2 { // the second time there is nothing to do
		if out, err := w.job("parallel.sh", "prompts", "results", "--append-system-prompt", "say 'it' at once").CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		w.didOddPrompts()
	}
}

// slurm_here.sh starts a Slurm for this, of one node.
func TestSlurmRunsEachPromptOfAFolder(t *testing.T) {
	if testing.Short() {
		t.Skip("starts Slurm")
	}
	t.Parallel()
	w := newWorld(t)
	w.writesOddPrompts()
	run := w.job("slurm_here.sh", "sh", filepath.Join(filepath.Dir(w.job("slurm.sh").Args[1]), "slurm.sh"), "prompts", "results")
	run.Env = append(run.Env, "SBATCH_WAIT=1", "ARRAY=8") // more than one array has place for
	out, err := run.CombinedOutput()
	if run.ProcessState.ExitCode() == 125 {
		t.Skipf("there is no Slurm: %s", out)
	}
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	w.didOddPrompts()
	if got := strings.Count(string(out), "Submitted batch job"); got != 2 {
		t.Errorf("%d arrays were submitted: %s", got, out)
	}
}

func TestScriptsOfJobsHaveNothingThatShellcheckFinds(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("shellcheck"); err != nil {
		t.Skip("there is no shellcheck")
	}
	scripts, err := filepath.Glob(inModule("examples/jobs/*.sh"))
	if err != nil || len(scripts) < 5 {
		t.Fatalf("%q, %v", scripts, err)
	}
	if out, err := exec.Command("shellcheck", append([]string{"--shell=sh"}, scripts...)...).CombinedOutput(); err != nil {
		t.Errorf("%v:\n%s", err, out)
	}
}
