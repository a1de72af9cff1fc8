package keyring

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"pi/agent/llm"
	"pi/cli/config"
	"pi/internal/printable"
)

// authFile is the auth.json of the agent directory: keys and logins by provider. Other programs
// write it too (see folderlock.go). One that renews a login there is noticed at the next request,
// since the file is looked at again when it has changed.
type authFile struct {
	path string

	mu       sync.Mutex
	frozen   int // calls of freeze that were not released
	seen     fileVersion
	logins   map[string]login
	problems []config.Problem
}

// login is one entry: {"type": "api_key", "key": …} or {"type": "oauth", "access": …,
// "refresh": …, "expires": milliseconds}. What stands behind these is in entries that this
// program wrote; other programs have fields of their own.
type login struct {
	Type    string  `json:"type"`
	Key     string  `json:"key"`
	Access  string  `json:"access"`
	Refresh string  `json:"refresh"`
	Expires float64 `json:"expires"` // milliseconds since 1970; 0: never

	Obtained float64           `json:"obtained"`  // likewise; 0: nobody knows
	TokenURL string            `json:"token_url"` // that gave it, and is the only one to renew it; "": nobody knows
	ClientID string            `json:"client_id"`
	Extra    map[string]string `json:"extra"` // went along with each request
	Hook     *llm.LoginHook    `json:"hook"`  // whose functions gave it and are the only ones to use it; nil: no hook's

	name  string          // of the entry
	whole json.RawMessage // the entry as it stands
}

// fileVersion is what tells one content of a file from the next.
type fileVersion struct {
	modified time.Time
	size     int64
	exists   bool
}

func newAuthFile(agentDir string) *authFile {
	return &authFile{path: filepath.Join(agentDir, "auth.json")}
}

// find returns the login of the first of these names that has one. The file is read anew
// if it has changed.
func (f *authFile) find(names ...string) (login, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.refresh()
	for _, name := range names {
		if l, ok := f.logins[name]; ok {
			return l, true
		}
	}
	return login{}, false
}

// all returns the entries in the order of their names.
func (f *authFile) all() (entries []login) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.refresh()
	for _, name := range slices.Sorted(maps.Keys(f.logins)) {
		entries = append(entries, f.logins[name])
	}
	return entries
}

// forget has the file read anew at the next look: its time may be too coarse to tell what was
// written just now from what was there before.
func (f *authFile) forget() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.seen = fileVersion{}
}

// unusable returns the problems with the file: entries that cannot be used, or that others
// may read it.
func (f *authFile) unusable() []config.Problem {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.refresh()
	return slices.Clone(f.problems)
}

// freeze reads the file if it has changed and then not again until release is called, so
// that many look-ups in a row do not check the disk each time.
func (f *authFile) freeze() (release func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.refresh()
	f.frozen++
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.frozen--
	}
}

// refresh reads the file if it has changed on the disk since the last time and it is not
// frozen. The caller has locked mu.
func (f *authFile) refresh() {
	if f.frozen > 0 {
		return
	}
	info, err := os.Stat(f.path)
	now := fileVersion{}
	if err == nil {
		now = fileVersion{info.ModTime(), info.Size(), true}
	}
	if now == f.seen && (err == nil || errors.Is(err, fs.ErrNotExist)) {
		return
	}
	f.seen, f.logins, f.problems = now, nil, nil
	data, info, err := config.ReadFile(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err != nil {
		f.problems = []config.Problem{{File: f.path, Text: err.Error(), Warning: true, Unread: true}}
		return
	}
	f.logins, f.problems = parseLogins(f.path, data)
	if len(f.logins) > 0 && config.OthersMayRead(info) {
		f.problems = append(f.problems, config.Problem{File: f.path, Warning: true,
			Text: fmt.Sprintf("others may read the keys in it (mode %04o); run chmod 600 on it", info.Mode().Perm())})
	}
}

// parseLogins returns the logins in the text of auth.json by name, and the problems. An
// entry that does not fit is left out and the others are used. Errors of the JSON package
// are not repeated, for they may quote a key.
func parseLogins(path string, data []byte) (map[string]login, []config.Problem) {
	bad := func(offset int64, text string) config.Problem {
		offset = max(0, min(offset, int64(len(data))))
		return config.Problem{File: path, Line: 1 + bytes.Count(data[:offset], []byte("\n")), Text: text, Warning: true}
	}
	if offset, ok := validObject(data); !ok {
		problem := bad(offset, "not a valid JSON object; nothing in it is used")
		problem.Unread = true
		return nil, []config.Problem{problem}
	}
	logins, problems := map[string]login{}, []config.Problem(nil)
	d := json.NewDecoder(bytes.NewReader(data))
	for _, err := d.Token(); err == nil && d.More(); {
		var name json.Token
		var entry json.RawMessage
		if name, err = d.Token(); err != nil {
			break
		}
		at := d.InputOffset()
		if err = d.Decode(&entry); err != nil {
			break
		}
		l, text := parseLogin(entry)
		if text != "" {
			problems = append(problems, bad(at, fmt.Sprintf("%q is left out: %s", printable.Short(fmt.Sprint(name)), text)))
			continue
		}
		l.name, l.whole = fmt.Sprint(name), entry
		logins[l.name] = l
	}
	return logins, problems
}

// validObject reports whether data is one JSON object, and if not, at which offset it
// stops being one, if that is known.
func validObject(data []byte) (int64, bool) {
	var all map[string]json.RawMessage
	err := json.Unmarshal(data, &all)
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		return syntax.Offset, false
	}
	return 0, err == nil && all != nil
}

// parseLogin returns the login of one entry; the text says what is wrong with it, "" if
// nothing is.
func parseLogin(entry json.RawMessage) (login, string) {
	var l login
	if err := json.Unmarshal(entry, &l); err != nil {
		return l, "it is not an object with type and key, or type, access and expires"
	}
	switch {
	case l.Type == "api_key" && l.Key == "":
		return l, "it has no key"
	case l.Type == "oauth" && l.Access == "" && l.Hook == nil:
		return l, "it has no access"
	case l.Type != "api_key" && l.Type != "oauth":
		return l, "its type is neither api_key nor oauth"
	}
	return l, ""
}

// expired reports whether a login has run out.
func (l login) expired(now time.Time) bool {
	return l.Type == "oauth" && l.Expires > 0 && !now.Before(l.expiry())
}

func (l login) expiry() time.Time { return time.UnixMilli(int64(l.Expires)) }

// due reports whether a login is to be renewed: five minutes before its end, or after 80 % of a life
// shorter than 25 minutes.
func (l login) due(now time.Time) bool {
	if l.Type != "oauth" || l.Expires <= 0 {
		return false
	}
	early := 5 * time.Minute
	if l.Obtained > 0 {
		early = min(early, l.expiry().Sub(time.UnixMilli(int64(l.Obtained)))/5)
	}
	return !now.Before(l.expiry().Add(-early))
}

// spec is the key of an api_key entry in the form of [Ring.Resolve]. In auth.json a
// variable is named as $NAME, ${NAME} or, if there is one, by its bare name.
func (l login) spec(getenv func(string) string) string {
	key := strings.TrimSpace(l.Key)
	name := strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(key, "$"), "{"), "}")
	if strings.HasPrefix(key, "!") || strings.HasPrefix(key, "env:") {
		return key
	}
	if config.NamesVariable(key) && (key != name || getenv(name) != "") {
		return "env:" + name
	}
	return key
}
