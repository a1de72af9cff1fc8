//go:build unix

package release

import (
	"bytes"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// image is what a container would have of a Containerfile.
type image struct {
	root       string
	dir        string
	env        []string
	entrypoint string
}

// buildImage does what the instructions of the Containerfile say: in the folder of its stage it runs what a builder
// would run there, with what is at hand here, and copies as a builder does. dist is the folder that is built from.
func buildImage(t *testing.T, dist string, args map[string]string) image {
	t.Helper()
	stages := map[string]string{}
	var now image
	given := map[string]string{} // the arguments that the stage asks for
	expand := func(s string) string { return os.Expand(s, func(name string) string { return given[name] }) }
	text := strings.ReplaceAll(mustRead(t, "Containerfile"), "\\\n", " ")
	for line := range strings.Lines(text) {
		instruction, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		words := strings.Fields(rest)
		switch instruction {
		case "", "#":
		case "FROM":
			now, given = image{root: t.TempDir(), dir: "/"}, map[string]string{}
			if len(words) == 3 {
				stages[words[2]] = now.root
			} else if rest != "scratch" {
				t.Errorf("the image begins with %s", rest)
			}
		case "ARG":
			name, usual, _ := strings.Cut(rest, "=")
			if given[name] = args[name]; given[name] == "" {
				given[name] = usual
			}
		case "WORKDIR":
			now.dir = rest
			mustRun(t, "mkdir", "-p", filepath.Join(now.root, rest))
		case "COPY":
			from := filepath.Join(dist, expand(words[0]))
			if stage, ok := strings.CutPrefix(words[0], "--from="); ok {
				from, words = filepath.Join(stages[stage], words[1])+"/.", words[1:]
			}
			to := words[1]
			if !filepath.IsAbs(to) {
				to = filepath.Join(now.dir, to)
			}
			mustRun(t, "cp", "-a", from, filepath.Join(now.root, to)+"/")
		case "RUN":
			run := exec.Command("sh", "-c", rest)
			run.Dir, run.Env = filepath.Join(now.root, now.dir), os.Environ()
			for name, value := range given {
				run.Env = append(run.Env, name+"="+value)
			}
			if out, err := run.CombinedOutput(); err != nil {
				t.Fatalf("%s: %v\n%s", rest, err, out)
			}
		case "ENV":
			now.env = append(now.env, words...)
		case "ENTRYPOINT":
			now.entrypoint = strings.Trim(rest, `[]"`)
		default:
			t.Errorf("the test does not know %s", instruction)
		}
	}
	return now
}

func mustRun(t *testing.T, name string, args ...string) {
	t.Helper()
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %q: %v\n%s", name, args, err, out)
	}
}

// run runs the program where it sees nothing but the image.
func (i image) run(args ...string) (stdout, stderr string, err error) {
	command := exec.Command(i.entrypoint, args...)
	command.Dir, command.Env = i.dir, append(i.env, "LOCAL_KEY=sk-test-0123456789abcdef")
	command.SysProcAttr = &syscall.SysProcAttr{Chroot: i.root}
	var out, told bytes.Buffer
	command.Stdout, command.Stderr = &out, &told
	err = command.Run()
	return out.String(), told.String(), err
}

// testContainer runs what a container would hold, without one.
func testContainer(t *testing.T, dist string) {
	if os.Geteuid() != 0 {
		t.Skip("only root can have a program see another root folder")
	}
	if runtime.GOOS != "linux" {
		t.Skip("the container is for Linux")
	}
	server := httptest.NewUnstartedServer(http.HandlerFunc(answerHello))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	defer server.Close()
	bundle := filepath.Join(t.TempDir(), "bundle.pem")
	trusted := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if err := os.WriteFile(bundle, trusted, 0o644); err != nil {
		t.Fatal(err)
	}
	i := buildImage(t, dist, map[string]string{"VERSION": version, "TARGETARCH": runtime.GOARCH, "BUNDLE": bundle})
	checkImage(t, i)

	if out, said, err := i.run("--version"); err != nil || out != "pi "+version+"\n" || said != "" {
		t.Errorf("--version: %q, %q, %v", out, said, err)
	}
	if out, said, err := i.run("-p", "--model", "demo/tour", "list the files"); err != nil || !strings.Contains(out, "licence-free.txt") {
		t.Errorf("demo/tour: %q, %q, %v", out, said, err)
	}
	// What needs a shell says so, and the program goes on.
	if out, said, err := i.run("-p", "--model", "demo/tour", "run `echo hello`"); err != nil || !strings.Contains(out, "shell") {
		t.Errorf("a command: %q, %q, %v", out, said, err)
	}

	settings := fmt.Sprintf("[retry]\nmax_attempts = 0\n[providers.local]\nbase_url = %q\napi = \"openai-completions\"\napi_key = \"env:LOCAL_KEY\"\n[[providers.local.models]]\nid = \"small\"\n", server.URL+"/v1")
	mustRun(t, "mkdir", "-p", filepath.Join(i.root, "root/.pi/agent"))
	if err := os.WriteFile(filepath.Join(i.root, "root/.pi/agent/config.toml"), []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, said, err := i.run("-p", "--model", "local/small", "hi"); err != nil || out != "hello over https\n" {
		t.Errorf("https: %q, %q, %v", out, said, err)
	}
	// It is the bundle that decides: without the certificate in it nothing is said to the server.
	if err := os.WriteFile(filepath.Join(i.root, "etc/ssl/certs/ca-certificates.crt"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if out, said, err := i.run("-p", "--model", "local/small", "hi"); err == nil || !strings.Contains(said, "certificate") {
		t.Errorf("https with a server that nobody knows: %q, %q, %v", out, said, err)
	}
}

// checkImage reports what an image has or lacks, but for the licences.
func checkImage(t *testing.T, i image) {
	t.Helper()
	for _, licence := range append(licenceFiles(t), "../LICENSE", "../NOTICE", "../pi.cdx.json") {
		if _, err := os.Stat(filepath.Join(i.root, "usr/share/licenses/pi/LICENSES", licence)); err != nil {
			t.Error(err)
		}
	}
	if stat, err := os.Stat(filepath.Join(i.root, "tmp")); err != nil || stat.Mode() != os.ModeDir|os.ModeSticky|0o777 {
		t.Errorf("/tmp: %v, %v", stat, err)
	}
	for _, shell := range []string{"bin", "usr/bin/sh", "lib"} {
		if _, err := os.Stat(filepath.Join(i.root, shell)); err == nil {
			t.Errorf("there is a /%s", shell)
		}
	}
	if err := os.WriteFile(filepath.Join(i.root, i.dir, "licence-free.txt"), nil, 0o644); err != nil {
		t.Error(err)
	}
}

// answerHello answers a request for a chat completion.
func answerHello(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/v1/chat/completions" || r.Header.Get("Authorization") != "Bearer sk-test-0123456789abcdef" {
		http.Error(w, "not here", http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for _, event := range []string{
		`{"id":"c1","object":"chat.completion.chunk","created":1,"model":"small","choices":[{"index":0,"delta":{"role":"assistant","content":"hello over https"},"finish_reason":null}]}`,
		`{"id":"c1","object":"chat.completion.chunk","created":1,"model":"small","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`,
		`{"id":"c1","object":"chat.completion.chunk","created":1,"model":"small","choices":[],"usage":{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15}}`,
		"[DONE]",
	} {
		fmt.Fprintf(w, "data: %s\n\n", event)
	}
}
