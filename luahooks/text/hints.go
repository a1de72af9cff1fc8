package text

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"pi/internal/suggest"
	"pi/stdlib"
	"pi/stdlib/annotated"
	"pi/stdlib/compat"
)

// What authors write who know Lua elsewhere, another agent, or another table of this one, and
// what they mean: a name that is nil or unknown here gets the name that does it. Messages for
// authors end with what is found here.

// Names finds names. It may be used from any goroutine.
type Names struct {
	read    func() *annotated.Set
	systems func() map[string]compat.About // by module
}

// NewNames returns the names of this program. They are read when the first is asked for.
func NewNames() *Names {
	read := func() *annotated.Set {
		set, err := annotated.Read(stdlib.Annotations())
		if err != nil {
			return new(annotated.Set)
		}
		return set
	}
	return &Names{sync.OnceValue(read), sync.OnceValue(describeAll)}
}

// table is a table of the API: how an author writes it, and its class.
type table struct{ written, class string }

// tables are those in which a name is looked for that another one does not have.
func tables() []table {
	return []table{{"ctx.ui", "pi.UI"}, {"ctx", "pi.Context"}, {"pi", "pi"}, {"ctx.session", "pi.Session"}}
}

// Field returns what an author means who reads a field that a table does not have, such as
// "ctx.ui.notify" for notify of ctx; "" if no other table has it. of is what messages call
// the table.
func (n *Names) Field(of, name string) string {
	if inside := n.ofTool(of, name); inside != "" {
		return inside
	}
	if rest, ok := strings.CutPrefix(name, "on"); ok && of == "pi" {
		if event := n.event(rest); event != "" {
			return fmt.Sprintf("pi.on(%q, …)", event)
		}
	}
	if of == "pi" && stdlib.Module("pi."+name) != nil {
		return `require "pi.` + name + `"`
	}
	for _, t := range tables() {
		if t.written == of || strings.HasPrefix(of, "pi.") || strings.HasPrefix(of, inputOf) {
			continue
		}
		if m := n.member(name, t.class); m != "" {
			return t.written + "." + m
		}
	}
	return ""
}

// event returns the event that the words of a name are; "" for none.
func (n *Names) event(words string) string {
	own := strings.Trim(capital.ReplaceAllStringFunc(words, func(c string) string { return "_" + strings.ToLower(c) }), "_")
	if event, _ := n.read().Event(own); event != nil {
		return own
	}
	return Event(words)
}

var capital = regexp.MustCompile(`[A-Z]`)

// ofTool returns an argument or detail of a tool of the program that an author looks for in
// the event of a call or of a result; "" for none.
func (n *Names) ofTool(of, name string) string {
	input := n.member(name, "pi.BashInput", "pi.WriteInput", "pi.EditInput", "pi.GrepInput")
	switch of {
	case "the event tool_call", "the event tool.execute.before":
		if input != "" {
			return "event.input." + input
		}
	case "the event tool_result", "the event tool.execute.after":
		if detail := n.member(name, "pi.BashDetails", "pi.EditDetails"); detail != "" {
			return "event.details." + detail
		}
		if input != "" {
			return "event.input." + input
		}
	}
	return ""
}

// member returns the member of one of some classes that a name means; "" if none has it.
func (n *Names) member(name string, classes ...string) string {
	for _, class := range classes {
		for _, m := range n.read().Names(n.read().Class(class)) {
			if plain(m) == plain(name) {
				return m
			}
		}
	}
	return ""
}

// plain is a name in small letters, without what joins its words.
func plain(name string) string {
	return strings.NewReplacer("_", "", "-", "", ".", "", " ", "").Replace(strings.ToLower(name))
}

// Module returns the module of this program that does what one of a name does elsewhere; ""
// for none.
func Module(name string) string {
	name = strings.TrimPrefix(strings.TrimPrefix(name, "pi."), "node:")
	switch name {
	case "marvin", "omp", "pi_v2":
		name = "compat." + name
	case "oh_my_pi", "oh-my-pi":
		name = "compat.omp"
	case "typebox", "@sinclair/typebox", "zod":
		name = "schema"
	case "cjson", "dkjson", "lunajson", "rxi.json":
		name = "json"
	case "lfs", "posix", "luv", "file", "files", "io", "filesystem":
		name = "fs"
	case "socket.http", "http.request", "requests", "fetch", "net":
		name = "http"
	case "lpeg", "rex_pcre", "regex", "regexp":
		name = "re"
	case "shell", "bash":
		name = "sh"
	case "crypto", "sha256":
		name = "hash"
	case "date", "datetime":
		name = "time"
	case "strings", "utf8":
		name = "text"
	}
	if stdlib.Module("pi."+name) != nil {
		return "pi." + name
	}
	return ""
}

// Required is the end of a message about a module that is not there: what an author means who
// requires it; "" if that is not known.
func Required(name string) string {
	if ours := Module(name); ours != "" {
		return fmt.Sprintf(", did you mean %q?", ours)
	}
	if name == "pi" || ofPi.MatchString(name) {
		return "; pi is a global and is not required; `pi docs porting` says how hooks of other programs get theirs"
	}
	return ""
}

// NoModuleName says that no module can have a name.
func NoModuleName(name string) string {
	return fmt.Sprintf("module name %q: names are words of letters, digits and _ joined by dots%s", name, Required(name))
}

// NoEventName says that a hook cannot emit an event of a name.
func NoEventName(hook, name string) string {
	return fmt.Sprintf("emit: %q is no name for an event of a hook; put a colon in it, such as %s:%s", name, hook, name)
}

// ofPi are packages of JavaScript that hooks of other programs import for their pi, and for its
// types.
var ofPi = regexp.MustCompile(`^(@[\w-]+/)?pi-[\w-]+$`)

// RegistersNothing is what is said of a hook from which nobody calls anything, and ReturnedTable of
// one that returns a table.
const (
	RegistersNothing = "registers nothing: "
	ReturnedTable    = RegistersNothing + "the table that the file returns is ignored; " + returnFunction
	returnFunction   = "return a function: return function(pi) … end"
)

// Uncalled is what is said of a hook that only defines a function.
func Uncalled(name string) string {
	return RegistersNothing + "nobody calls " + name + "; " + returnFunction
}

// Instead says what is used here in the place of a name that Lua has elsewhere, such as "io" or
// "os.execute", of a member that other languages have, such as ".push", and of a parameter that
// got nothing, such as "ctx)"; "" for any other name.
func Instead(name string) string {
	if strings.HasPrefix(name, ".") {
		return members()[strings.ToLower(name)]
	}
	return instead()[name]
}

// members are what texts and lists have in other languages, in small letters.
func members() map[string]string {
	const loop, size = "a list is gone through with for i, x in ipairs(list) do", "the length of a list or text is #x"
	return map[string]string{
		".length": size, ".size": size, ".len": size,
		".push": "list[#list + 1] = x adds to a list", ".append": "list[#list + 1] = x adds to a list", ".pop": "table.remove(list) takes the last of a list",
		".map": loop, ".filter": loop, ".foreach": loop, ".some": loop, ".every": loop, ".reduce": loop,
		".join":     `table.concat(list, ", ") joins a list`,
		".find":     "a list has no methods; the text of content blocks: require \"pi.text\".of(…)",
		".includes": "s:find(x, 1, true) looks for x in a text", ".contains": "s:find(x, 1, true) looks for x in a text", ".indexof": "s:find(x, 1, true) looks for x in a text",
		".startswith": "s:sub(1, #x) == x", ".endswith": "s:sub(-#x) == x",
		".trim": `s:match("^%s*(.-)%s*$")`, ".strip": `s:match("^%s*(.-)%s*$")`,
		".split": `for word in s:gmatch("%S+") do goes through the words`,
		".slice": "s:sub(from, to)", ".substring": "s:sub(from, to)",
		".tolowercase": "s:lower()", ".touppercase": "s:upper()", ".tostring": "tostring(x)",
		".replace": `require "pi.re".replace(s, pattern, x)`, ".replaceall": `require "pi.re".replace(s, pattern, x)`,
		".test": `require "pi.re".test(s, pattern)`,
		".then": "what waits, waits: there is no then and no await",
	}
}

// instead is made for each question: only errors ask.
func instead() map[string]string {
	const files, programs = `files: local fs = require "pi.fs"`, "programs: pi.exec(name, arguments)"
	return map[string]string{
		"ctx":          "a handler gets it as its second argument: function(event, ctx)",
		"event":        "a handler gets it as its first argument: function(event, ctx)",
		"ctx)":         "handlers of events get (event, ctx), those of commands and keys ctx alone",
		"pi.hook":      "handlers: pi.on(event, fn)",
		"io":           files,
		"io.popen":     programs,
		"os.execute":   programs,
		"os.remove":    files,
		"os.rename":    files,
		"os.tmpname":   files,
		"os.exit":      "a hook does not end the program: ctx.shutdown()",
		"dofile":       `modules: require "name"`,
		"loadfile":     `modules: require "name"`,
		"table.unpack": "Lua 5.1 calls it unpack",
		"table.pack":   "Lua 5.1 has { ... } and select",
		"utf8":         `widths and cuts of text: local text = require "pi.text"`,
		"bit":          "Lua 5.1 has no operators of bits",
		"bit32":        "Lua 5.1 has no operators of bits",
		"ffi":          "nothing but Lua runs in a hook",
		"marvin":       `hooks of marvin begin with local marvin = require "pi.compat.marvin"`,
		"vim":          "this is pi, not an editor: vim.notify is ctx.ui.notify",
		"console":      "print(…) tells the person, pi.log(…) writes into the hook log",
		"JSON":         `JSON: local json = require "pi.json"`,
		"json":         `JSON: local json = require "pi.json"`,
		"fs":           files,
		"process":      "variables: os.getenv(name); programs: pi.exec(name, arguments)",
		"sleep":        `waiting: require "pi.timer".sleep(ms)`,
		"setTimeout":   `later: require "pi.timer".after(ms, fn)`,
		"setInterval":  `again and again: require "pi.timer".every(ms, fn)`,
		"fetch":        `requests: require "pi.http".get(url)`,
	}
}

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

// Fails reports whether a function, such as "pi.exec" or "fs.read", returns nil and a message
// where it cannot do what it is for.
func (n *Names) Fails(function string) bool {
	of, name, _ := strings.Cut(function, ".")
	set := n.read()
	class := set.Module("pi." + of)
	switch of {
	case "pi":
		class = set.Class("pi")
	case "ctx":
		class = set.Class("pi.CommandContext")
	}
	m := set.Find(class, name)
	if m == nil || m.Type.Fn == nil || len(m.Type.Fn.Returns) != 2 {
		return false
	}
	for _, returned := range m.Type.Fn.Returns {
		if !mayBeNil(set, returned) {
			return false
		}
	}
	return true
}

// mayBeNil reports whether a type has the value nil.
func mayBeNil(set *annotated.Set, t *annotated.Type) bool {
	for _, part := range set.Parts(t) {
		if part.Kind == annotated.Basic && part.Name == "nil" {
			return true
		}
	}
	return false
}

// Modules returns which modules for hooks of other programs have a name, as the end of a
// message: " (pi.compat.pi_v2 has it)", with the name as they write it where that is another one;
// "" if none has. of is "event" for the name of an event,
// or else what messages call the table that does not have the field: pi, ctx or ctx.ui.
func (n *Names) Modules(of, name string) string {
	var have []string
	written := ""
	for _, module := range compat.Names() {
		names := n.names(module)[of]
		if i := slices.IndexFunc(names, func(known string) bool { return plain(known) == plain(name) }); i >= 0 {
			have, written = append(have, module), names[i]
		}
	}
	as := ""
	if written != name && !n.isOurs(of, written) {
		as = " as " + written
	}
	switch len(have) {
	case 0:
		return ""
	case 1:
		return " (" + have[0] + " has it" + as + ")"
	}
	return " (" + strings.Join(have[:len(have)-1], ", ") + " and " + have[len(have)-1] + " have it" + as + ")"
}

// isOurs reports whether a table of this program has a name, which a message has named then.
func (n *Names) isOurs(of, name string) bool {
	for _, t := range tables() {
		if t.written == of {
			return slices.Contains(n.read().Names(n.read().Class(t.class)), name)
		}
	}
	return false
}

// names are what a module has of events, pi, ctx and ctx.ui; nothing if it cannot be read.
func (n *Names) names(module string) map[string][]string {
	about := n.systems()[module]
	names := map[string][]string{"pi": about.Members, "ctx": about.Context, "ctx.ui": about.UI}
	for _, e := range about.Events {
		names["event"] = append(names["event"], e.Name)
	}
	return names
}

// describeAll describes all modules for hooks of other programs.
func describeAll() map[string]compat.About {
	all := map[string]compat.About{}
	for _, module := range compat.Names() {
		if about, err := compat.Describe(module); err == nil {
			all[module] = about
		}
	}
	return all
}
