// Bench measures the program from outside, as a process:
//
//	go run ./bench [-n RUNS]
//
// It builds the program as it is released, an empty Go program and one that only
// sends a request, runs them in turn against a server on loopback, and prints a
// table. Only the ratios mean something, and only those within one run: all
// programs see the same machine at the same time. Nothing here is a test; a
// number that is too high fails nothing.
//
//	main.go    the table
//	work.go    what is measured: programs, hooks, a long session
//	server.go  the server, which notes when and by whom it is asked
package main

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"time"
)

func main() {
	runs := flag.Int("n", 20, "runs of each program")
	flag.Parse()
	if err := bench(*runs); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func bench(runs int) error {
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
	w, err := newWork(dir, s)
	if err != nil {
		return err
	}
	cases, err := measure(w, runs)
	if err != nil {
		return err
	}
	printTable(cases, w.size)
	return nil
}

// measure runs all cases in turn, so that each meets the same disturbances.
func measure(w *work, runs int) ([]*measured, error) {
	cases := w.cases()
	for i := range runs + 1 {
		for _, c := range cases {
			r, err := c.run()
			if err != nil {
				return nil, fmt.Errorf("%s: %w", c.name, err)
			}
			if i > 0 { // the first warms the caches
				c.results = append(c.results, r)
			}
		}
	}
	return cases, nil
}

// result is one run of a program.
type result struct {
	took time.Duration // to its end, or to the first byte of its request
	rss  int           // KiB at that moment; 0: not known
}

// measured is a program with what its runs took.
type measured struct {
	name, against string // against: the case that it is compared with
	run           func() (result, error)
	results       []result
}

func (m *measured) took() (median, least time.Duration) {
	var all []time.Duration
	for _, r := range m.results {
		all = append(all, r.took)
	}
	slices.Sort(all)
	return all[len(all)/2], all[0]
}

func (m *measured) rss() int {
	var all []int
	for _, r := range m.results {
		all = append(all, r.rss)
	}
	slices.Sort(all)
	return all[len(all)/2]
}

func printTable(cases []*measured, size int64) {
	byName := map[string]*measured{}
	fmt.Printf("%-44s %10s %10s %8s %9s\n", "", "median", "least", "ratio", "RSS")
	for _, c := range cases {
		byName[c.name] = c
		median, least := c.took()
		ratio, rss := "", ""
		if base := byName[c.against]; base != nil {
			m, _ := base.took()
			ratio = fmt.Sprintf("%.2f", float64(median)/float64(m))
		}
		if kib := c.rss(); kib > 0 {
			rss = fmt.Sprintf("%.1f MB", float64(kib)/1024)
		}
		fmt.Printf("%-44s %10s %10s %8s %9s\n", c.name, millis(median), millis(least), ratio, rss)
	}
	fmt.Printf("\nbinary: %.1f MB\n", float64(size)/1e6)
}

func millis(d time.Duration) string { return fmt.Sprintf("%.2f ms", float64(d.Microseconds())/1000) }
