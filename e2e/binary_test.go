//go:build unix

package e2e

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// buildCommand is how docs/using.md says that the binary is built.
const buildCommand = `CGO_ENABLED=0 go build -trimpath -ldflags "-s -w" -o pi .`

// builtBinary is the program as it is handed out, built when a test first wants
// it: what time and memory it takes cannot be told from a test binary that the race
// detector follows. Where PI_TEST_BINARY names one that the same command has built,
// as .ci/run does, that is taken.
type builtBinary struct {
	once sync.Once
	dir  string
	path string
	err  error
}

// binary is one for all tests of the package; withBinary removes it.
var binary builtBinary

func (b *builtBinary) build() (path string, err error) {
	b.once.Do(func() {
		if b.path = os.Getenv("PI_TEST_BINARY"); b.path != "" {
			return
		}
		if b.dir, b.err = os.MkdirTemp("", "pi-binary-"); b.err != nil {
			return
		}
		b.path = filepath.Join(b.dir, "pi")
		command := exec.Command("sh", "-c", strings.Replace(buildCommand, "-o pi", `-buildvcs=false -o "$PI"`, 1))
		command.Dir = moduleDir
		command.Env = append(os.Environ(), "PI="+b.path, "CGO_ENABLED=1", "GOOS="+runtime.GOOS, "GOARCH="+runtime.GOARCH)
		if out, err := command.CombinedOutput(); err != nil {
			b.err = fmt.Errorf("%s: %w\n%s", buildCommand, err, out)
		}
		b.err = errors.Join(b.err, os.Chmod(b.dir, 0o755)) // a script may run it as another user
	})
	return b.path, b.err
}

// withBinary removes the binary when the tests are through. Most tests wait for a
// terminal, so four times as many run at a time as there are processors, unless the command
// line says otherwise.
type withBinary struct{ m testscript.TestingM }

func (w withBinary) Run() int {
	if err := flag.Set("test.parallel", strconv.Itoa(4*runtime.GOMAXPROCS(0))); err != nil {
		panic(err)
	}
	defer func() {
		if binary.dir != "" {
			os.RemoveAll(binary.dir)
		}
	}()
	return w.m.Run()
}

// What hooks see of the program is handed to Lua by the library that is there for that: it
// is not only named by an import, for which the linker keeps nothing of it. A binary without
// symbols has the names of its functions all the same, for tracebacks.
func TestValuesForHooksAreMadeByTheLibrary(t *testing.T) {
	t.Parallel()
	pi, err := binary.build()
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(mustRead(t, pi), "\x00layeh.com/gopher-luar.New\x00") {
		t.Error("the binary has no function New of gopher-luar")
	}
}
