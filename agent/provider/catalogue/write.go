//go:build ignore

// Write compiles the catalogue from the list that it reads, and writes its files into the
// current directory. It is the second half of go generate here.
package main

import (
	"fmt"
	"os"

	"pi/agent/provider/catalogue"
)

func main() {
	if err := catalogue.Generate(os.Stdin, "."); err != nil {
		fmt.Fprintln(os.Stderr, "generate the catalogue:", err)
		os.Exit(1)
	}
}
