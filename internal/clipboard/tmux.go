package clipboard

import (
	"context"
	"errors"
	"os/exec"
	"strings"
	"time"
)

// tmux gives a text to the tmux that the terminal is in. As it comes (set-clipboard
// external) it drops the sequences of programs, but hands on what it is told to load. Where
// it is to leave the clipboard alone, only its own buffer has the text.
func (c Clipboard) tmux(ctx context.Context, text string) (way string, err error) {
	if c.Getenv("TMUX") == "" {
		return "", errors.New("there is no tmux around")
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	setting, err := c.Output(ctx, "tmux", "show-options", "-sv", "set-clipboard")
	if err != nil {
		return "", err
	}
	if strings.TrimSpace(setting) == "off" {
		return "into tmux's buffer", c.Run(ctx, "tmux", []string{"load-buffer", "-"}, []byte(text))
	}
	return "tmux", c.Run(ctx, "tmux", []string{"load-buffer", "-w", "-"}, []byte(text))
}

// outputOf runs a program and returns what it printed.
func outputOf(ctx context.Context, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	return string(out), err
}
