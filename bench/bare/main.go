// Bare sends one request and reads the answer: what a program costs that does
// nothing else. It is called with an address and a file that holds the body.
package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bare:", err)
		os.Exit(1)
	}
}

// run posts a file to a URL and reads the answer: the least that a program does for one
// request.
func run(args []string) error {
	if len(args) != 2 {
		return fmt.Errorf("usage: bare URL FILE")
	}
	body, err := os.ReadFile(args[1])
	if err != nil {
		return err
	}
	answer, err := http.Post(args[0], "application/json", strings.NewReader(string(body)))
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	_, err = io.Copy(io.Discard, answer.Body)
	return err
}
