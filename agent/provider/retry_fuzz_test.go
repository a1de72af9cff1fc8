package provider

import (
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"
)

// FuzzWaitsInHeaders compares Retry-After with what the standard says of it.
func FuzzWaitsInHeaders(f *testing.F) {
	const date = "Fri, 02 Jan 2026 03:04:05 GMT"
	for _, seed := range []string{"", "0", "7", "1.5", "-1", "1e400", "NaN", "Inf", " 8 ", "0x10", "abc", "Fri, 02 Jan 2026 03:04:35 GMT", "Thu, 01 Jan 2026 00:00:00 GMT",
		"Friday, 02-Jan-26 03:05:05 GMT", "9999999999999999999", "1_000"} {
		f.Add(seed, "")
		f.Add("3", seed)
	}
	f.Fuzz(func(t *testing.T, after, millis string) {
		h := http.Header{"Retry-After": {after}, "Retry-After-Ms": {millis}, "Date": {date}}
		want, known := plainNumber(millis, time.Millisecond)
		if !known {
			want, known = plainNumber(after, time.Second)
		}
		if at, err := http.ParseTime(after); !known && err == nil {
			now, _ := http.ParseTime(date)
			want = max(0, at.Sub(now))
		}
		if got := retryAfter(h); got != want {
			t.Errorf("Retry-After %q, in milliseconds %q: %v, want %v", after, millis, got, want)
		}
	})
}

// plainNumber is the reference: a number that is not negative, as long as a
// Duration can be.
func plainNumber(s string, unit time.Duration) (time.Duration, bool) {
	n, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	switch {
	case err != nil, !(n >= 0):
		return 0, false
	case n > float64(math.MaxInt64/unit):
		return math.MaxInt64, true
	}
	return time.Duration(n * float64(unit)), true
}

// FuzzWaitsInWords reads what servers write, and takes no other text for longer
// than never or for less than now.
func FuzzWaitsInWords(f *testing.F) {
	for i, words := range []string{"Please %s.", "Rate limit reached. %s, or ask for more", "%s", "no wait at all", "try again in a minute", "retry after 99999999999999999999h 1s", "try again in 1m1m1m"} {
		f.Add(words, uint16(i), uint16(2*i), uint16(900), uint8(i))
	}
	f.Fuzz(func(t *testing.T, words string, minutes, seconds, millis uint16, style uint8) {
		if d := findDelay(words); d < 0 {
			t.Errorf("%q means %v", words, d)
		}
		want := time.Duration(minutes)*time.Minute + time.Duration(seconds)*time.Second + time.Duration(millis)*time.Millisecond
		said := []string{
			fmt.Sprintf("try again in %dm%ds%dms", minutes, seconds, millis),
			fmt.Sprintf("retry after %d minutes %d seconds %d milliseconds", minutes, seconds, millis),
			fmt.Sprintf("Try again in %d min %d sec %d ms", minutes, seconds, millis),
			fmt.Sprintf("RETRY IN %dM%d.%03dS", minutes, int(seconds)+int(millis)/1000, millis%1000),
		}[style%4]
		if got := findDelay(said + "."); (got - want).Abs() > time.Microsecond {
			t.Errorf("%q means %v, want %v", said, got, want)
		}
	})
}
