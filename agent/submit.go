package agent

// Submit hands in a prompt from outside the front end, as if it had been typed.
// While the agent works it is queued as a follow-up. Otherwise, and if it is a
// command, it waits for the front end, which is woken through
// [Agent.Submitted]. A prompt in which nothing stands is dropped.
func (a *Agent) Submit(p Prompt) { a.handIn(p, FollowUp) }

// handIn queues a prompt if a run will look at the queues again, and leaves it
// to the front end otherwise.
func (a *Agent) handIn(p Prompt, q Queue) {
	if p.empty() {
		return
	}
	if p.Source == "" {
		p.Source = "hook"
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.queueing && !p.isCommand() {
		a.put(queued{Prompt: p}, q)
		return
	}
	a.leaveToFront(p)
}

// leaveToFront keeps a prompt for the front end and wakes it; the caller holds
// the lock.
func (a *Agent) leaveToFront(p Prompt) {
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
// They are as typed: a command among them runs as a command, unless it is
// [Prompt.Literal].
func (a *Agent) TakeSubmitted() []Prompt {
	a.mu.Lock()
	defer a.mu.Unlock()
	prompts := a.submitted
	a.submitted = nil
	return prompts
}
