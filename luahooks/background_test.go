package luahooks

import (
	"context"
	"sync/atomic"
	"testing"
)

func TestWhatModulesDoBesideAVMEndsWithItAndCloseWaits(t *testing.T) {
	ends := map[string]func(r *rig){
		"reload": func(r *rig) { r.write("a.lua", "-- new"); r.chain.Reload(context.Background(), false) },
		"exit":   func(*rig) {},
	}
	for name, end := range ends {
		r := newRig(t, map[string]string{"a.lua": "-- old"})
		spawn := r.chain.roster.list()[0].current().spawn
		told, release, closed := make(chan struct{}), make(chan struct{}), make(chan struct{})
		var ended atomic.Bool
		if !spawn(func(ctx context.Context) {
			<-ctx.Done()
			close(told)
			<-release
			ended.Store(true)
		}) {
			t.Fatalf("%s: it did not begin", name)
		}
		end(r)
		go func() {
			r.chain.Close(context.Background())
			close(closed)
		}()
		<-told
		select {
		case <-closed:
			t.Errorf("%s: Close did not wait", name)
		default:
		}
		close(release)
		<-closed
		if !ended.Load() {
			t.Errorf("%s: it had not ended when Close returned", name)
		}
		if spawn(func(context.Context) { t.Error("it ran") }) {
			t.Errorf("%s: something began afterwards", name)
		}
	}
}
