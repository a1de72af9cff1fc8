package cli

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"pi/cli/app"

	"github.com/spf13/pflag"
)

// durationFlag is a time as users write it: 10m, 1h30m, or a number of seconds.
type durationFlag struct{ *time.Duration }

func (d durationFlag) String() string { return "" }
func (d durationFlag) Type() string   { return "duration" }

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

func addLimitFlags(f *pflag.FlagSet, o *app.Options) {
	f.Var(durationFlag{&o.Limits.Time}, "timeout", "with -p and --mode json: end the run after this `TIME`, such as 90s or 10m, with status 124")
	f.Float64Var(&o.Limits.Cost, "max-cost", 0, "end the run with status 5 when it has cost so many `DOLLARS`, its agents included")
}

// checkLimitFlags returns a usage error for a limit that this run cannot have.
func checkLimitFlags(f *pflag.FlagSet, o *app.Options) error {
	served := o.Mode == app.ModeRPC || o.Mode == app.ModeACP
	switch {
	case f.Changed("timeout") && (served || o.Attended()):
		return app.UsageError{Err: errors.New("--timeout is for -p and --mode json, where nobody sees that it takes too long")}
	case !f.Changed("max-cost"):
		return nil
	case !(o.Limits.Cost > 0) || math.IsInf(o.Limits.Cost, 0):
		return app.UsageError{Err: fmt.Errorf("--max-cost %v: it is a number of dollars above 0", o.Limits.Cost)}
	case o.Mode == app.ModeACP:
		return app.UsageError{Err: errors.New("--max-cost is not for --mode acp, which has many sessions: max_cost in config.toml holds for each")}
	}
	return nil
}
