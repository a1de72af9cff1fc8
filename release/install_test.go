//go:build unix

package release

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
)

// installed are the tools that the script may count on, besides those that a test is about.
func installed() []string {
	return []string{"cat", "chmod", "cp", "cut", "dirname", "grep", "gzip", "id", "mkdir", "mv", "rm", "rmdir", "sed", "sh", "tail", "tar", "tr", "uname", "wc"}
}

// download is a server with a release, and a machine on which that is installed.
type download struct {
	t      *testing.T
	server *httptest.Server
	plain  *httptest.Server // speaks http, and has the same
	asked  atomic.Int32     // what plain was asked
	offer
	offered atomic.Pointer[offer] // what the servers have of it, since the last command was made
	home    string
	path    string // the folder with the tools
	env     []string
}

const archiveName = "pi-" + version + "-linux-amd64.tar.gz"

// offer is what can be fetched.
type offer struct {
	files   map[string][]byte
	instead map[string]http.HandlerFunc // of a file
}

// newDownload serves a release whose program is a script, to a machine with these tools besides the usual ones.
func newDownload(t *testing.T, program string, tools ...string) *download {
	t.Helper()
	d := &download{t: t, offer: offer{map[string][]byte{}, map[string]http.HandlerFunc{}}, home: t.TempDir(), path: t.TempDir()}
	d.add(archiveName, program)
	d.server = httptest.NewUnstartedServer(http.HandlerFunc(d.serve))
	d.server.Config.ErrorLog = log.New(io.Discard, "", 0)
	d.server.StartTLS()
	d.plain = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		d.asked.Add(1)
		d.serve(w, r)
	}))
	t.Cleanup(d.server.Close)
	t.Cleanup(d.plain.Close)
	trusted, wgetrc := filepath.Join(t.TempDir(), "ca.pem"), filepath.Join(t.TempDir(), "wgetrc")
	d.write(trusted, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: d.server.Certificate().Raw})), 0o644)
	d.write(wgetrc, "ca_certificate = "+trusted+"\n", 0o644)
	for _, tool := range append(installed(), tools...) {
		found, err := exec.LookPath(tool)
		if err != nil {
			t.Skipf("there is no %s here", tool)
		}
		if err := os.Symlink(found, filepath.Join(d.path, tool)); err != nil {
			t.Fatal(err)
		}
	}
	d.runs("uname", `case $1 in -s) echo Linux ;; -m) echo x86_64 ;; esac`)
	if err := os.Mkdir(filepath.Join(d.home, "tmp"), 0o755); err != nil {
		t.Fatal(err)
	}
	d.env = []string{"PATH=" + d.path, "HOME=" + d.home, "TMPDIR=" + filepath.Join(d.home, "tmp"), "CURL_CA_BUNDLE=" + trusted, "WGETRC=" + wgetrc,
		"PI_URL=" + d.server.URL + "/1.2.3", "PI_DIR=" + filepath.Join(d.home, "a b/bin")}
	return d
}

func (d *download) write(path, text string, mode fs.FileMode) {
	d.t.Helper()
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		d.t.Fatal(err)
	}
}

// runs puts a script into the place of a tool.
func (d *download) runs(tool, script string) {
	d.t.Helper()
	path := filepath.Join(d.path, tool)
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		d.t.Fatal(err)
	}
	d.write(path, "#!/bin/sh\n"+script+"\n", 0o755)
}

// add adds an archive with a program, and its sum.
func (d *download) add(name, program string) {
	d.t.Helper()
	var text bytes.Buffer
	compressed := gzip.NewWriter(&text)
	w := tar.NewWriter(compressed)
	folder := strings.TrimSuffix(name, ".tar.gz")
	header := &tar.Header{Name: folder + "/pi", Mode: 0o755, Size: int64(len(program)), Typeflag: tar.TypeReg}
	err := errors.Join(w.WriteHeader(&tar.Header{Name: folder + "/", Mode: 0o755, Typeflag: tar.TypeDir}), w.WriteHeader(header))
	_, failed := w.Write([]byte(program))
	if err := errors.Join(err, failed, w.Close(), compressed.Close()); err != nil {
		d.t.Fatal(err)
	}
	d.files[name] = text.Bytes()
	d.files["SHA256SUMS"] = fmt.Appendf(d.files["SHA256SUMS"], "%x  %s\n", sha256.Sum256(text.Bytes()), name)
}

func (d *download) serve(w http.ResponseWriter, r *http.Request) {
	name, is := strings.TrimPrefix(r.URL.Path, "/1.2.3/"), d.offered.Load()
	if instead := is.instead[name]; instead != nil {
		instead(w, r)
		return
	}
	text, ok := is.files[strings.TrimPrefix(name, "elsewhere/")]
	if !ok {
		http.NotFound(w, r)
		return
	}
	_, _ = w.Write(text)
}

func (d *download) command(shell []string) *exec.Cmd {
	d.offered.Store(&offer{maps.Clone(d.files), maps.Clone(d.instead)})
	script, err := filepath.Abs("install.sh")
	if err != nil {
		d.t.Fatal(err)
	}
	found, err := exec.LookPath(shell[0])
	if err != nil {
		d.t.Fatal(err)
	}
	command := exec.Command(found, append(shell[1:], script)...)
	command.Env, command.Dir = d.env, d.home
	return command
}

// shells are those that have the programs of the machine: busybox brings some of its own, which it has also where
// the machine has none.
func (d *download) shells() [][]string {
	has := func(tool string) bool {
		_, err := os.Stat(filepath.Join(d.path, tool))
		return err == nil
	}
	if has("curl") && has("gzip") && (has("sha256sum") || has("shasum") || has("openssl")) {
		return shells()
	}
	return slices.DeleteFunc(shells(), func(shell []string) bool { return shell[0] == "busybox" })
}

// left is all that is in the home of the machine.
func (d *download) left() (all []string) {
	d.t.Helper()
	err := filepath.WalkDir(d.home, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && path != d.home {
			inside, _ := filepath.Rel(d.home, path)
			all = append(all, inside)
		}
		return err
	})
	if err != nil {
		d.t.Error(err)
	}
	return all
}

// fails runs the script, which has to fail, say why, and leave nothing behind.
func (d *download) fails(shell []string, says string) {
	d.t.Helper()
	before := d.left()
	out, err := d.command(shell).CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 1 || !strings.Contains(string(out), says) {
		d.t.Errorf("%v: %v, does not say %s:\n%s", shell, err, says, out)
	}
	if after := d.left(); !slices.Equal(before, after) {
		d.t.Errorf("%v: there is %q, and before was %q", shell, after, before)
	}
}

// succeeds runs the script, which has to install the program and to say what is given.
func (d *download) succeeds(shell []string, says ...string) {
	d.t.Helper()
	out, err := d.command(shell).CombinedOutput()
	if err != nil {
		d.t.Errorf("%v: %v\n%s", shell, err, out)
		return
	}
	for _, s := range says {
		if !strings.Contains(string(out), s) {
			d.t.Errorf("%v does not say %s:\n%s", shell, s, out)
		}
	}
	if got := d.left(); !slices.Equal(got, []string{"a b", "a b/bin", "a b/bin/pi", "tmp"}) {
		d.t.Errorf("%v: there is %q", shell, got)
	}
	if out, err := exec.Command(filepath.Join(d.home, "a b/bin/pi")).Output(); err != nil || string(out) != "installed\n" {
		d.t.Errorf("%v: %q, %v", shell, out, err)
	}
}

const program = "#!/bin/sh\necho installed\n"

func TestAReleaseIsInstalled(t *testing.T) {
	t.Parallel()
	notInPath := []string{"pi 1.2.3 is in ", "/a b/bin is not in PATH", "export PATH=\""}
	for _, tools := range [][]string{{"curl", "sha256sum"}, {"curl", "shasum", "perl"}, {"curl", "openssl"}, {"wget", "sha256sum"}, {"curl", "wget", "sha256sum", "openssl"}} {
		t.Run(strings.Join(tools, " "), func(t *testing.T) {
			t.Parallel()
			d := newDownload(t, program, tools...)
			d.add("pi-1.2.3-darwin-arm64.tar.gz", "another")
			for _, shell := range d.shells() {
				d.succeeds(shell, notInPath...) // again: over the one that is there
			}
		})
	}
	t.Run("in PATH", func(t *testing.T) {
		t.Parallel()
		d := newDownload(t, program, "curl", "sha256sum")
		d.runs("pi", "echo another")
		d.env = append(d.env, "PATH="+d.path+":"+filepath.Join(d.home, "a b/bin"))
		d.succeeds([]string{"sh"}, "pi 1.2.3 is in ", "but the shell finds "+d.path+"/pi first")
	})
	t.Run("in the usual folder", func(t *testing.T) {
		t.Parallel()
		d := newDownload(t, program, "curl", "sha256sum")
		d.runs("id", "echo 1000")
		d.env = append(d.env, "PI_DIR=")
		out, err := d.command([]string{"sh"}).CombinedOutput()
		if want := filepath.Join(d.home, ".local/bin"); err != nil || !strings.Contains(string(out), "pi 1.2.3 is in "+want+"\n") || mustRead(t, want+"/pi") != program {
			t.Errorf("%v\n%s", err, out)
		}
	})
}

func TestTheArchiveOfTheMachineIsInstalled(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ system, processor, target string }{
		{"Linux", "aarch64", "linux-arm64"}, {"Darwin", "arm64", "darwin-arm64"}, {"Darwin", "x86_64", "darwin-amd64"}, {"Linux", "x86_64", "linux-amd64"},
	} {
		d := newDownload(t, "another", "curl", "sha256sum")
		d.files = map[string][]byte{}
		for _, target := range targets() {
			of := "#!/bin/sh\necho of another machine\n"
			if target == c.target {
				of = program
			}
			d.add("pi-1.2.3-"+target+".tar.gz", of)
		}
		d.runs("uname", fmt.Sprintf(`case $1 in -s) echo %s ;; -m) echo %s ;; esac`, c.system, c.processor))
		d.succeeds([]string{"sh"})
	}
	for system, says := range map[string]string{"FreeBSD": "no archive for FreeBSD", "Linux": "no archive for riscv64"} {
		d := newDownload(t, program, "curl", "sha256sum")
		d.runs("uname", fmt.Sprintf(`case $1 in -s) echo %s ;; -m) echo riscv64 ;; esac`, system))
		d.fails([]string{"sh"}, says)
	}
}

// What is not what it should be is not installed, with curl and with wget, and the program that is there stays.
func TestNothingIsInstalled(t *testing.T) {
	t.Parallel()
	type prepare func(*download)
	for name, c := range map[string]struct {
		prepare prepare
		says    string
	}{
		"a wrong sum":            {func(d *download) { d.files[archiveName] = append(d.files[archiveName], 0) }, "is not what SHA256SUMS names"},
		"a download that is cut": {func(d *download) { d.instead[archiveName] = d.cut(len(d.files[archiveName])) }, "cannot be fetched"},
		"a download that is cut where nobody can tell": {func(d *download) { d.files[archiveName] = d.files[archiveName][:50] }, "is not what SHA256SUMS names"},
		"a redirect to http":                           {func(d *download) { d.instead[archiveName] = d.redirect(d.plain.URL) }, "cannot be fetched"},
		"a redirect of the sums to http":               {func(d *download) { d.instead["SHA256SUMS"] = d.redirect(d.plain.URL) }, "cannot be fetched"},
		"a redirect over https to http": {func(d *download) {
			d.instead[archiveName], d.instead["elsewhere/"+archiveName] = d.redirect(d.server.URL+"/1.2.3/elsewhere"), d.redirect(d.plain.URL)
		}, "cannot be fetched"},
		"a redirect without end": {func(d *download) { d.instead[archiveName] = d.redirect(d.server.URL + "/1.2.3") }, "cannot be fetched"},
		"http":                   {func(d *download) { d.env = append(d.env, "PI_URL="+d.plain.URL+"/1.2.3") }, "to begin with https://"},
		"no address":             {func(d *download) { d.env = append(d.env, "PI_URL=") }, "set PI_URL"},
		"no sums":                {func(d *download) { delete(d.files, "SHA256SUMS") }, "SHA256SUMS cannot be fetched"},
		"no sum of the archive": {func(d *download) {
			d.files["SHA256SUMS"] = bytes.ReplaceAll(d.files["SHA256SUMS"], []byte("linux-amd64"), []byte("linux-arm64"))
		}, "has no sum of an archive for linux-amd64"},
		"two archives": {func(d *download) { d.add("pi-1.2.4-linux-amd64.tar.gz", program) }, "has several archives"},
		"a name that leads out": {func(d *download) {
			d.files["SHA256SUMS"] = bytes.ReplaceAll(d.files["SHA256SUMS"], []byte(" pi-"), []byte(" ../pi-"))
		}, "has no sum"},
		"no archive": {func(d *download) { delete(d.files, archiveName) }, "cannot be fetched"},
		"an archive that is none": {func(d *download) {
			d.files[archiveName] = []byte("<html>")
			d.files["SHA256SUMS"] = fmt.Appendf(nil, "%x  %s\n", sha256.Sum256([]byte("<html>")), archiveName)
		}, "cannot be unpacked"},
		"a program that does not run": {func(d *download) {
			delete(d.files, "SHA256SUMS")
			d.add(archiveName, "#!/bin/sh\nexit 1\n")
		}, "does not run here"},
		"a folder that cannot be made": {func(d *download) {
			d.write(filepath.Join(d.home, "file"), "", 0o600)
			d.env = append(d.env, "PI_DIR="+filepath.Join(d.home, "file/bin"))
		}, "set PI_DIR to a folder that you can write"},
		"a folder in its place": {func(d *download) {
			for _, folder := range []string{"other", "other/pi"} {
				if err := os.Mkdir(filepath.Join(d.home, folder), 0o755); err != nil {
					d.t.Fatal(err)
				}
			}
			d.env = append(d.env, "PI_DIR="+filepath.Join(d.home, "other"))
		}, "other/pi is a folder"},
		"a server that nobody knows": {func(d *download) {
			empty := filepath.Join(d.path, "empty")
			d.write(empty, "", 0o600)
			d.env = append(d.env, "CURL_CA_BUNDLE="+empty, "WGETRC="+empty)
		}, "cannot be fetched"},
		"nothing to make a sum with":  {func(d *download) { d.remove("sha256sum") }, "sha256sum, shasum or openssl is needed"},
		"nothing to unpack with":      {func(d *download) { d.remove("gzip") }, "gzip is needed"},
		"nothing to fetch with":       {func(d *download) { d.remove("curl", "wget") }, "curl or wget is needed"},
		"a wget that follows to http": {func(d *download) { d.remove("curl"); d.runs("wget", "echo 'Usage: wget [-cqS] [-O FILE] URL...' >&2") }, "curl or GNU wget is needed"},
	} {
		for _, tool := range []string{"curl", "wget"} {
			t.Run(name+", "+tool, func(t *testing.T) {
				t.Parallel()
				d := newDownload(t, program, tool, "sha256sum")
				c.prepare(d)
				d.fails(d.shells()[len(d.shells())-1], c.says)
				// So it is where a program and its folder are there.
				there := filepath.Join(d.home, "a b/bin")
				if err := os.MkdirAll(there, 0o755); err != nil {
					t.Fatal(err)
				}
				d.write(filepath.Join(there, "pi"), "the one before", 0o755)
				d.fails([]string{"sh"}, c.says)
				if mustRead(t, filepath.Join(there, "pi")) != "the one before" {
					t.Error("the program that was there is another one")
				}
				if n := d.asked.Load(); n > 0 {
					t.Errorf("a server that speaks http was asked %d times", n)
				}
			})
		}
	}
}

func (d *download) remove(tools ...string) {
	for _, tool := range tools {
		if err := os.Remove(filepath.Join(d.path, tool)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			d.t.Fatal(err)
		}
	}
}

// redirect leads to a file of the same name.
func (d *download) redirect(to string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, to+"/"+filepath.Base(r.URL.Path), http.StatusFound)
	}
}

// cut sends half of what it says.
func (d *download) cut(size int) http.HandlerFunc {
	half := d.files[archiveName][:size/2]
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", fmt.Sprint(size))
		_, _ = w.Write(half)
		panic(http.ErrAbortHandler)
	}
}

// A redirect that stays with https is followed, also one within the server.
func TestARedirectOverHTTPSIsFollowed(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"curl", "wget"} {
		t.Run(tool, func(t *testing.T) {
			t.Parallel()
			d := newDownload(t, program, tool, "sha256sum")
			d.instead[archiveName] = d.redirect(d.server.URL + "/1.2.3/elsewhere")
			d.instead["SHA256SUMS"] = d.redirect("/1.2.3/elsewhere")
			d.succeeds([]string{"sh"})
		})
	}
}

// A signal in the middle of a download ends it, and nothing is left of it.
func TestASignalLeavesNothing(t *testing.T) {
	t.Parallel()
	// Who starts tests under nohup, or in the background, has signals ignored. A script cannot hear one
	// that is ignored when it starts; one that is heard here it can.
	heard := make(chan os.Signal, 1)
	signal.Notify(heard, syscall.SIGHUP, syscall.SIGINT)
	t.Cleanup(func() { signal.Stop(heard) })
	for _, tool := range []string{"curl", "wget"} {
		for sent, status := range map[syscall.Signal]int{syscall.SIGTERM: 143, syscall.SIGHUP: 129, syscall.SIGINT: 130} {
			t.Run(tool+", "+sent.String(), func(t *testing.T) {
				t.Parallel()
				d := newDownload(t, program, tool, "sha256sum")
				arrived := make(chan struct{}, 1)
				begin := d.files[archiveName][:50]
				d.instead[archiveName] = func(w http.ResponseWriter, r *http.Request) {
					w.Header().Set("Content-Length", "1000")
					_, _ = w.Write(begin)
					_ = http.NewResponseController(w).Flush()
					arrived <- struct{}{}
					<-r.Context().Done() // until the one who fetches is gone
				}
				command := d.command(d.shells()[len(d.shells())-1])
				if err := command.Start(); err != nil {
					t.Fatal(err)
				}
				ended := make(chan error, 1)
				go func() { ended <- command.Wait() }()
				select {
				case <-arrived:
				case err := <-ended:
					t.Fatalf("it ended by itself: %v", err)
				}
				if err := command.Process.Signal(sent); err != nil {
					t.Fatal(err)
				}
				var exit *exec.ExitError
				if err := <-ended; !errors.As(err, &exit) || exit.ExitCode() != status {
					t.Errorf("it ended with %v, want %d", err, status)
				}
				if left := d.left(); !slices.Equal(left, []string{"tmp"}) {
					t.Errorf("left behind: %q", left)
				}
			})
		}
	}
}
