// Command generate prints what charm.land/catwalk knows of providers and their models, as
// JSON: the list that package catalogue is compiled from. It is a module of its own, so
// nothing that it needs is a dependency of the program. go generate in the directory above
// runs it, with the Go version that catwalk asks for.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"charm.land/catwalk/pkg/embedded"
)

func main() {
	if err := json.NewEncoder(os.Stdout).Encode(embedded.GetAll()); err != nil {
		fmt.Fprintln(os.Stderr, "print the list of catwalk:", err)
		os.Exit(1)
	}
}
