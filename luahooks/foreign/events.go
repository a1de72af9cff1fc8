package foreign

import (
	"fmt"

	"pi/internal/suggest"
)

// Event returns what an event of another program is called here; "" if nothing is known of
// the name.
func Event(name string) string { return events()[plain(name)] }

// UnknownEvent says what is wrong with the name of an event that is none of known. has says
// which module has it, "" for none.
func UnknownEvent(event string, known []string, has string) string {
	hint := suggest.Hint(event, known)
	if ours := Event(event); ours != "" {
		hint = fmt.Sprintf(", did you mean %q?", ours)
	}
	if hint += has; hint == "" {
		hint = "; one that hooks emit has a colon in its name, and `pi hooks events` lists the others"
	}
	return fmt.Sprintf("unknown event %q%s", event, hint)
}

// events are the names of this program by those of others, which are written as plain does.
func events() map[string]string {
	return map[string]string{
		// commands as hooks: Claude Code, Codex, crush
		"pretooluse": "tool_call", "posttooluse": "tool_result", "posttoolusefailure": "tool_result", "userpromptsubmit": "input",
		"stop": "agent_before_settle", "precompact": "session_before_compact", "postcompact": "session_compact",
		"sessionend": "session_shutdown", "permissionrequest": "tool_call", "notification": "ui_prompt_start",
		// names with dots: marvin, oh-my-pi, opencode
		"toolexecutebefore": "tool_call", "toolexecuteafter": "tool_result", "sessionclear": "session_new", "sessionbeforeclear": "session_before_new",
		"sessionresume": "session_switch", "modelchange": "model_select", "compactbefore": "session_before_compact", "compactafter": "session_compact",
		"ttsrtriggered": "omp:ttsr_triggered", "todoreminder": "omp:todo_reminder",
		"chatmessage": "input", "chatparams": "before_provider_request", "permissionask": "tool_call", "sessionidle": "agent_settled", "sessioncreated": "session_start",
		// what people say
		"beforetoolcall": "tool_call", "aftertoolcall": "tool_result", "toolcallend": "tool_result", "beforetool": "tool_call", "aftertool": "tool_result",
		"prompt": "input", "usermessage": "input", "response": "message_end", "message": "message_end", "startup": "session_start", "exit": "session_shutdown",
		"quit": "session_shutdown", "shutdown": "session_shutdown", "error": "hook_error", "bash": "tool_call", "command": "user_bash",
	}
}
