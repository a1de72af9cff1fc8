//go:build unix

package e2e

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"

	"pi/internal/testing/screentest"
	"pi/internal/testing/slowmodel"
)

// reportTimes reports the middle of all times, and what 99 of 100 stay below.
func reportTimes(b *testing.B, times []time.Duration) {
	slices.Sort(times)
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	b.ReportMetric(ms(times[len(times)/2]), "ms/median")
	b.ReportMetric(ms(times[len(times)*99/100]), "ms/p99")
	b.ReportMetric(0, "ns/op")
}

// echoes types keys one by one and measures each up to the moment it is shown.
func (s *desk) echoes(b *testing.B) {
	var times []time.Duration
	typed := ""
	for b.Loop() {
		if len(typed) == 10 {
			s.Press(slices.Repeat([]string{"backspace"}, len(typed))...)
			s.Until("the line is empty", func(now screentest.Screen) bool { return strings.HasSuffix(now.Before(), "> ") })
			typed = ""
		}
		typed += "x"
		began := time.Now()
		s.Type("x")
		s.Until("the key is shown", func(now screentest.Screen) bool { return strings.HasSuffix(now.Before(), "> "+typed) })
		times = append(times, time.Since(began))
	}
	reportTimes(b, times)
}

func BenchmarkKeyEchoAtRest(b *testing.B) {
	s := newDesk(b, scenery{})
	s.rests("")
	s.echoes(b)
}

// keepsLong writes a session of so many entries.
func (w *world) keepsLong(entries int) {
	var prompts []string
	for i := range entries / 2 {
		prompts = append(prompts, fmt.Sprintf("prompt %d, which asks for something of a line's length", i))
	}
	w.keepsTalk("long", talked{prompts: prompts})
}

func BenchmarkKeyEchoWithTenThousandEntries(b *testing.B) {
	w := newWorld(b)
	w.keepsLong(10000)
	s := newDesk(b, scenery{world: w, args: []string{"--continue"}})
	s.rests("")
	s.echoes(b)
	b.ReportMetric(float64(s.Memory())/1e6, "MB")
}

// flood sends pieces of Markdown at a pace of 2,000 a second until it is stopped.
func flood(turn *slowmodel.Turn, stop <-chan struct{}) {
	pieces := strings.SplitAfter(strings.Repeat(markdownDocument, 4), " ")
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for i := 0; ; {
		select {
		case <-stop:
			return
		case <-tick.C:
			for range 20 {
				turn.Text(pieces[i%len(pieces)])
				i++
			}
		}
	}
}

func BenchmarkKeyEchoAtTwoThousandPieces(b *testing.B) {
	s := newDesk(b, scenery{})
	turn := s.ask("go")
	turn.Text("I begin. ")
	s.See("I begin.")
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		flood(turn, stop)
	}()
	began, used := time.Now(), s.CPU()
	s.echoes(b)
	b.ReportMetric(float64(s.CPU()-used)/float64(time.Since(began)), "cores")
	close(stop)
	<-stopped
}

// BenchmarkTwentyThousandPieces shows a long answer as it is read from the model. All
// that the program does for it, reading the answer and saving it among them, is compared
// with a loop that writes each piece to a terminal.
func BenchmarkTwentyThousandPieces(b *testing.B) {
	pieces := slices.Collect(func(yield func(string) bool) {
		words := strings.SplitAfter(strings.Repeat(markdownDocument, 4), " ")
		for i := 0; i < 20000 && yield(words[i%len(words)]); i++ {
		}
	})
	for b.Loop() {
		s := newDesk(b, scenery{})
		turn := s.ask("go")
		used, written := s.CPU(), s.Written()
		for _, piece := range pieces {
			turn.Text(piece)
		}
		turn.End()
		s.rests("")
		ours, bare := s.CPU()-used, oneWriteEach(b, pieces)
		b.ReportMetric(float64(ours)/float64(bare), "×bare")
		b.ReportMetric(float64(ours)/1e6, "ms-CPU")
		b.ReportMetric(float64(s.Written()-written)/1e6, "MB-written")
		b.ReportMetric(float64(s.Memory())/1e6, "MB")
	}
}

// oneWriteEach writes pieces to a terminal whose other end reads everything, and returns
// how long that took.
func oneWriteEach(b *testing.B, pieces []string) time.Duration {
	master, tty, err := pty.Open()
	if err != nil {
		b.Fatal(err)
	}
	defer master.Close()
	read := make(chan struct{})
	go func() {
		defer close(read)
		_, _ = io.Copy(io.Discard, master) // ends with an error when the terminal does
	}()
	began := time.Now()
	for _, piece := range pieces {
		if _, err := tty.WriteString(piece); err != nil {
			b.Fatal(err)
		}
	}
	took := time.Since(began)
	tty.Close()
	<-read
	return took
}

func BenchmarkIdleMinute(b *testing.B) {
	s := newDesk(b, scenery{})
	s.answered("hello", "Hello yourself.")
	s.Quiet(time.Second)
	for b.Loop() {
		used := s.CPU()
		b.ReportMetric(float64(s.BytesDuring(time.Minute)), "bytes")
		b.ReportMetric(float64(s.CPU()-used)/1e6, "ms-CPU")
	}
}

// BenchmarkPickerKey narrows a list of 10,000 rows by one key more, and takes it back.
func BenchmarkPickerKey(b *testing.B) {
	s := newDesk(b, scenery{hook: `pi.command("many", { description = "a long list", handler = function(ctx)
  local options = {}
  for i = 1, 10000 do options[i] = ("option %05d of the list, in the folder %d"):format(i, i % 37) end
  ctx.ui.select("Which of many?", options)
end })`})
	s.rests("")
	s.Type("/many\r")
	s.See("▸ option 00001")
	var times []time.Duration
	for b.Loop() {
		for _, key := range []string{"9", "8", "backspace", "backspace"} {
			before := s.Text()
			began := time.Now()
			s.Press(key)
			s.Until("the list is another", func(now screentest.Screen) bool { return now.Text() != before })
			times = append(times, time.Since(began))
		}
	}
	reportTimes(b, times)
}

// BenchmarkKeyInAListOf10000Items types into a list of a hook and measures each key up to the
// moment at which the screen shows what is left of it.
func BenchmarkKeyInAListOf10000Items(b *testing.B) {
	s := newDesk(b, scenery{hook: `pi.command("choose", { handler = function(ctx)
  local items = {}
  for i = 1, 10000 do items[i] = { value = i, label = "item " .. i, description = "one of many things to choose from" } end
  local list = ctx.ui.list { items = items, filter = true }
  list.wait = true
  ctx.ui.custom(list)
end })`})
	s.rests("")
	s.Type("/choose\r")
	s.See("▸ item 1 ")
	var times []time.Duration
	typed := ""
	for i := 0; b.Loop(); i++ {
		if i%4 == 0 && i > 0 {
			s.Press(slices.Repeat([]string{"backspace"}, len(typed))...)
			s.Until("nothing is typed", func(now screentest.Screen) bool { return now.Shows("filter:    10000") && !now.Shows(" of 10000") })
			typed = ""
		}
		if typed != "" {
			s.Type(" ")
			typed += " "
		}
		key := "m492"[i%4 : i%4+1]
		typed += key
		left := 0
		for i := range 10000 {
			row := fmt.Sprintf("item %d one of many things to choose from", i+1)
			if !slices.ContainsFunc(strings.Fields(typed), func(word string) bool { return !strings.Contains(row, word) }) {
				left++
			}
		}
		began := time.Now()
		s.Type(key)
		s.Until("the list is filtered", func(now screentest.Screen) bool {
			return now.Shows(fmt.Sprintf("filter: %s   %d of 10000", typed, left))
		})
		times = append(times, time.Since(began))
	}
	reportTimes(b, times)
}
