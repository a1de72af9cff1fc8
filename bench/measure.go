package main

import (
	"fmt"
	"slices"
	"time"
)

// measured is a case with its pairs.
type measured struct {
	name, against string
	run, base     func() (result, error)
	pairs         []pair
}

// runPair measures the program and what it is compared with, one right after the other;
// first says that the program comes first.
func (m *measured) runPair(first bool) (p pair, err error) {
	if first {
		if p.run, err = m.run(); err == nil {
			p.base, err = m.base()
		}
		return p, err
	}
	if p.base, err = m.base(); err == nil {
		p.run, err = m.run()
	}
	return p, err
}

// median returns the middle one of the values that of returns for the pairs.
func (m *measured) median(of func(pair) float64) float64 {
	all := make([]float64, len(m.pairs))
	for i, p := range m.pairs {
		all[i] = of(p)
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// pair is a run of the program and the run of what it is compared with.
type pair struct{ run, base result }

// result is one run of a program.
type result struct {
	took time.Duration // to its end, or to the first byte of its request
	cpu  time.Duration // of all its threads until then; 0: not known
	rss  int           // KiB at that moment; 0: not known
}

// measure runs each case pairs times. The cases take turns, so that all suffer from the
// same disturbances of the machine, and who comes first in a pair alternates.
func measure(cases []*measured, pairs int) error {
	for i := range pairs + 1 {
		for _, c := range cases {
			p, err := c.runPair(i%2 == 1)
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
