// Pi is a coding agent in a plain shell, one static binary, whose behaviour is
// Lua that you edit while it runs.
package main

import "os"

func main() { os.Exit(Main(os.Args[1:])) }
