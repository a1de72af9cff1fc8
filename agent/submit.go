package agent

// Submit hands in a prompt from outside the front end, as a hook does with
// pi.send. While the agent works it waits like a follow-up; otherwise it waits
// for the front end, which is woken through [Agent.Submitted].
func (a *Agent) Submit(p Prompt) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.submitted = append(a.submitted, p)
	select {
	case a.wake <- struct{}{}:
	default:
	}
}

// Submitted is signalled when a prompt was handed in; the front end then calls
// [Agent.TakeSubmitted] when it is idle.
func (a *Agent) Submitted() <-chan struct{} { return a.wake }

// TakeSubmitted returns the prompts handed in since the last call, oldest first.
// They are as typed: a command among them runs as a command.
func (a *Agent) TakeSubmitted() []Prompt {
	a.mu.Lock()
	defer a.mu.Unlock()
	prompts := a.submitted
	a.submitted = nil
	return prompts
}
