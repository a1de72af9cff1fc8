// Pi is a coding agent in a plain shell, one static binary, whose behaviour is
// Lua that you edit while it runs.
package main

import (
	"os"

	"pi/cli"
)

func main() { os.Exit(cli.Main(os.Args[1:])) }
