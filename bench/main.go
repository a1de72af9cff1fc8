// Bench measures the program from outside, as a process:
//
//	go run ./bench [-n PAIRS] [-only WORDS]
//
// It builds the program as it is released, an empty Go program and one that only
// sends a request, runs them in pairs against a server on loopback, and prints a
// table. Only the ratios mean something: each is the median of the ratios of
// pairs that ran right after one another, on the same machine at the same time.
// Nothing here is a test; a number that is too high fails nothing.
//
//	main.go      the pairs and the table
//	work.go      what is measured: programs, directories, one run
//	material.go  hooks and a long session
//	server.go    the server, which notes when and by whom it is asked
package main

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
)

func main() {
	pairs := flag.Int("n", 40, "pairs of each case")
	only := flag.String("only", "", "only the cases whose name has these words")
	flag.Parse()
	if err := bench(*pairs, *only); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func bench(pairs int, only string) error {
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
	cases := slices.DeleteFunc(w.cases(), func(m *measured) bool { return !strings.Contains(m.name, only) })
	if err := measure(cases, pairs); err != nil {
		return err
	}
	printTable(cases, w.size)
	return nil
}

// measure runs all cases in turn, so that each meets the same disturbances, and
// each beside what it is compared with.
func measure(cases []*measured, pairs int) error {
	for i := range pairs + 1 {
		for _, c := range cases {
			p, err := c.runPair()
			if err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
			if i > 0 { // the first warms the caches
				c.pairs = append(c.pairs, p)
			}
		}
	}
	return nil
}

// result is one run of a program.
type result struct {
	took time.Duration // to its end, or to the first byte of its request
	cpu  time.Duration // of all its threads until then; 0: not known
	rss  int           // KiB at that moment; 0: not known
}

// pair is a run of the program and the run of what it is compared with.
type pair struct{ run, base result }

// measured is a case with its pairs.
type measured struct {
	name, against string
	run, base     func() (result, error)
	pairs         []pair
}

func (m *measured) runPair() (p pair, err error) {
	if p.base, err = m.base(); err != nil {
		return p, err
	}
	p.run, err = m.run()
	return p, err
}

// median is the middle one of the values that of has for the pairs.
func (m *measured) median(of func(pair) float64) float64 {
	all := make([]float64, len(m.pairs))
	for i, p := range m.pairs {
		all[i] = of(p)
	}
	slices.Sort(all)
	return all[len(all)/2]
}

func ratio(a, b time.Duration) float64 { return float64(a) / float64(max(b, 1)) }

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func printTable(cases []*measured, size int64) {
	fmt.Printf("%-30s %10s %10s %8s %8s %10s\n", "", "median", "beside", "ratio", "CPU", "RSS")
	for _, c := range cases {
		fmt.Printf("%-30s %7.2f ms %7.2f ms %8.2f %8.2f %7.1f MB   against %s\n", c.name,
			c.median(func(p pair) float64 { return millis(p.run.took) }),
			c.median(func(p pair) float64 { return millis(p.base.took) }),
			c.median(func(p pair) float64 { return ratio(p.run.took, p.base.took) }),
			c.median(func(p pair) float64 { return ratio(p.run.cpu, p.base.cpu) }),
			c.median(func(p pair) float64 { return float64(p.run.rss) * 1024 / 1e6 }), c.against)
	}
	fmt.Printf("\nbinary: %.1f MB\n", float64(size)/1e6)
}
