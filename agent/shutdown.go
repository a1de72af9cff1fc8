package agent

// Shutdown asks the front end to end the program in order: after the work that
// goes on, which is interrupted.
func (a *Agent) Shutdown() {
	a.leave.Do(func() { close(a.leaving) })
	a.Abort()
}

// Leaving is closed when somebody asked for the end of the program.
func (a *Agent) Leaving() <-chan struct{} { return a.leaving }
