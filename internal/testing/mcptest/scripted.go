package mcptest

import (
	"encoding/json"
	"os"
	"strings"
)

// Answers is the variable with what the server "scripted" says: by method, the lines with which
// it answers. ID in them stands for the id of the request. What it does not name is answered as usual.
const Answers = "PI_TEST_MCP_ANSWERS"

func scripted() hostile {
	var answers map[string][]string
	if err := json.Unmarshal([]byte(os.Getenv(Answers)), &answers); err != nil {
		panic(err) // of a test
	}
	h := hostile{}
	for method, lines := range answers {
		h[method] = func(m message) {
			for _, line := range lines {
				say("%s", strings.ReplaceAll(line, "ID", string(m.ID)))
			}
		}
	}
	return h
}

// refuses answers with an error of so many words, and what controls a terminal.
func refuses(words int) func(m message) {
	return func(m message) {
		say(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32000,"message":"no\u001b[2J%s"}}`, m.ID, strings.Repeat(" no", words))
	}
}
