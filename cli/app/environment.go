package app

import (
	"io"
	"os"

	"pi/cli/config"
)

// Environment is what a run takes for the environment of the process. The zero value is
// that itself.
type Environment struct {
	// Getenv is what the settings, the keys and os.getenv of hooks see; nil: os.Getenv.
	Getenv func(name string) string
	// Variables (NAME=value) are given to programs that tools and hooks start, beside those
	// of the process.
	Variables []string
	// Problems of the settings are written here; nil: standard error.
	Stderr io.Writer
}

func (e Environment) stderr() io.Writer {
	if e.Stderr != nil {
		return e.Stderr
	}
	return os.Stderr
}

// getenv returns a variable of the run's environment, "" if it is not set.
func (e Environment) getenv(name string) string {
	if e.Getenv != nil {
		return e.Getenv(name)
	}
	return os.Getenv(name)
}

// home returns the home directory that the environment names; "" if it names none.
func (e Environment) home() string { return config.Home(e.getenv) }
