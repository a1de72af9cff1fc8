//go:build unix

package e2e

import (
	"fmt"
	"io/fs"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"pi/internal/testing/screentest"
)

// titleToRun is the title of a session that a shell would run, or a terminal obey.
const titleToRun = "fix $(touch RAN) `touch RAN` \"it's\"; touch RAN: %F{red} \x1b]0;RAN\a"

// Each shell completes what it is asked, with names that mean something to it, and nothing runs:
// neither what was typed nor what stands in a title, no hook, no command that prints a key, no request;
// and nothing is written.
func TestShellsComplete(t *testing.T) {
	for _, c := range []struct {
		shell  string
		prompt string // what the shell is started with, so that it has the prompt "$ "
		// What a name becomes where nothing, and where a double quote stands before it.
		spaces, quoted, run, file string
		title                     string // keys that list what fits
	}{
		{"bash", `PS1='$ '; bind 'set bell-style none'; bind 'set enable-bracketed-paste off'; source <(pi completion bash)`,
			`my\ hook`, `"it's"`, `dol\$\(touch\ RAN\)`, `a\ file.lua`, "\t\t"},
		{"zsh", `PS1='$ '; PROMPT_EOL_MARK=; autoload -U compinit && compinit -u -D; source <(pi completion zsh)`,
			`my\ hook`, `"it's"`, `dol\$\(touch\ RAN\)`, `a\ file.lua`, "\t"},
		{"fish", `function fish_prompt; echo -n '$ '; end; function fish_title; end; set fish_greeting; pi completion fish | source`,
			`my\ hook`, `"it's"`, `dol\$\(touch\ RAN\)`, `a\ file.lua`, "\t"},
	} {
		t.Run(c.shell, func(t *testing.T) {
			t.Parallel()
			path, err := exec.LookPath(c.shell)
			if err != nil {
				t.Skip("there is no " + c.shell)
			}
			w, requests := completionWorld(t)
			before := w.tree()
			s := w.shell(path, c.shell, c.prompt)
			s.See("$")
			for _, keys := range []struct{ typed, want string }{
				{"pi sess\t", "pi sessions"},
				{"pi hooks add example:snak\t", "pi hooks add example:snake"},
				{"pi -m demo/to\t", "pi -m demo/tour"},
				{"pi --model=demo/to\t", "pi --model=demo/tour"},
				{"pi --provider anthropi\t", "pi --provider anthropic"},
				{"pi --mode-name dee\t", "pi --mode-name deep"},
				{"pi hooks replay my\t", "pi hooks replay " + c.spaces},
				{"pi hooks replay \"it\t", "pi hooks replay " + c.quoted},
				{"pi hooks replay dol\t", "pi hooks replay " + c.run},
				{"pi hooks replay co:\t", "pi hooks replay co:lon"},
				{"pi hooks update pac\t", "pi hooks update package-one"},
				{"pi hooks approve .pi/a\t", "pi hooks approve .pi/agents/helper.md"},
				{"pi sessions show bb\t", "pi sessions show bbb-2"},
				{"pi --hook a\t", "pi --hook " + c.file},
				{"pi -p \"$(touch RAN)\" --thinking hi\t", "--thinking high"},
			} {
				s.Type(keys.typed)
				s.See(keys.want)
				s.Press("ctrl+u")
				s.UntilGone(keys.want)
			}
			s.Type("pi sessions show " + c.title)
			s.See("fix $(touch RAN)")
			s.See("another")
			if strings.Contains(s.Output(), "\x1b]0;RAN") {
				t.Error("the title reached the terminal as a command")
			}
			if after := w.tree(); !maps.Equal(before, after) {
				t.Errorf("a Tab has changed files: %v, before %v", slices.Sorted(maps.Keys(after)), slices.Sorted(maps.Keys(before)))
			}
			if n := requests.Load(); n > 0 {
				t.Errorf("%d connections were made", n)
			}
		})
	}
}

// completionWorld has something of all that is completed, and counts who reaches the server of its
// provider.
func completionWorld(t *testing.T) (*world, *atomic.Int32) {
	w := newWorld(t)
	w.pi("--name", titleToRun, "--session-id", "aaa-1", "-p", "hello")
	w.pi("--name", "another", "--session-id", "bbb-2", "-p", "hello")
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	requests, done := new(atomic.Int32), make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			requests.Add(1)
			conn.Close()
		}
	}()
	t.Cleanup(func() { listener.Close(); <-done })
	w.write(w.agentFile("config.toml"), fmt.Sprintf("[providers.local]\nbase_url = \"http://%s/v1\"\napi = \"openai-completions\"\napi_key = \"!touch RAN\"\n", listener.Addr()))
	w.write(w.agentFile("hooks/my hook.lua"), `pi.exec("touch RAN") pi.mode{ name = "deep", system_prompt = "think" }`)
	for _, name := range []string{"it's", "dol$(touch RAN)", "co:lon", "e\x1b[31mvil"} {
		w.write(w.agentFile("hooks/"+name+".lua"), `pi.exec("touch RAN")`)
	}
	w.write(w.agentFile("packages/package-one/hooks/h.lua"), `pi.exec("touch RAN")`)
	w.write(filepath.Join(w.project, ".pi/agents/helper.md"), "---\nname: helper\ndescription: helps\n---\nHelp.\n")
	w.write(filepath.Join(w.project, "a file.lua"), "")
	if err := os.Remove(filepath.Join(w.project, "a.txt")); err != nil { // what is completed is one file
		t.Fatal(err)
	}
	return w, requests
}

// shell starts a shell that has the script for it, in which pi is the program that is tested.
func (w *world) shell(path, name, setup string) *screen {
	w.t.Helper()
	bin := shortTempDir(w.t)
	if err := os.Symlink(w.released().Path, filepath.Join(bin, "pi")); err != nil {
		w.t.Fatal(err)
	}
	args := map[string][]string{
		"bash": {"--noprofile", "--rcfile", filepath.Join(bin, "rc"), "-i"},
		"zsh":  {"-i"},
		"fish": {"--private", "-i", "-C", setup},
	}[name]
	for _, rc := range []string{"rc", ".zshrc"} {
		w.write(filepath.Join(bin, rc), setup+"\n")
	}
	cmd := w.command()
	cmd.Path, cmd.Args = path, append([]string{name}, args...)
	cmd.Env = append(cmd.Env, "PATH="+bin+":"+os.Getenv("PATH"), "TERM=xterm", "INPUTRC=/dev/null", "ZDOTDIR="+bin,
		"XDG_CONFIG_HOME="+filepath.Join(bin, "config"), "XDG_DATA_HOME="+filepath.Join(bin, "data"), "XDG_CACHE_HOME="+filepath.Join(bin, "cache"))
	return &screen{screentest.Start(w.t, cmd, screentest.Options{Cols: 120, Rows: 40, Patience: patience}), w.t}
}

// tree is all that there is in the home directory and the project, with the times of it.
func (w *world) tree() map[string]string {
	w.t.Helper()
	all := map[string]string{}
	for _, root := range []string{w.home, w.project} {
		err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := e.Info()
			if err == nil {
				all[path] = fmt.Sprint(info.Mode(), info.ModTime(), info.Size())
			}
			return err
		})
		if err != nil {
			w.t.Fatal(err)
		}
	}
	return all
}
