package agent

import (
	"encoding/json"
	"testing"
)

func TestACallIsAboutOneOfItsArguments(t *testing.T) {
	for input, want := range map[string]string{
		`{"command": "ls -l", "timeout": 5}`:       "ls -l",
		`{"path": "src/a.go", "limit": 10}`:        "src/a.go",
		`{"pattern": "func main", "path": "src"}`:  "func main in src",
		`{"pattern": "func main", "path": ""}`:     "func main",
		`{"pattern": "**/*.go"}`:                   "**/*.go",
		`{"url": "http://localhost", "name": "x"}`: "http://localhost",
		`{"name": "a\nb"}`:                         "a b",
		`{"rows": 3}`:                              `{"rows": 3}`,
		`{}`:                                       "",
		`[1]`:                                      "",
	} {
		if got := CallTarget(json.RawMessage(input)); got != want {
			t.Errorf("%s: %q, not %q", input, got, want)
		}
	}
}
