package agent

import "sync"

// farewell is the wish that the program ends.
type farewell struct {
	leave   sync.Once
	leaving chan struct{} // closed by Shutdown
}

// Shutdown asks the front end to end the program in order, once the prompt that
// runs is done. Who cannot wait for that calls [Agent.Abort] as well.
func (f *farewell) Shutdown() { f.leave.Do(func() { close(f.leaving) }) }

// Leaving is closed when somebody asked for the end of the program.
func (f *farewell) Leaving() <-chan struct{} { return f.leaving }
