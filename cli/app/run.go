package app

import (
	"pi/agent"
	"pi/agent/attach"
	"pi/agent/command"
	"pi/agent/llm"
	"pi/agent/tool"
	"pi/luahooks"
	"pi/luahooks/trust"
)

// run is one run in a place, put together in the order in which its parts need
// each other: hooks, models, session, agent, front end.
type run struct {
	place    *Place
	sessions Sessions // those of the place, unless a hook named another folder
	later    messages
	typed    typedEarly
	models   *llm.Models
	chain    *luahooks.Chain
	skipped  []trust.Source // project hooks that nobody approved
	choice   modelChoice
	prompt   agent.SystemPrompt
	prompts  *command.Prompts               // skills and templates
	attached func(text string) attach.Found // what goes along with a text that a person typed
	agent    *agent.Agent                   // nil until there is a session
	commands *command.Set                   // nil until there is a front end
	settings *command.Settings              // likewise
}

// front is a front end as a run sees it.
type front struct {
	agent.Listener
	agent.UI
}

func (p *Place) newRun() *run {
	r := &run{place: p, sessions: p.Sessions()}
	r.attached = func(text string) attach.Found { return attach.Find(text, p.attachOptions()) }
	r.prompts = &command.Prompts{Library: p.library(r.folders), UI: agent.NoUI{}, Cwd: p.Cwd}
	return r
}

// toolOptions returns the options of the tools. Commands that they start find the session
// and the model in environment variables.
func (r *run) toolOptions() tool.Options {
	o := tool.Options{Cwd: r.place.Cwd, Shell: r.place.Config.Tools.Shell, Confine: r.place.Config.Tools.Confine, Locale: r.place.locale}
	o.Session = func() string {
		if r.agent == nil {
			return ""
		}
		return r.agent.Session().ID()
	}
	o.Env = func() []string {
		if r.agent == nil {
			return nil
		}
		s, m := r.agent.Session(), r.agent.Model()
		return []string{"PI_SESSION_ID=" + s.ID(), "PI_SESSION_FILE=" + s.File(), "PI_PROVIDER=" + m.Provider, "PI_MODEL=" + m.ID}
	}
	return o
}
