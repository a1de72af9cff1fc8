//go:build ignore

// Report reads what go test -json says from its standard input and prints it for
// people: a line for each package, all that the failed tests said, and in its
// last lines every test that was skipped, with the reason, which go test itself
// does not show of a package that passes. The lines about skips go to the file
// that its argument names, too.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
)

type event struct {
	Action, Package, Test, Output string
}

type test struct{ pkg, name string }

type report struct {
	said    map[test]*strings.Builder
	skipped map[string][]string // reason -> tests
	failed  bool
}

func main() {
	r := report{said: map[test]*strings.Builder{}, skipped: map[string][]string{}}
	in := bufio.NewReader(os.Stdin)
	for {
		line, err := in.ReadBytes('\n')
		var e event
		if json.Unmarshal(line, &e) == nil {
			r.take(e)
		} else if len(line) > 0 {
			os.Stdout.Write(line)
		}
		if err != nil {
			break
		}
	}
	skips := r.skips()
	fmt.Print(skips)
	if len(os.Args) > 1 {
		if err := os.WriteFile(os.Args[1], []byte(skips), 0o600); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	if r.failed {
		os.Exit(1)
	}
}

func (r *report) take(e event) {
	at := test{e.Package, e.Test}
	switch e.Action {
	case "build-output":
		fmt.Print(e.Output)
	case "output":
		if r.said[at] == nil {
			r.said[at] = &strings.Builder{}
		}
		r.said[at].WriteString(e.Output)
		if e.Test == "" && (strings.HasPrefix(e.Output, "ok ") || strings.HasPrefix(e.Output, "FAIL\t")) {
			fmt.Print(e.Output)
		}
	case "skip":
		if e.Test != "" {
			why := reason(r.said[at])
			r.skipped[why] = append(r.skipped[why], e.Package+" "+e.Test)
		}
		delete(r.said, at)
	case "pass":
		delete(r.said, at)
	case "fail", "build-fail":
		r.failed = true
		if e.Test == "" {
			r.tell(e.Package)
		}
	}
}

// tell prints what was said by the tests of a package that did not pass, those
// that never came to an end included.
func (r *report) tell(pkg string) {
	of := func(a, b test) int { return strings.Compare(a.name, b.name) }
	for _, at := range slices.SortedFunc(maps.Keys(r.said), of) {
		if at.pkg == pkg {
			fmt.Print(r.said[at].String())
			delete(r.said, at)
		}
	}
}

var place = regexp.MustCompile(`^\s*\S+\.go:\d+: `)

func reason(said *strings.Builder) string {
	var lines []string
	if said != nil {
		for line := range strings.Lines(said.String()) {
			if place.MatchString(line) {
				lines = append(lines, strings.TrimSpace(place.ReplaceAllString(line, "")))
			}
		}
	}
	if lines == nil {
		return "without a reason"
	}
	return strings.Join(lines, " ")
}

func (r *report) skips() string {
	var text strings.Builder
	for _, why := range slices.Sorted(maps.Keys(r.skipped)) {
		tests := r.skipped[why]
		slices.Sort(tests)
		fmt.Fprintf(&text, "skipped, %s:\n    %s\n", why, strings.Join(tests, "\n    "))
	}
	return text.String()
}
