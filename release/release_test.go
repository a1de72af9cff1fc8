//go:build unix

// Package release has the tests of what builds and installs a release. The scripts are run as they are, by each shell
// that is here.
package release

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// version is what the tests build; the CHANGELOG.md of a tree has a heading for it.
const version = "1.2.3"

// host is the target of this machine.
func host() string { return runtime.GOOS + "-" + runtime.GOARCH }

// newTree is a copy of the program in a new folder, without the repository that it comes from, and without files that
// only tests read.
func newTree(t *testing.T) string {
	t.Helper()
	tree := filepath.Join(t.TempDir(), "tree")
	top := os.DirFS("..")
	err := fs.WalkDir(top, ".", func(path string, d fs.DirEntry, err error) error {
		skipped := d != nil && (path == ".git" || path == "dist" || path == "e2e" || d.Name() == "testdata" || strings.HasSuffix(path, "_test.go"))
		switch {
		case err != nil:
			return err
		case skipped && d.IsDir():
			return fs.SkipDir
		case d.IsDir():
			return os.MkdirAll(filepath.Join(tree, path), 0o755)
		case skipped || !d.Type().IsRegular():
			return nil
		}
		stat, err := d.Info()
		if err != nil {
			return err
		}
		text, err := fs.ReadFile(top, path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(tree, path), text, stat.Mode().Perm()|0o600)
	})
	changes := filepath.Join(tree, "CHANGELOG.md")
	text, failed := os.ReadFile(changes)
	heading := bytes.Replace(text, []byte("## Unreleased\n"), []byte("## "+version+"\n"), 1)
	if err := errors.Join(err, failed, os.WriteFile(changes, heading, 0o644)); err != nil {
		t.Fatal(err)
	}
	return tree
}

// shells are the commands that run a POSIX script: what is here of them.
func shells() [][]string {
	all := [][]string{{"sh"}}
	for _, other := range [][]string{{"dash"}, {"bash", "--posix"}, {"busybox", "sh"}} {
		if _, err := exec.LookPath(other[0]); err == nil {
			all = append(all, other)
		}
	}
	return all
}

// lastShell is the one that differs most from sh.
func lastShell() []string {
	all := shells()
	return all[len(all)-1]
}

// build runs release/build.sh of a tree and returns all that it said.
func build(tree string, shell, env []string, args ...string) (string, error) {
	command := exec.Command(shell[0], append(append(shell[1:], "release/build.sh"), args...)...)
	command.Dir = tree
	// Go is the one that runs the tests; CI has its own settings for it.
	command.Env = append(append(os.Environ(), "GOTOOLCHAIN=local", "SOURCE_DATE_EPOCH="), env...)
	out, err := command.CombinedOutput()
	return string(out), err
}

func mustBuild(t *testing.T, tree string, shell, env []string, args ...string) {
	t.Helper()
	if out, err := build(tree, shell, env, args...); err != nil {
		t.Fatalf("build.sh %q: %v\n%s", args, err, out)
	}
}

// needsCache skips a test where all that Go builds would be compiled anew, down to its library.
func needsCache(t *testing.T) {
	t.Helper()
	if os.Getenv("PI_TEST_NO_CACHE") != "" {
		t.Skip("this user has compiled nothing before: root builds releases")
	}
}

// standIns are binaries for all targets which are none. The one of this machine says what pi would.
func standIns(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, target := range targets() {
		text := "this is pi for " + target + "\n"
		if target == host() {
			text = "#!/bin/sh\nif [ \"$1\" = --version ]; then echo pi " + version + "; else echo \"$@\"; fi\n"
		}
		name := "pi-" + target
		if strings.HasPrefix(target, "windows") {
			name += ".exe"
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil { // as a download leaves it
			t.Fatal(err)
		}
	}
	return dir
}

func targets() []string {
	return []string{"darwin-amd64", "darwin-arm64", "linux-amd64", "linux-arm64", "windows-amd64", "windows-arm64"}
}

// packed is a file or folder in an archive.
type packed struct {
	name string
	mode fs.FileMode
	time time.Time
	text string
}

// unpack reads an archive, and checks that everything in it belongs to owner 0.
func unpack(t *testing.T, path string) (all []packed) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if strings.HasSuffix(path, ".zip") {
		return unzip(t, data)
	}
	plain, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if plain.Name != "" || !plain.ModTime.IsZero() {
		t.Errorf("%s was compressed as %q at %s", path, plain.Name, plain.ModTime)
	}
	for r := tar.NewReader(plain); ; {
		h, err := r.Next()
		if err == io.EOF {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Uid != 0 || h.Gid != 0 || h.Uname != "" || h.Gname != "" {
			t.Errorf("%s belongs to %d %d %q %q", h.Name, h.Uid, h.Gid, h.Uname, h.Gname)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, packed{h.Name, h.FileInfo().Mode(), h.ModTime.UTC(), string(text)})
	}
}

func unzip(t *testing.T, data []byte) (all []packed) {
	t.Helper()
	r, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range r.File {
		opened, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(opened)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, packed{f.Name, f.Mode(), f.Modified.UTC(), string(text)})
	}
	return all
}

// checkOrder reports what an archive has in another order, of another time or with other modes than all have.
func checkOrder(t *testing.T, of string, all []packed, when time.Time) {
	t.Helper()
	if !slices.IsSortedFunc(all, func(a, b packed) int {
		return slices.Compare(strings.Split(strings.TrimSuffix(a.name, "/"), "/"), strings.Split(strings.TrimSuffix(b.name, "/"), "/"))
	}) {
		t.Errorf("%s: the names are not sorted", of)
	}
	for _, p := range all {
		mode := fs.FileMode(0o644)
		switch base := filepath.Base(p.name); {
		case strings.HasSuffix(p.name, "/"):
			mode = 0o755 | fs.ModeDir
		case base == "pi" || base == "pi.exe":
			mode = 0o755
		}
		if !p.time.Equal(when) || p.mode != mode {
			t.Errorf("%s: %s has the mode %s and is of %s, want %s", of, p.name, p.mode, p.time, when)
		}
	}
}

// find returns the text of a file in an archive, by its path below the folder of the archive.
func find(t *testing.T, all []packed, name string) string {
	t.Helper()
	for _, p := range all {
		if _, inside, _ := strings.Cut(p.name, "/"); inside == name {
			return p.text
		}
	}
	t.Errorf("there is no %s", name)
	return ""
}

// checkSums holds SHA256SUMS against the folder that it is in.
func checkSums(t *testing.T, folder string) {
	t.Helper()
	files, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	want := ""
	for _, f := range files {
		if text := mustRead(t, filepath.Join(folder, f.Name())); f.Name() != "SHA256SUMS" {
			want += fmt.Sprintf("%x  %s\n", sha256.Sum256([]byte(text)), f.Name())
		}
	}
	if got := mustRead(t, filepath.Join(folder, "SHA256SUMS")); got != want {
		t.Errorf("SHA256SUMS:\n%s\nwant\n%s", got, want)
	}
}

func mustRead(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// mustEqual reports files that differ in two folders.
func mustEqual(t *testing.T, a, b string) {
	t.Helper()
	files, err := os.ReadDir(a)
	others, failed := os.ReadDir(b)
	if err := errors.Join(err, failed); err != nil || len(files) == 0 || len(files) != len(others) {
		t.Fatalf("%d and %d files, %v", len(files), len(others), err)
	}
	for _, f := range files {
		if mustRead(t, filepath.Join(a, f.Name())) != mustRead(t, filepath.Join(b, f.Name())) {
			t.Errorf("%s has other bytes", f.Name())
		}
	}
}

// Binaries of all six targets are packed, here such as are none, by two shells, with the time that is set, and that of
// the commit. As to its name, see [TestAReleaseIsTheSameBytesAsRoot].
func TestArchivesAreMadeForAllTargetsAsRoot(t *testing.T) {
	t.Parallel()
	needsCache(t)
	tree := newTree(t)
	const commit = 1700000000
	for _, args := range [][]string{{"init", "-q"}, {"add", "CHANGELOG.md"}, {"commit", "-q", "-m", "all"}} {
		git := exec.Command("git", append([]string{"-c", "user.name=u", "-c", "user.email=u@example.org", "-c", "commit.gpgsign=false"}, args...)...)
		git.Dir = tree
		git.Env = append(os.Environ(), fmt.Sprintf("GIT_COMMITTER_DATE=%d +0200", commit), "GIT_CONFIG_GLOBAL=/dev/null")
		if out, err := git.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	if os.Geteuid() == 0 { // in a container a checkout may belong to another user, which git takes amiss
		if err := errors.Join(os.Lchown(tree, 65534, 65534), os.Lchown(filepath.Join(tree, ".git"), 65534, 65534)); err != nil {
			t.Fatal(err)
		}
	}
	env := []string{"PI_BINARIES=" + standIns(t), "GIT_CONFIG_GLOBAL=/dev/null"}
	mustBuild(t, tree, []string{"sh"}, env, version)
	first := filepath.Join(tree, "dist", version)
	mustBuild(t, tree, lastShell(), append(env, fmt.Sprintf("SOURCE_DATE_EPOCH=%d", commit), "TZ=Asia/Tokyo"), "-o", "second", version, "windows/arm64")
	for _, file := range []string{".zip", ".cdx.json"} {
		if file = "pi-" + version + "-windows-arm64" + file; mustRead(t, filepath.Join(first, file)) != mustRead(t, filepath.Join(tree, "second", file)) {
			t.Errorf("%s has other bytes", file)
		}
	}
	checkSums(t, first)
	for _, target := range targets() {
		name, archive, binary := "pi-"+version+"-"+target, ".tar.gz", "pi"
		if strings.HasPrefix(target, "windows") {
			archive, binary = ".zip", "pi.exe"
		}
		all := unpack(t, filepath.Join(first, name+archive))
		checkOrder(t, name, all, time.Unix(commit, 0).UTC())
		if all[0].name != name+"/" {
			t.Errorf("%s begins with %s", name, all[0].name)
		}
		if text := find(t, all, binary); target != host() && text != "this is pi for "+target+"\n" {
			t.Errorf("%s has the binary %q", name, text)
		}
		for file, want := range map[string]string{
			"completions/pi.bash": "completion bash\n", "completions/_pi": "completion zsh\n", "completions/pi.fish": "completion fish\n",
			"man/pi.1": "man\n", "man/pi-hooks.7": "man hooks\n",
			"LICENSE": mustRead(t, "../LICENSE"), "NOTICE": mustRead(t, "../NOTICE"),
			"CHANGELOG.md": mustRead(t, filepath.Join(tree, "CHANGELOG.md")), "pi.cdx.json": mustRead(t, filepath.Join(first, name+".cdx.json")),
		} {
			if got := find(t, all, file); got != want {
				t.Errorf("%s: %s is %q", name, file, got)
			}
		}
		for _, licence := range licenceFiles(t) {
			if find(t, all, "LICENSES/"+licence) != mustRead(t, "../LICENSES/"+licence) {
				t.Errorf("%s: LICENSES/%s is another text", name, licence)
			}
		}
	}
}

func licenceFiles(t *testing.T) (names []string) {
	t.Helper()
	files, err := os.ReadDir("../LICENSES")
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	for _, f := range files {
		names = append(names, f.Name())
	}
	return names
}

// What is refused is said, and nothing is left of it.
func TestAReleaseIsRefused(t *testing.T) {
	t.Parallel()
	tree := newTree(t)
	stranger := t.TempDir()
	if err := os.WriteFile(filepath.Join(stranger, "pi-"+host()), []byte("#!/bin/sh\necho pi 1.2.4\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(tree, "there"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		env, args []string
		says      string
		status    int
	}{
		"no version":                  {nil, nil, "release/build.sh [-o FOLDER] VERSION", 2},
		"an unknown flag":             {nil, []string{"-x", version}, "release/build.sh [-o FOLDER] VERSION", 2},
		"a version that is none":      {nil, []string{"v1.2.3"}, "'v1.2.3'", 2},
		"a version with a path in it": {nil, []string{"1.2.3/../x"}, "'1.2.3/../x'", 2},
		"no heading in the changes":   {nil, []string{"1.2.4"}, "CHANGELOG.md has no heading '## 1.2.4'", 1},
		"a dot that is no dot":        {nil, []string{"1.2x3.3"}, "CHANGELOG.md has no heading", 1},
		"an unknown target":           {nil, []string{version, "plan9/amd64"}, "'plan9/amd64'; there are: linux/amd64", 2},
		"a folder that is there":      {nil, []string{"-o", "there", version}, "there is there already", 1},
		"binaries of another version": {[]string{"PI_BINARIES=" + stranger}, []string{version, strings.Replace(host(), "-", "/", 1)}, "says that it is pi 1.2.4, not 1.2.3", 1},
	} {
		out, err := build(tree, []string{"sh"}, c.env, c.args...)
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != c.status || !strings.Contains(out, c.says) {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
	for _, folder := range []string{"dist", "there"} {
		if left, err := os.ReadDir(filepath.Join(tree, folder)); len(left) > 0 {
			t.Errorf("left behind in %s: %v, %v", folder, left, err)
		}
	}
}

// Scripts are read by shells that are no bash.
func TestScriptsArePlain(t *testing.T) {
	t.Parallel()
	for _, script := range []string{"build.sh", "install.sh"} {
		for _, shell := range shells() {
			if out, err := exec.Command(shell[0], append(shell[1:], "-n", script)...).CombinedOutput(); err != nil {
				t.Errorf("%v, %s: %v\n%s", shell, script, err, out)
			}
		}
	}
	if _, err := exec.LookPath("shellcheck"); err != nil {
		t.Skip("without shellcheck nobody looks for what is no POSIX")
	}
	if out, err := exec.Command("shellcheck", "build.sh", "install.sh").CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
