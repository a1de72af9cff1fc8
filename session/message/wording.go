package message

import (
	"fmt"
	"strings"
)

// The sentences with which things that are no prompt stand before the model.

const (
	compactionIntro = "This is a summary of the earlier conversation, which is no longer shown in full:"
	branchIntro     = "This is a summary of another branch of this conversation, which was left at this point:"
)

// Hidden reports whether no request ever has the message: a failed or aborted
// answer, an excluded command, an empty summary, a message of the role system or of
// one that nobody knows.
func Hidden(m *Message) bool {
	switch m.Role {
	case RoleUser, RoleToolResult, RoleCustom:
		return false
	case RoleAssistant:
		return m.StopReason == StopError || m.StopReason == StopAborted
	case RoleBashExecution:
		return m.ExcludeFromContext
	case RoleBranchSummary, RoleCompactionSummary:
		return m.Summary == ""
	}
	return true
}

// AsUser turns what only the session file knows, messages of hooks, commands and
// summaries, into user messages. Others it returns as they are.
func AsUser(m *Message) *Message {
	switch m.Role {
	case RoleCustom:
		return &Message{Role: RoleUser, Content: m.Content, Timestamp: m.Timestamp}
	case RoleBashExecution:
		return userText(CommandText(m), m.Timestamp)
	case RoleCompactionSummary:
		return userText(summaryText(compactionIntro, m.Summary), m.Timestamp)
	case RoleBranchSummary:
		return userText(summaryText(branchIntro, m.Summary), m.Timestamp)
	}
	return m
}

func userText(s string, at int64) *Message {
	return &Message{Role: RoleUser, Content: []Block{TextBlock(s)}, Timestamp: at}
}

func summaryText(intro, summary string) string {
	return intro + "\n\n<summary>\n" + summary + "\n</summary>"
}

// CommandText is what a model reads of a bashExecution message: the command, its
// output, and how it ended.
func CommandText(m *Message) string {
	var b strings.Builder
	fmt.Fprintf(&b, "The user ran a shell command:\n$ %s\n", m.Command)
	if m.Output == "" {
		b.WriteString("It printed nothing.")
	} else {
		fmt.Fprintf(&b, "<output>\n%s\n</output>", strings.TrimSuffix(m.Output, "\n"))
	}
	if m.Cancelled {
		b.WriteString("\nIt was cancelled.")
	} else if m.ExitCode != nil && *m.ExitCode != 0 {
		fmt.Fprintf(&b, "\nIt exited with status %d.", *m.ExitCode)
	}
	if m.Truncated && m.FullOutputPath != "" {
		fmt.Fprintf(&b, "\nThe output is shortened; all of it, or its last 64 MiB, is in %s.", m.FullOutputPath)
	} else if m.Truncated {
		b.WriteString("\nThe output is shortened.")
	}
	return b.String()
}
