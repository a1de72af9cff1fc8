//go:build unix

package e2e

import (
	"os"
	"regexp"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// scriptRecords writes the records on stdout to a file. Ids and times of sessions, times of
// messages, durations, counts of tokens and the directory are replaced, for they differ.
func scriptRecords(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: records FILE")
	}
	text := ts.ReadFile("stdout")
	for _, r := range []struct{ find, put string }{
		{`"(id|parentId)":"[0-9a-f]{8}-[0-9a-f-]{27}"`, `"$1":"ID"`},
		{`"timestamp":"\d{4}-\d\d-\d\dT[0-9:.]+Z"`, `"timestamp":"TIME"`},
		{`"timestamp":\d+`, `"timestamp":0`},
		{`"durationMs":\d+`, `"durationMs":0`},
		{`"usage":\{"input":\d+,"output":\d+,"cacheRead":\d+,"cacheWrite":\d+,"totalTokens":\d+,"cost":\{"input":[\d.]+,"output":[\d.]+,"cacheRead":[\d.]+,"cacheWrite":[\d.]+,"total":[\d.]+\}\}`, `"usage":{}`},
	} {
		text = regexp.MustCompile(r.find).ReplaceAllString(text, r.put)
	}
	text = strings.ReplaceAll(text, ts.MkAbs("."), "PROJECT")
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text), 0o600))
}
