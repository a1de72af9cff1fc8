package agent

// Shutdown asks the front end to end the program in order, once the prompt that
// runs is done. Who cannot wait for that calls [Agent.Abort] as well.
func (a *Agent) Shutdown() {
	a.leave.Do(func() { close(a.leaving) })
}

// Leaving is closed when somebody asked for the end of the program.
func (a *Agent) Leaving() <-chan struct{} { return a.leaving }
