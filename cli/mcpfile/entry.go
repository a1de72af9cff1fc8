package mcpfile

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"pi/agent/mcp"
	"pi/cli/config"
	"pi/internal/printable"
	"pi/internal/suggest"
)

// entryReader reads one entry.
type entryReader struct {
	*reader
	name    string
	expand  *expander
	server  Server
	kind    string              // as type says; "": nothing does
	prints  map[string][]secret // below env and headers
	beside  []string            // fields that say what server it is
	spoilt  bool                // something is wrong that leaves the entry out
	unknown []string
}

// secret is a value that a command prints.
type secret struct{ name, command string }

// fields are the names of what can stand in an entry. The last ones are those of other
// programs for the same.
func fields() []string {
	return []string{"type", "command", "args", "env", "cwd", "url", "headers", "description", "exposure", "tools", "timeout", "max_timeout",
		"protocol", "trust_annotations", "enabled", "oauth", "disabled", "transport"}
}

// read reads an entry; ok is false if it is left out.
func (e *entryReader) read(m member) (s Server, ok bool) {
	if m.value.kind != kindObject {
		e.wrong(m.value, "an object is expected")
		return s, false
	}
	e.prints = map[string][]secret{}
	e.server.Name = e.name
	e.server.Source = mcp.Source{Kind: e.origin.Kind, Path: e.origin.Path, Line: lineOf(e.data, m.at)}
	for _, field := range m.value.members {
		e.field(field)
	}
	for _, name := range e.unknown {
		e.warn(m.value.member(name), fmt.Sprintf("%q is not understood%s, and has no effect", printable.Short(name), suggest.Hint(name, fields())))
	}
	e.settle(m)
	e.server.Variables = e.expand.variables()
	return e.server, !e.spoilt
}

// wrong reports a mistake that leaves the entry out.
func (e *entryReader) wrong(at *node, text string) {
	e.spoilt = true
	outcome := " is left out"
	if e.origin.Kind == mcp.FromHook { // who wrote it is told by an error
		outcome = ""
	}
	e.report(at.from, fmt.Sprintf("server %q%s: %s", e.name, outcome, text), false)
}

// warn reports a mistake that leaves only the field out.
func (e *entryReader) warn(at *node, text string) {
	e.report(at.from, fmt.Sprintf("server %q: %s", e.name, text), true)
}

// field reads one field of the entry.
func (e *entryReader) field(m member) {
	s, v := &e.server, m.value
	if v.kind == kindNull { // as good as not there
		return
	}
	switch m.name {
	case "type", "transport":
		e.kind, _ = e.text(m)
	case "command":
		s.written.command, s.Command = e.filled(m)
		e.beside = append(e.beside, m.name)
	case "args":
		s.written.args, s.Args = e.texts(m)
		e.beside = append(e.beside, m.name)
	case "env":
		s.written.env, s.Env = e.values(m)
		e.beside = append(e.beside, m.name)
	case "cwd":
		s.written.cwd, s.Cwd = e.filled(m)
		e.beside = append(e.beside, m.name)
	case "url":
		s.written.url, s.URL = e.filled(m)
		e.beside = append(e.beside, m.name)
	case "headers":
		s.written.headers, s.Headers = e.values(m)
		e.beside = append(e.beside, m.name)
	case "description":
		text, _ := e.text(m)
		s.Description = printable.Line(text)
	case "exposure":
		s.Exposure = e.exposureOf(m.name, v)
	case "tools":
		e.tools(v)
	case "timeout":
		s.Timeout = e.seconds(m)
	case "max_timeout":
		s.MaxTimeout = e.seconds(m)
	case "protocol":
		s.Protocol, _ = e.text(m)
	case "trust_annotations":
		s.TrustAnnotations = e.flag(m) && e.mayTrust(v)
	case "enabled":
		s.Disabled = s.Disabled || !e.flag(m)
	case "disabled":
		s.Disabled = s.Disabled || e.flag(m)
	case "oauth":
		s.OAuth = e.oauth(v)
	default:
		e.unknown = append(e.unknown, m.name)
	}
}

// text is a field that is a text as it stands.
func (e *entryReader) text(m member) (string, bool) {
	if m.value.kind != kindText {
		e.wrong(m.value, fmt.Sprintf("%s has to be a text, and is %s", m.name, m.value.kind))
		return "", false
	}
	return m.value.text, true
}

// filled is a text as it stands, and with its variables filled in.
func (e *entryReader) filled(m member) (as, filled string) {
	as, ok := e.text(m)
	if !ok {
		return "", ""
	}
	if config.IsMasked(as) {
		e.server.Problem = errMasked
	}
	filled, err := e.expand.fill(as)
	if err != nil {
		e.wrong(m.value, m.name+": "+err.Error())
	}
	return as, filled
}

// texts is a list of texts, as they stand and filled in.
func (e *entryReader) texts(m member) (as, filled []string) {
	if m.value.kind != kindList {
		e.wrong(m.value, fmt.Sprintf("%s has to be a list of texts, and is %s", m.name, m.value.kind))
		return nil, nil
	}
	for i, item := range m.value.items {
		one, in := e.filled(member{name: fmt.Sprintf("%s[%d]", m.name, i), value: item})
		as, filled = append(as, one), append(filled, in)
	}
	return as, filled
}

// values is an object of texts, as they stand and filled in. One that a command prints is known
// only when the server is started.
func (e *entryReader) values(m member) (as []pair, filled map[string]string) {
	if m.value.kind != kindObject {
		e.wrong(m.value, fmt.Sprintf("%s has to be an object of texts, and is %s", m.name, m.value.kind))
		return nil, nil
	}
	filled = map[string]string{}
	for _, v := range m.value.members {
		v.value = ofNumber(v.value)
		one, ok := e.text(member{name: m.name + "." + v.name, value: v.value})
		if !ok {
			continue
		}
		as = append(as, pair{v.name, one})
		if command, prints := strings.CutPrefix(one, "!"); prints {
			e.printed(m.name, v, strings.TrimSpace(command))
			filled[v.name] = "" // that it is there is known
			continue
		}
		if _, in := e.filled(member{name: m.name + "." + v.name, value: v.value}); !e.spoilt {
			filled[v.name] = in
		}
	}
	return as, filled
}

// ofNumber makes a text of a number or a flag, as others let them stand among variables.
func ofNumber(n *node) *node {
	if n.kind != kindNumber && n.kind != kindFlag {
		return n
	}
	c := *n
	c.kind = kindText
	return &c
}

// printed notes a value that a command prints.
func (e *entryReader) printed(group string, m member, command string) {
	name := group + "." + m.name
	switch {
	case e.origin.Kind != mcp.FromUser || e.origin.Run == nil:
		e.wrong(m.value, name+`: "!" runs a command, which only your own mcp.json may have`)
	case command == "":
		e.wrong(m.value, name+`: "!" names no command`)
	default:
		e.prints[group] = append(e.prints[group], secret{m.name, command})
	}
}

// exposureOf reads the name of an exposure.
func (e *entryReader) exposureOf(name string, v *node) mcp.Exposure {
	if v.kind != kindText {
		e.wrong(v, fmt.Sprintf("%s has to be search, direct or off", name))
		return ""
	}
	x, err := mcp.ParseExposure(v.text)
	if err != nil {
		e.wrong(v, fmt.Sprintf("%s is %q, and has to be search, direct or off", name, printable.Short(printable.Line(v.text))))
	}
	return x
}

// tools reads what is said of single tools.
func (e *entryReader) tools(v *node) {
	if v.kind != kindObject {
		e.wrong(v, "tools has to be an object: names or patterns, and search, direct or off for each")
		return
	}
	e.server.Tools = map[string]mcp.Exposure{}
	for _, m := range v.members {
		e.server.Tools[m.name] = e.exposureOf(fmt.Sprintf("tools %q", printable.Short(m.name)), m.value)
	}
}

// maxSeconds bounds times: whoever writes more means milliseconds.
const maxSeconds = 24 * 60 * 60

// seconds reads a time.
func (e *entryReader) seconds(m member) time.Duration {
	n := m.value.number
	if m.value.kind != kindNumber || !(n > 0) || n > maxSeconds || math.IsInf(n, 0) {
		e.wrong(m.value, fmt.Sprintf("%s is a number of seconds, at most %d", m.name, maxSeconds))
		return 0
	}
	return time.Duration(n * float64(time.Second))
}

// flag reads true or false.
func (e *entryReader) flag(m member) bool {
	if m.value.kind != kindFlag {
		e.wrong(m.value, m.name+" has to be true or false")
	}
	return m.value.flag
}

// mayTrust reports whether an entry may have what its tools claim believed: one of the user may.
func (e *entryReader) mayTrust(v *node) bool {
	if e.origin.Kind == mcp.FromUser {
		return true
	}
	e.warn(v, "trust_annotations is for your own mcp.json, and has no effect here")
	return false
}

// oauth reads how somebody signs in.
func (e *entryReader) oauth(v *node) *mcp.OAuth {
	if v.kind != kindObject {
		e.wrong(v, "oauth has to be an object")
		return nil
	}
	var o mcp.OAuth
	for _, m := range v.members {
		switch m.name {
		case "clientId":
			_, o.ClientID = e.filled(m)
		case "clientSecret":
			_, o.ClientSecret = e.filled(m)
		case "clientMetadataUrl":
			_, o.ClientMetadataURL = e.filled(m)
		case "scopes":
			_, o.Scopes = e.texts(m)
		case "port":
			if n := m.value.number; m.value.kind != kindNumber || n != math.Trunc(n) || n < 0 || n > 65535 {
				e.wrong(m.value, "oauth.port is the number of a port, 0 for any")
			} else {
				o.Port = int(n)
			}
		default:
			known := []string{"clientId", "clientSecret", "clientMetadataUrl", "scopes", "port"}
			e.warn(m.value, fmt.Sprintf("oauth.%s is not understood%s, and has no effect", printable.Short(m.name), suggest.Hint(m.name, known)))
		}
	}
	if u, err := url.Parse(o.ClientMetadataURL); o.ClientMetadataURL != "" && (err != nil || u.Scheme != "https" || strings.Trim(u.Path, "/") == "") {
		e.wrong(v, "oauth.clientMetadataUrl has to be an https address with a path")
	}
	if o.ClientSecret != "" && o.ClientID == "" {
		e.wrong(v, "oauth.clientSecret goes with a clientId")
	}
	return &o
}

// settle checks what the fields say together, and makes paths absolute.
func (e *entryReader) settle(m member) {
	s := &e.server
	if e.spoilt {
		return
	}
	switch e.kind {
	case "", "stdio", "http", "streamable-http", "streamableHttp":
	case "sse":
		e.wrong(m.value.member(e.kindField(m)), `type "sse" is the old way over HTTP, which is not spoken here; most servers have the new one at an address that ends in /mcp: try that with type "http"`)
	default:
		e.wrong(m.value.member(e.kindField(m)), fmt.Sprintf("type %q is not known: there are stdio and http", printable.Short(printable.Line(e.kind))))
	}
	switch isHTTP := e.kind != "" && e.kind != "stdio"; {
	case e.spoilt:
	case len(e.beside) == 0 && e.kind == "":
		s.Narrows = true
		if e.origin.Kind != mcp.FromProject {
			e.wrong(m.value, "it has neither command nor url")
		}
	case s.Command != "" && s.URL != "":
		e.wrong(m.value, "it has a command and a url, and can have only one")
	case isHTTP && s.URL == "":
		e.wrong(m.value, "it has no url")
	case e.kind == "stdio" && s.Command == "", s.Command == "" && s.URL == "":
		e.wrong(m.value, "it has no command")
	case s.Command != "" && len(s.Headers) > 0:
		e.wrong(m.value, "headers go with a url")
	case s.URL != "" && len(s.Args)+len(s.Env)+len(s.Cwd) > 0:
		e.wrong(m.value, "args, env and cwd go with a command")
	case s.URL != "":
		e.settleURL(m.value.member("url"))
	default:
		e.settlePaths(m.value)
	}
	if s.Problem = cmp.Or(s.Problem, e.expand.problem()); s.Problem == nil && len(e.prints) > 0 {
		s.Secrets = e.secrets(maps.Clone(e.prints))
	}
}

// kindField is the field that names the type.
func (e *entryReader) kindField(m member) string {
	if m.value.member("type") == nil {
		return "transport"
	}
	return "type"
}

// settleURL checks an address.
func (e *entryReader) settleURL(at *node) {
	u, err := url.Parse(e.server.URL)
	switch {
	case e.expand.problem() != nil: // it is said what is missing
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		e.wrong(at, "url has to be an address that begins with https:// or http://")
	case u.User != nil:
		e.wrong(at, `url has a name or password in it; what signs requests is a header, as in "headers": {"Authorization": "!pass show NAME"}`)
	case u.Fragment != "":
		e.wrong(at, "url has a part behind #, which no server sees")
	}
}

// settlePaths makes the paths of a command absolute. A command without a slash is looked for in
// PATH when the server is started.
func (e *entryReader) settlePaths(at *node) {
	s, o := &e.server, e.origin
	if strings.ContainsRune(s.written.command+s.written.cwd+strings.Join(s.Args, ""), 0) || strings.TrimSpace(s.Command) == "" {
		e.wrong(at, "command has to name a program")
		return
	}
	if s.Command = config.Expand(s.Command, o.Home); filepath.Base(s.Command) != s.Command {
		s.Command = inDir(o.Base, s.Command)
	}
	if s.Cwd != "" || o.Kind == mcp.FromProject {
		s.Cwd = inDir(o.Base, config.Expand(s.Cwd, o.Home))
	}
	if strings.ContainsAny(s.written.command, " \t") && len(s.Args) == 0 && filepath.Base(s.Command) == s.Command {
		e.warn(at, "command is one program, and what follows it belongs into args: there is no shell that takes it apart")
	}
}

func inDir(dir, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

// secrets returns what runs the commands of values, each in its turn.
func (e *entryReader) secrets(prints map[string][]secret) func(context.Context) (env, headers map[string]string, err error) {
	run := e.origin.Run
	resolve := func(ctx context.Context, list []secret) (map[string]string, error) {
		values := map[string]string{}
		for _, s := range list {
			value, err := run(ctx, s.command)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", s.name, err)
			}
			values[s.name] = value
		}
		return values, nil
	}
	return func(ctx context.Context) (env, headers map[string]string, err error) {
		if env, err = resolve(ctx, prints["env"]); err == nil {
			headers, err = resolve(ctx, prints["headers"])
		}
		return env, headers, err
	}
}

// isVariablesOnly reports whether a value says where a secret is, and is none itself.
func isVariablesOnly(value string) bool {
	if strings.HasPrefix(value, "!") {
		return true
	}
	for _, scheme := range []string{"Bearer ", "Basic ", "token "} {
		value = strings.TrimPrefix(value, scheme)
	}
	return strings.HasPrefix(value, "${") && strings.Index(value, "}") == len(value)-1 && !strings.Contains(value, ":-") || slices.Contains([]string{"", "true", "false", "0", "1"}, value)
}
