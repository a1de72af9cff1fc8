package hooktest

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	Isolate()
	goleak.VerifyTestMain(m)
}

// run runs tests and returns what is reported.
func run(t *testing.T, r Report, paths ...string) (string, Summary) {
	t.Helper()
	var out bytes.Buffer
	r.Out = &out
	summary, err := Run(t.Context(), Options{Paths: paths, Done: r.Done, Print: r.Print})
	if err != nil {
		t.Fatal(err)
	}
	return out.String(), summary
}

func TestEveryFunctionOfACaseWorks(t *testing.T) {
	t.Parallel()
	out, summary := run(t, Report{}, "testdata/pass")
	if summary.Failed > 0 || summary.Cases < 15 {
		t.Errorf("%+v\n%s", summary, out)
	}
}

// A failure names the line of the test, what was got and wanted, and what hooks said.
func TestFailuresSayWhereAndWhy(t *testing.T) {
	t.Parallel()
	out, _ := run(t, Report{}, "testdata/fail")
	golden := filepath.Join("testdata", "fail.txt")
	want, err := os.ReadFile(golden)
	if err != nil || out != string(want) {
		t.Errorf("%v; got\n%s\nwant\n%s", err, out, want)
	}
}

func TestALoopIsStoppedWithinTwoSeconds(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"a loop in the test", "a loop in a hook"} {
		var took time.Duration
		_, err := Run(t.Context(), Options{Paths: []string{"testdata/fail"}, Run: regexp.MustCompile("^" + name + "$"), Done: func(o Outcome) { took = o.Took }})
		if err != nil || took == 0 || luaTime >= 2*time.Second {
			t.Errorf("%s: %v, %v, stopped after %v", name, took, err, luaTime)
		}
	}
}

func TestRecordsAreJSON(t *testing.T) {
	t.Parallel()
	out, _ := run(t, Report{JSON: true}, "testdata/fail")
	for line := range strings.Lines(out) {
		var o Outcome
		if err := json.Unmarshal([]byte(line), &o); err != nil || o.Passed || len(o.Failures) != 1 || o.Failures[0].Line == 0 || o.Case == "" {
			t.Errorf("%v: %s", err, line)
		}
	}
}

func TestAFileThatDoesNotLoadFails(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]string{
		"local t = require 'pi.test'\nt.case()": "FAIL  x_test.lua:2: bad argument #1 to 't.case' (string expected, got no value)\n",
		"x = = 1":                               "FAIL  x_test.lua:1: syntax error near '='\n",
		"local t = 1":                           "FAIL  x_test.lua:0: it has no t.case\n",
		"while true do end":                     "FAIL  x_test.lua:1: stopped: ran longer than 1.5s\n",
		"require 'pi.test'.read('x')":           "FAIL  x_test.lua:1: t.read: only inside of a case\n",
		"require 'pi.tes'":                      "FAIL  x_test.lua:1: module pi.tes does not exist; there are pi.test, ",
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "x_test.lua"), []byte(code), 0o600); err != nil {
			t.Fatal(err)
		}
		out, _ := run(t, Report{}, dir)
		if got := strings.ReplaceAll(out, dir+"/", ""); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s", code, got)
		}
	}
}

func TestNoTestsIsAnError(t *testing.T) {
	t.Parallel()
	for _, path := range []string{t.TempDir(), "testdata/none", "runner.go"} {
		if _, err := Run(t.Context(), Options{Paths: []string{path}}); err == nil {
			t.Errorf("%s: no error", path)
		}
	}
}
