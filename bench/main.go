// Bench measures the program from outside, as a process:
//
//	go run ./bench [-n PAIRS] [-only WORDS] [-against BINARY]
//
// It builds the program as it is released, an empty Go program and one that only
// sends a request, runs them in pairs against a server on loopback, and prints a
// table. Only the ratios mean something: each is the median of the ratios of
// pairs that ran right after one another, on the same machine at the same time.
// With -against another build of the program stands beside it, in whole runs. Nothing here is a test; a number that is too high fails nothing.
//
//	main.go      all cases and the table
//	measure.go   a case and its pairs
//	work.go      the programs that are measured, their directories, one run
//	material.go  hooks and a long session
//	server.go    the server, which notes when and by whom it is asked
//	turns.go     runs of many turns, beside another build of the program
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

func main() {
	pairs := flag.Int("n", 40, "pairs of each case")
	only := flag.String("only", "", "only the cases whose name has these words")
	against := flag.String("against", "", "another build of the program, whose starts and runs of many turns stand beside ours")
	flag.Parse()
	if err := bench(*pairs, *only, *against); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// bench measures the cases whose name contains only, in so many pairs each, and prints a
// table. With another build of the program, against, these are what both of them take.
func bench(pairs int, only, against string) error {
	dir, err := os.MkdirTemp("", "bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	s, err := listen()
	if err != nil {
		return err
	}
	defer s.close()
	turns, err := listenScript()
	if err != nil {
		return err
	}
	defer turns.close()
	w, err := newWork(dir, s, turns)
	if err != nil {
		return err
	}
	cases := w.cases()
	if against != "" {
		if against, err = filepath.Abs(against); err != nil {
			return err
		}
		cases = w.casesBeside(against)
	}
	cases = slices.DeleteFunc(cases, func(m *measured) bool { return !strings.Contains(m.name, only) })
	if err := measure(cases, pairs); err != nil {
		return err
	}
	printTable(cases, w.size)
	return nil
}

func ratio(a, b time.Duration) float64 { return float64(a) / float64(max(b, 1)) }

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func printTable(cases []*measured, size int64) {
	fmt.Printf("%-30s %10s %10s %10s %8s %8s %10s\n", "", "median", "beside", "more", "ratio", "CPU", "RSS")
	for _, c := range cases {
		fmt.Printf("%-30s %7.2f ms %7.2f ms %7.2f ms %8.2f %8.2f %7.1f MB   against %s\n", c.name,
			c.median(func(p pair) float64 { return millis(p.run.took) }),
			c.median(func(p pair) float64 { return millis(p.base.took) }),
			c.median(func(p pair) float64 { return millis(p.run.took - p.base.took) }),
			c.median(func(p pair) float64 { return ratio(p.run.took, p.base.took) }),
			c.median(func(p pair) float64 { return ratio(p.run.cpu, p.base.cpu) }),
			c.median(func(p pair) float64 { return float64(p.run.rss) * 1024 / 1e6 }), c.against)
	}
	fmt.Printf("\nbinary: %.1f MB\n", float64(size)/1e6)
}
