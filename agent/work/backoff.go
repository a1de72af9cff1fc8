package work

import (
	"math/rand/v2"
	"time"
)

// Backoff returns how long to wait before the further attempt with this number, from 1: a
// time that doubles with each, and is at most longest (0: a day). It is varied by chance,
// so that clients that failed together do not ask together again.
func Backoff(attempt int, first, longest time.Duration) time.Duration {
	const day = 24 * time.Hour
	d := first
	for i := 1; i < attempt && d < day; i++ {
		d *= 2
	}
	d = time.Duration(float64(d) * (0.8 + 0.4*rand.Float64()))
	if longest > 0 {
		d = min(d, longest)
	}
	return min(d, day)
}
