package agent

import (
	"sync/atomic"

	"pi/agent/llm"
)

// Settings are the plain values of the configuration that the loop obeys.
type Settings struct {
	MaxTurns    int  // per prompt; 0: no limit
	MaxRepeats  int  // the same call with the same result, and nothing new in between; 0: no limit
	SteerAll    bool // deliver all steering lines at once instead of one per turn
	FollowUpAll bool

	MaxContinuations int // model requests that hooks may add until somebody says something

	MaxAnswerBytes int // of one answer; 0: no limit

	MaxCost float64 // per session, in the currency of the prices; 0: no limit

	Compaction CompactionSettings
	Retry      RetrySettings

	ImageScale bool // images that are too large for models are made smaller

	Patience llm.Patience // with servers
}

// inForce are the settings that hold now. All parts of an agent have the same one. It is
// safe for concurrent use.
type inForce struct{ settings atomic.Pointer[Settings] }

func newInForce(s Settings) *inForce {
	f := &inForce{}
	f.set(s)
	return f
}

func (f *inForce) get() Settings { return *f.settings.Load() }

func (f *inForce) set(s Settings) { f.settings.Store(&s) }

// Settings returns the settings that hold now.
func (a *Agent) Settings() Settings { return a.settings.get() }

// SetSettings makes other settings hold from now on, also for a run in progress: each
// counts when it is looked at the next time.
func (a *Agent) SetSettings(s Settings) { a.settings.set(s) }
