package cli

import "fmt"

// version is set by the release build.
var version = "0.1.0"

func printVersion() { fmt.Println("pi " + version) }
