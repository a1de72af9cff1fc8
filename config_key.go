package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"strings"
	"time"
	"unicode"
)

// RunCommand runs one command line of the person's and gives what it printed.
type RunCommand func(command string) (stdout, stderr string, err error)

// ResolveKey turns what a settings file says about a key, or about a header
// that carries one, into the key: "env:NAME" is that variable, "!command" is
// what the command prints, anything else is the key itself. The error names the
// variable, or the command and its standard error, and never what it printed.
func ResolveKey(spec string, getenv func(string) string, run RunCommand) (string, error) {
	if name, ok := strings.CutPrefix(spec, "env:"); ok {
		return keyFromVariable(strings.TrimSpace(name), getenv)
	}
	if command, ok := strings.CutPrefix(spec, "!"); ok {
		return keyFromCommand(strings.TrimSpace(command), run)
	}
	return spec, nil
}

func keyFromVariable(name string, getenv func(string) string) (string, error) {
	if name == "" {
		return "", errors.New(`read key: "env:" names no variable`)
	}
	key := strings.TrimSpace(getenv(name))
	if key == "" {
		return "", fmt.Errorf("read key: environment variable %s is not set", name)
	}
	if !isOneLine(key) {
		return "", fmt.Errorf("read key: environment variable %s holds more than one line", name)
	}
	return key, nil
}

func keyFromCommand(command string, run RunCommand) (string, error) {
	if command == "" {
		return "", errors.New(`read key: "!" names no command`)
	}
	stdout, stderr, err := run(command)
	if err != nil {
		if said := printable(strings.TrimSpace(stderr)); said != "" {
			return "", fmt.Errorf("read key: command %q: %w: %s", command, err, said)
		}
		return "", fmt.Errorf("read key: command %q: %w", command, err)
	}
	key := strings.TrimSpace(stdout)
	if key == "" {
		return "", fmt.Errorf("read key: command %q printed nothing", command)
	}
	if !isOneLine(key) {
		return "", fmt.Errorf("read key: command %q printed more than one line", command)
	}
	return key, nil
}

// isOneLine keeps out what no HTTP header can carry.
func isOneLine(key string) bool { return strings.IndexFunc(key, unicode.IsControl) < 0 }

// KeyCommand is the RunCommand of the program: the system's shell, no standard
// input, ended with ctx.
func KeyCommand(ctx context.Context) RunCommand {
	return func(command string) (string, string, error) {
		shell, flag := "sh", "-c"
		if runtime.GOOS == "windows" {
			shell, flag = "cmd", "/C"
		}
		var stdout, stderr bytes.Buffer
		cmd := exec.CommandContext(ctx, shell, flag, command)
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		cmd.WaitDelay = time.Second // a child left behind may keep the pipes open
		err := cmd.Run()
		if errors.Is(err, exec.ErrWaitDelay) {
			err = nil
		}
		return stdout.String(), stderr.String(), err
	}
}
