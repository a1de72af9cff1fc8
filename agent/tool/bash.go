package tool

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"pi/agent"
)

//go:embed bash.md
var bashText string

const bashSchema = `{
  "type": "object",
  "properties": {
    "command": {"type": "string", "description": "Command line for the shell"},
    "timeout": {"type": "number", "minimum": 0, "description": "Seconds after which the command is stopped; without it there is no limit"}
  },
  "required": ["command"],
  "additionalProperties": false
}`

// maxTimeout is where a timeout counts as none: a hundred days.
const maxTimeout = 100 * 24 * 3600

var errTimeout = errors.New("the command's timeout passed")

type bashArgs struct {
	Command string  `json:"command"`
	Timeout float64 `json:"timeout"`
}

type bashDetails struct {
	Truncation     *Truncation `json:"truncation,omitempty"`
	FullOutputPath string      `json:"fullOutputPath,omitempty"`
	ExitCode       *int        `json:"exitCode,omitempty"`
}

// bash runs a command in a shell. How it ends, also by its timeout, is told in the
// result; an error means that it was not started.
func (k *kit) bash(ctx context.Context, a bashArgs, update agent.Update) (agent.Result, error) {
	if strings.TrimSpace(a.Command) == "" {
		return agent.Result{}, errors.New("bash: the command is empty")
	}
	if a.Timeout < 0 {
		return agent.Result{}, fmt.Errorf("bash: timeout is %g seconds; give a positive number, or none for no limit", a.Timeout)
	}
	if a.Timeout > 0 && a.Timeout < maxTimeout {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, time.Duration(a.Timeout*float64(time.Second)), errTimeout)
		defer cancel()
	}
	if update != nil {
		update(agent.Result{Details: json.RawMessage("{}")}) // it begins
	}
	out, err := runShell(ctx, k.Options, a.Command, progress(update))
	if err != nil {
		return agent.Result{}, fmt.Errorf("bash: %w", err)
	}
	own := errors.Is(context.Cause(ctx), errTimeout)
	return out.result(a.Timeout, own), nil
}

// progress makes partial results for update of new output: each is the end of all
// output so far. Without update nothing is made.
func progress(update agent.Update) watcher {
	if update == nil {
		return watcher{}
	}
	return watcher{end: func(o *output) {
		text, t := o.tail()
		update(textResult(text, bashDetails{Truncation: t.orNil()}))
	}}
}

// orNil is nil for a text that is whole.
func (t Truncation) orNil() *Truncation {
	if !t.Truncated {
		return nil
	}
	return &t
}

// result is the outcome for the model. own reports that a timeout that passed was the
// one of the call, of that many seconds, and not the limit of the whole run.
func (o *BashOutcome) result(timeout float64, own bool) agent.Result {
	var notes []string
	if o.Truncation.Truncated {
		notes = append(notes, o.truncationNotice())
	}
	if o.Background {
		notes = append(notes, "[a process in the background still holds the output; what it says from now on is not shown: redirect it to a file to see it]")
	}
	if end := o.end(timeout, own); end != "" {
		notes = append(notes, end)
	}
	text := o.Output
	if text == "" {
		text = "(no output)"
	}
	r := textResult(withNotes(text, notes...), bashDetails{o.Truncation.orNil(), o.FullOutputPath, o.ExitCode})
	r.IsError = !o.Ok()
	return r
}

// truncationNotice names the lines that are shown, and the file with all of them.
func (o *BashOutcome) truncationNotice() string {
	where := "all of it: " + o.FullOutputPath
	if o.FullOutputCut {
		where = "the last " + size(keptOutput) + " of it: " + o.FullOutputPath
	}
	if o.FullOutputPath == "" {
		where = "the rest is lost"
		if o.FullOutputErr != nil {
			where += ": " + o.FullOutputErr.Error()
		}
	}
	t := o.Truncation
	if t.partial {
		return fmt.Sprintf("[only the last %s of line %d, the last one; %s]", size(maxBytes), t.TotalLines, where)
	}
	return fmt.Sprintf("[lines %d-%d of %d; %s]", t.TotalLines-t.OutputLines+1, t.TotalLines, t.TotalLines, where)
}

// end tells the model how the command ended, if not with success; "" then. own is as in
// result.
func (o *BashOutcome) end(timeout float64, own bool) string {
	switch {
	case o.TimedOut && own:
		return fmt.Sprintf("[timed out after %g s and was stopped; give a longer timeout, or run it in the background with its output in a file]", timeout)
	case o.TimedOut:
		return "[stopped: the time limit of the whole run was reached]"
	case o.Cancelled:
		return "[cancelled]"
	case o.Signal != "":
		return "[killed by " + o.Signal + "]"
	case o.ExitCode != nil && *o.ExitCode != 0:
		return fmt.Sprintf("[exit code %d]", *o.ExitCode)
	}
	return ""
}
