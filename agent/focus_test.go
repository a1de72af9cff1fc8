package agent

import (
	"context"
	"testing"
)

// deaf is a listener that wants nothing.
type deaf struct{ t *testing.T }

func (d deaf) Wants(Kind) bool { return false }
func (d deaf) Handle(context.Context, Event) error {
	d.t.Error("it is told")
	return nil
}

func TestWhereNobodyListensTheWindowAllocatesNothing(t *testing.T) {
	a := &Agent{parts: parts{events: &listeners{all: []Listener{deaf{t}, deaf{t}}}}}
	ctx := context.Background()
	if n := testing.AllocsPerRun(100, func() { a.TellFocus(ctx, true) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
