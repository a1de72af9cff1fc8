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

// runPair measures the program and what it is compared with, one right after the other.
func (m *measured) runPair() (p pair, err error) {
	if p.base, err = m.base(); err != nil {
		return p, err
	}
	p.run, err = m.run()
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
// same disturbances of the machine.
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
