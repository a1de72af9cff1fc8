//go:build unix

package packages

import (
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// program writes a shell script in front of everything else in PATH.
func program(t *testing.T, name, text string) {
	t.Helper()
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+text+"\n"), 0o700))
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
}

func TestSSHIsAskedForOneRepositoryAndNotForAPassword(t *testing.T) {
	r := newRepo(t)
	commit := r.commit(map[string]string{"hooks/a.lua": "-- 1"})
	log := filepath.Join(t.TempDir(), "log")
	program(t, "ssh", `echo "$@ | $SSH_ASKPASS$GIT_ASKPASS" >>`+log+`
for last; do :; done
exec sh -c "$last"`)
	t.Setenv("HOME", t.TempDir())
	t.Setenv("SSH_ASKPASS", "/bin/ask")
	for _, text := range []string{"git@example.com:" + r.bare, "ssh://git@example.com" + r.bare + "@main"} {
		got, err := Fetcher{}.Fetch(t.Context(), parse(t, text))
		if err != nil || got.Commit != commit {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
	said, err := os.ReadFile(log)
	must(t, err)
	for line := range strings.Lines(string(said)) {
		if !strings.Contains(line, "-oBatchMode=yes") || !strings.HasSuffix(line, "| \n") {
			t.Errorf("ssh was called with %s", line)
		}
	}
	t.Setenv("GIT_SSH_COMMAND", "ssh -i mine")
	if _, err := (Fetcher{}).Fetch(t.Context(), parse(t, "git@example.com:"+r.bare)); err != nil {
		t.Error(err)
	}
	if said, _ := os.ReadFile(log); !strings.Contains(string(said), "-i mine -oBatchMode=yes") {
		t.Errorf("%s", said)
	}
}

func TestHTTPSWithTheUsersOwnCertificatesAndCredentials(t *testing.T) {
	r := newRepo(t)
	commit := r.commit(map[string]string{"hooks/a.lua": "-- 1"})
	backend := filepath.Join(r.command("", "--exec-path"), "git-http-backend")
	if _, err := os.Stat(backend); err != nil {
		t.Skip(err)
	}
	if _, err := os.Stat(filepath.Join(filepath.Dir(backend), "git-remote-https")); err != nil {
		t.Skip(err)
	}
	var wantsKey atomic.Bool
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if _, password, _ := req.BasicAuth(); wantsKey.Load() && password != "sesame" {
			w.Header().Set("WWW-Authenticate", `Basic realm="x"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		(&cgi.Handler{Path: backend, Env: []string{"GIT_PROJECT_ROOT=" + filepath.Dir(r.bare), "GIT_HTTP_EXPORT_ALL=1"}, InheritEnv: []string{"PATH"}}).ServeHTTP(w, req)
	}))
	defer server.Close()
	home := t.TempDir()
	ca := filepath.Join(home, "ca.pem")
	must(t, os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600))
	t.Setenv("HOME", home)
	t.Setenv("GIT_SSL_CAINFO", ca)
	source := parse(t, server.URL+"/"+filepath.Base(r.bare))
	fetch := func() error {
		got, err := Fetcher{}.Fetch(t.Context(), source)
		if err == nil && got.Commit != commit {
			err = fmt.Errorf("commit %s", got.Commit)
		}
		return err
	}
	must(t, fetch())
	wantsKey.Store(true)
	if err := fetch(); err == nil || !strings.Contains(err.Error(), "could not read Username") {
		t.Errorf("without a credential: %v", err)
	}
	must(t, os.WriteFile(filepath.Join(home, ".gitconfig"), []byte("[credential]\n\thelper = \"!f() { echo username=me; echo password=sesame; }; f\"\n"), 0o600))
	must(t, fetch())
}

func TestAFetchThatHangsEndsWithAllThatItStarted(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git here")
	}
	pipe := filepath.Join(t.TempDir(), "started")
	must(t, syscall.Mkfifo(pipe, 0o600))
	program(t, "ssh", `sleep 1000 &
echo $! >`+pipe+`
wait`)
	t.Setenv("HOME", t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	started := make(chan int, 1)
	go func() {
		defer cancel()
		var pid int
		if f, err := os.Open(pipe); err == nil {
			_, _ = fmt.Fscan(f, &pid)
			f.Close()
		}
		started <- pid
	}()
	if _, err := (Fetcher{}).Fetch(ctx, parse(t, "git@example.com:a/b")); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	pid := <-started
	for late := time.Now().Add(10 * time.Second); syscall.Kill(pid, 0) == nil; time.Sleep(10 * time.Millisecond) { // nothing tells when a process of another is gone
		if stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); strings.Contains(string(stat), ") Z ") {
			break
		}
		if time.Now().After(late) {
			t.Fatalf("process %d goes on", pid)
		}
	}
}
