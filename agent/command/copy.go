package command

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"pi/agent"
	"pi/internal/printable"
	"pi/session"
	"pi/session/message"
)

// copyCommand returns /copy, which gives the last answer or one of its code blocks to
// toClipboard; that returns the way it went.
func copyCommand(a *agent.Agent, toClipboard func(ctx context.Context, text string) (way string, err error)) Command {
	return Command{
		Name: "copy", Topic: TopicSession, Args: "[n]", Help: "copy the last answer, or its n-th code block, to the clipboard",
		More: "What is copied is the text as the model wrote it, not as it is drawn.",
		Run: func(ctx context.Context, args string) (Outcome, error) {
			text, what, err := TextToCopy(a.Session().Branch(), args)
			if err != nil {
				return Outcome{}, err
			}
			lines := strings.Count(strings.TrimSuffix(text, "\n"), "\n") + 1
			way, err := toClipboard(ctx, text)
			if err != nil {
				return Outcome{}, err
			}
			return Outcome{Status: fmt.Sprintf("copied %s: %s, %s (%s)", what, printable.Count(lines, "line"), printable.Size(int64(len(text))), way)}, nil
		},
	}
}

// TextToCopy returns the text of the last answer on a branch, or, if which is a number, that
// of its code block with this number, which count from 1; what says in words which it is.
func TextToCopy(branch []*session.Entry, which string) (text, what string, err error) {
	answer := lastAnswer(branch)
	if answer == "" {
		return "", "", errors.New("copy: there is no answer yet")
	}
	if which == "" {
		return answer, "the last answer", nil
	}
	n, err := strconv.Atoi(which)
	if err != nil || n < 1 {
		return "", "", fmt.Errorf("copy: %q is not the number of a code block; they count from 1", printable.Short(which))
	}
	blocks := message.CodeBlocks(answer)
	if n > len(blocks) {
		return "", "", fmt.Errorf("copy: the last answer has %s", printable.Count(len(blocks), "code block"))
	}
	return blocks[n-1], fmt.Sprintf("code block %d of %d", n, len(blocks)), nil
}

// lastAnswer returns the text of the last message of the model that has one.
func lastAnswer(branch []*session.Entry) string {
	for i := len(branch) - 1; i >= 0; i-- {
		if m := branch[i].Message(); m != nil && m.Role == message.RoleAssistant && strings.TrimSpace(m.Text()) != "" {
			return m.Text()
		}
	}
	return ""
}
