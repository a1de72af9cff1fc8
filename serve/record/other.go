package record

import (
	"encoding/json"
	"strings"

	"pi/agent"
)

// Records that come from no event, or that a front end writes itself as well.

// BashUpdate returns the record of output of a command that the program runs. id is that of
// its bash command, as it came; nil: it had none.
func BashUpdate(id json.RawMessage, delta string) json.RawMessage {
	l := line(nil).begin("bash_execution_update").foreign("id", id)
	return json.RawMessage(l.text("delta", delta).end())
}

// ExtensionError returns the record of a hook that failed.
func ExtensionError(f *agent.HookFailed) json.RawMessage {
	path, event := f.Path, f.Event
	if name, isCommand := strings.CutPrefix(event, "/"); isCommand {
		path, event = "command:"+name, "command"
	}
	l := line(nil).begin("extension_error").text("extensionPath", path).text("event", event)
	return json.RawMessage(l.text("error", f.Message).end())
}

// CompactionStart returns the record of a compaction that begins.
func CompactionStart(reason string) json.RawMessage {
	return json.RawMessage(line(nil).begin("compaction_start").text("reason", reason).end())
}

// CompactionEnd returns the record of how a compaction ended. One that was aborted says
// not why.
func CompactionEnd(e *agent.CompactionEnd) json.RawMessage {
	l := line(nil).begin("compaction_end").text("reason", e.Reason)
	if e.Done != nil {
		l = l.raw("result", Compaction(e.Done))
	}
	l = l.flag("aborted", e.Aborted).flag("willRetry", e.WillRetry)
	if !e.Aborted {
		l = l.optional("errorMessage", e.ErrorMessage)
	}
	return json.RawMessage(l.end())
}

// QueueUpdate returns the record of the texts that wait.
func QueueUpdate(steering, followUp []string) json.RawMessage {
	l := line(nil).begin("queue_update").texts("steering", steering).texts("followUp", followUp)
	return json.RawMessage(l.end())
}

// texts writes a field that is a list of strings.
func (l line) texts(key string, all []string) line {
	l = append(l.key(key), '[')
	for i, s := range all {
		if i > 0 {
			l = append(l, ',')
		}
		l = appendQuoted(l, s)
	}
	return append(l, ']')
}
