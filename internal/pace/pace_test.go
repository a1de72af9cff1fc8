package pace

import (
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

const pause = 100 * time.Millisecond

func TestTheFirstComesAtOnceAndThenTheNewestInEachPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got []int
		var at []time.Duration
		began := time.Now()
		p := New(pause, func(n int) { got, at = append(got, n), append(at, time.Since(began)) })
		for n := range 25 {
			p.Put(n)
			time.Sleep(11 * time.Millisecond)
		}
		time.Sleep(time.Second)
		p.Put(99)
		p.Stop()
		p.Put(100)
		if want := []int{0, 9, 18, 24, 99}; !slices.Equal(got, want) {
			t.Errorf("handed on %d, want %d", got, want)
		}
		for i := 1; i < len(at); i++ {
			if at[i]-at[i-1] < pause {
				t.Errorf("handed on at %v", at)
			}
		}
	})
}

func TestStopHandsOnTheLastAndNothingComesBehindIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got []int
		stopped := false
		p := New(pause, func(n int) {
			if stopped {
				t.Errorf("%d comes behind the end", n)
			}
			got = append(got, n)
		})
		p.Put(1)
		p.Put(2)
		p.Put(3)
		p.Stop()
		stopped = true
		p.Put(4)
		time.Sleep(time.Second)
		if want := []int{1, 3}; !slices.Equal(got, want) {
			t.Errorf("handed on %d, want %d", got, want)
		}
	})
}

func TestNobodyWaitsForASlowReaderButItsOwnCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got []int
		goOn := make(chan struct{})
		p := New(pause, func(n int) {
			got = append(got, n)
			<-goOn
		})
		go p.Put(1)
		synctest.Wait()
		p.Put(2)
		p.Put(3)
		close(goOn)
		synctest.Wait()
		p.Stop()
		if want := []int{1, 3}; !slices.Equal(got, want) {
			t.Errorf("handed on %d, want %d", got, want)
		}
	})
}

func TestValuesOfManyComeOneAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		now, n := 0, 0
		p := New(pause, func(int) {
			now, n = now+1, n+1
			if now > 1 {
				t.Error("two at a time")
			}
			time.Sleep(time.Millisecond)
			now--
		})
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				for i := range 50 {
					p.Put(i)
					time.Sleep(7 * time.Millisecond)
				}
			})
		}
		all.Wait()
		p.Stop()
		if n < 3 || n > 6 {
			t.Errorf("%d handed on in 350 ms", n)
		}
	})
}

func TestACrashOfTheReaderIsItsCallersAndTheNextIsHandedOn(t *testing.T) {
	var got []int
	p := New(0, func(n int) {
		got = append(got, n)
		if n == 1 {
			panic("oh")
		}
	})
	func() {
		defer func() { _ = recover() }()
		p.Put(1)
	}()
	p.Put(2)
	p.Stop()
	if want := []int{1, 2}; !slices.Equal(got, want) {
		t.Errorf("handed on %d, want %d", got, want)
	}
}
