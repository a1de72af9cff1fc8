package oauth

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"pi/internal/process"
)

// Browser opens addresses for a user. The zero value asks the process's own environment.
type Browser struct {
	Getenv   func(name string) string          // nil: os.Getenv
	LookPath func(name string) (string, error) // nil: exec.LookPath
	System   string                            // "": runtime.GOOS
}

// ErrNoBrowser says that no program is known that opens addresses.
var ErrNoBrowser = errors.New("no program is known here that opens addresses; BROWSER names one")

// settled is how long an opener has to fail. One that still runs then is a browser.
const settled = 2 * time.Second

// Open opens an address by the programs of BROWSER, else by that of the system. A program that
// fails at once gives way to the next. The address is checked before (see [CheckAddress]), and is
// one argument of the program: no shell reads it.
func (b Browser) Open(ctx context.Context, address string) error {
	b = b.withDefaults()
	failed := ErrNoBrowser
	for _, command := range b.commands(address) {
		program, err := b.LookPath(command[0])
		if err != nil {
			if b.Getenv("BROWSER") != "" { // somebody named it
				failed = fmt.Errorf("%s: %w", command[0], reasonOfLookup(err))
			}
			continue
		}
		if failed = start(ctx, program, command[1:]); failed == nil {
			return nil
		}
	}
	return failed
}

func (b Browser) withDefaults() Browser {
	if b.Getenv == nil {
		b.Getenv = os.Getenv
	}
	if b.LookPath == nil {
		b.LookPath = exec.LookPath
	}
	if b.System == "" {
		b.System = runtime.GOOS
	}
	return b
}

// commands returns the commands that may open an address, the first that is to be tried first.
func (b Browser) commands(address string) (all [][]string) {
	if named := b.Getenv("BROWSER"); named != "" {
		list := ":"
		if b.System == "windows" {
			list = ";"
		}
		for command := range strings.SplitSeq(named, list) {
			if words := strings.Fields(command); len(words) > 0 {
				all = append(all, withAddress(words, address))
			}
		}
		return all
	}
	switch b.System {
	case "darwin":
		return [][]string{{"open", address}}
	case "windows":
		return [][]string{{"rundll32", "url.dll,FileProtocolHandler", address}}
	}
	if b.Getenv("WSL_DISTRO_NAME") != "" {
		all = append(all, []string{"wslview", address}, []string{"rundll32.exe", "url.dll,FileProtocolHandler", address})
	}
	if b.Getenv("DISPLAY") != "" || b.Getenv("WAYLAND_DISPLAY") != "" { // without a screen they would begin one in the terminal
		for _, opener := range []string{"xdg-open", "gio", "x-www-browser", "sensible-browser"} {
			words := []string{opener}
			if opener == "gio" {
				words = append(words, "open")
			}
			all = append(all, append(words, address))
		}
	}
	return all
}

// withAddress puts the address where a command has %s, else at its end.
func withAddress(words []string, address string) []string {
	command, placed := make([]string, len(words)), false
	for i, word := range words {
		command[i] = strings.ReplaceAll(word, "%s", address)
		placed = placed || command[i] != word
	}
	if !placed {
		command = append(command, address)
	}
	return command
}

// start starts a program in a session of its own and waits a moment whether it fails.
func start(ctx context.Context, program string, args []string) error {
	cmd := exec.Command(program, args...) // it outlives ctx: the user may read on
	process.Session(cmd)
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w", program, err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }() // it ends with the browser
	timer := time.NewTimer(settled)
	defer timer.Stop()
	select {
	case err := <-ended:
		if err != nil {
			return fmt.Errorf("%s: %w", program, err)
		}
	case <-timer.C:
	case <-ctx.Done():
	}
	return nil
}

// reasonOfLookup is why a program is not found, without its name.
func reasonOfLookup(err error) error {
	if failed, ok := errors.AsType[*exec.Error](err); ok {
		return failed.Err
	}
	return err
}
