package e2e

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"

	"github.com/rogpeppe/go-internal/testscript"

	"pi/internal/testing/mcptest"
	"pi/internal/testing/oauthtest"
)

// mcpServer is a program that is an MCP server of the kind that its argument names.
func mcpServer() {
	kind := ""
	if len(os.Args) > 1 {
		kind = os.Args[1]
	}
	if err := mcptest.Run(kind); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// browse is a program that goes where it is sent, as a browser does whose user is signed in.
func browse() {
	answer, err := http.Get(os.Args[len(os.Args)-1])
	if err == nil {
		defer answer.Body.Close()
		_, err = io.Copy(io.Discard, answer.Body)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// scriptGuarded starts an MCP server that wants a sign-in, and puts its address into GUARDED. Its
// arguments say what its authorization server does.
func scriptGuarded(ts *testscript.TestScript, _ bool, args []string) {
	s := oauthtest.New(oauthtest.Behaviour{Denies: slices.Contains(args, "denies"), NamesItself: slices.Contains(args, "names-itself")})
	ts.Defer(s.Close)
	ts.Setenv("GUARDED", s.MCP())
}
