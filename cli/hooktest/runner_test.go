package hooktest

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
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

// A failure names the line of the test, what was got and wanted, and what hooks said; as JSON each
// is a record. A loop, of the test or of a hook, is stopped within two seconds.
func TestFailuresSayWhereAndWhy(t *testing.T) {
	t.Parallel()
	var text, records bytes.Buffer
	took := map[string]time.Duration{}
	_, err := Run(t.Context(), Options{Paths: []string{"testdata/fail"}, Print: Report{Out: &records, JSON: true}.Print, Done: func(o Outcome) {
		Report{Out: &text}.Done(o)
		Report{Out: &records, JSON: true}.Done(o)
		took[o.Case] = o.Took
	}})
	if err != nil {
		t.Fatal(err)
	}
	if want, err := os.ReadFile(filepath.Join("testdata", "fail.txt")); err != nil || text.String() != string(want) {
		t.Errorf("%v; got\n%s\nwant\n%s", err, text.String(), want)
	}
	for line := range strings.Lines(records.String()) {
		var o Outcome
		if err := json.Unmarshal([]byte(line), &o); err != nil || o.Passed || len(o.Failures) != 1 || o.Failures[0].Line == 0 || o.Case == "" {
			t.Errorf("%v: %s", err, line)
		}
	}
	for _, name := range []string{"a loop in the test", "a loop in a hook"} {
		if took[name] == 0 || luaTime >= 2*time.Second {
			t.Errorf("%s: %v, stopped after %v", name, took[name], luaTime)
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
