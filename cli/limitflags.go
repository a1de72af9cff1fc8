package cli

import (
	"errors"
	"math"
	"strconv"
	"time"

	"pi/cli/app"

	"github.com/spf13/pflag"
)

// limitFlagRows are the flags that say what a run may take.
func limitFlagRows(o *app.Options) []flagRow {
	return []flagRow{
		{name: "timeout", to: durationFlag{&o.Limits.Time}, text: "with -p and --mode json: end the run after this `TIME`, such as 90s or 10m, with status 124",
			more: "It counts from the start of the program, with all that is waited for: standard input, a session that is in use, the model. Tools are ended, the session is whole, and what was said until then is printed."},
		{name: "max-cost", to: dollarsFlag{&o.Limits.Cost}, text: "end the run with status 5 when it has cost so many `DOLLARS`",
			more: "What its agents cost counts, what a session has cost before does not: `max_cost` in config.toml is for that. It is looked at before each request. A model whose price is not known is refused at the start."},
	}
}

// durationFlag is a time as users write it: 10m, 1h30m, or a number of seconds.
type durationFlag struct{ *time.Duration }

func (durationFlag) String() string { return "" }
func (durationFlag) Type() string   { return "duration" }

// Set reads a time, which is more than nothing.
func (d durationFlag) Set(value string) error {
	seconds, err := strconv.ParseFloat(value, 64)
	if err == nil {
		*d.Duration = time.Duration(min(seconds, math.MaxInt64/1e9) * 1e9)
	} else {
		*d.Duration, err = time.ParseDuration(value)
	}
	if err != nil || *d.Duration <= 0 {
		return errors.New("it is a time such as 90s, 10m or 1h30m")
	}
	return nil
}

// dollarsFlag is an amount of money.
type dollarsFlag struct{ *float64 }

func (dollarsFlag) String() string { return "" }
func (dollarsFlag) Type() string   { return "dollars" }

// Set reads an amount, which is more than nothing.
func (d dollarsFlag) Set(value string) (err error) {
	*d.float64, err = strconv.ParseFloat(value, 64)
	if err != nil || !(*d.float64 > 0) || math.IsInf(*d.float64, 0) {
		return errors.New("it is a number of dollars above 0, such as 0.50")
	}
	return nil
}

// checkLimitFlags returns a usage error for a limit that this run cannot have.
func checkLimitFlags(f *pflag.FlagSet, o *app.Options) error {
	served := o.Mode == app.ModeRPC || o.Mode == app.ModeACP
	switch {
	case f.Changed("timeout") && (served || o.Attended()):
		return app.UsageError{Err: errors.New("--timeout is for -p and --mode json, where nobody sees that it takes too long")}
	case f.Changed("max-cost") && o.Mode == app.ModeACP:
		return app.UsageError{Err: errors.New("--max-cost is not for --mode acp, which has many sessions: max_cost in config.toml holds for each")}
	}
	return nil
}
