package luahooks

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"pi/agent"
	"pi/agent/llm"
)

// A footer is drawn while a user looks at the screen, and types.
func BenchmarkFooter(b *testing.B) {
	code, err := os.ReadFile(filepath.Join("..", "examples", "footer.lua"))
	if err != nil {
		b.Fatal(err)
	}
	models := llm.NewModels(nil)
	for i := range 40 {
		models.Register(llm.ProviderSpec{Name: fmt.Sprint("p", i), HasKey: func() bool { return i%2 == 0 }})
	}
	r := newRig(b, map[string]string{"footer.lua": string(code)}, func(o *Options) { o.Models = models })
	s := &wideScreen{screen: &screen{here: true, closed: make(chan struct{})}, drawers: map[string]agent.Drawer{}}
	r.chain.Attach(r.host, s)
	r.emit(&agent.SessionStart{Reason: "startup"})
	around := agent.Surroundings{Branch: "main", Statuses: map[string]string{}}
	for i := range 10 {
		around.Statuses[fmt.Sprint("key", i)] = fmt.Sprint("status ", i)
	}
	if got := s.draw("footer footer", 200, around); got == "" || got == "none" {
		b.Fatalf("the footer is %q; notices %q", got, r.host.notices())
	}
	b.ReportAllocs()
	for b.Loop() {
		s.draw("footer footer", 200, around)
	}
	if each := b.Elapsed() / time.Duration(b.N); b.N > 100 && each > time.Millisecond {
		b.Errorf("a drawing takes %v", each)
	}
}

// Where nobody listens to the window, nothing of it comes to the hooks.
func BenchmarkFocusNobodyHears(b *testing.B) {
	r := newRig(b, hooks(10, trivial))
	b.ReportAllocs()
	for b.Loop() {
		if r.chain.Wants(agent.KindFocus) {
			b.Fatal("somebody listens")
		}
	}
}
