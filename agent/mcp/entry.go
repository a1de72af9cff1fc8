package mcp

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Entry is a server as it is configured. Variables in it are filled in, and paths in Cwd and
// Command are as they are used. It has a Command or a URL. An Entry is not changed once it was handed
// to [Open] or [Servers.Add].
type Entry struct {
	Name string // see [CheckName]

	Command string            // one program, no shell
	Args    []string          // its arguments
	Env     map[string]string // what it gets beside the usual environment
	Cwd     string            // absolute; "": the directory of the session

	URL     string            // of a server that speaks streamable HTTP
	Headers map[string]string // sent with each request to the origin of URL

	Description string              // in the words of the user; "": what the server says
	Exposure    Exposure            // of all tools that Tools says nothing of
	Tools       map[string]Exposure // by pattern, see [Entry.ExposureOf]

	Timeout    time.Duration // of a call without progress; 0: 60 s
	MaxTimeout time.Duration // of a call in all; 0: 30 min
	Protocol   string        // the version to begin with; "": which one works is found out

	TrustAnnotations bool // what its tools claim of themselves is believed
	Disabled         bool // it is listed, and neither started nor shown to the model
	OAuth            *OAuth
	Source           Source

	// Private: only the [Client] of who has put the server there uses it. The model neither
	// finds nor calls its tools.
	Private bool

	// Problem says why the server cannot be started, such as a variable that is not set; nil
	// if it can. The server is listed with it.
	Problem error

	// Check, if set, says why the program must not be started now, as when a file that it is made of
	// has changed; nil if it may be. It is called before each start.
	Check func() error

	// Secrets, if set, returns values of Env and Headers that are known only once somebody
	// asks, as what a command prints. It is called before each start, and what it returns
	// takes the place of values of the same names.
	Secrets func(ctx context.Context) (env, headers map[string]string, err error)
}

// Source says where an entry comes from.
type Source struct {
	Kind SourceKind
	Path string // the file, or the hook's
	Line int    // in it; 0: none in particular
}

// SourceKind says who has configured a server.
type SourceKind string

const (
	FromUser    SourceKind = "user"    // mcp.json of the agent directory
	FromProject SourceKind = "project" // a file of the project, which was approved
	FromClient  SourceKind = "client"  // an editor, for this session
	FromHook    SourceKind = "hook"    // pi.mcp.add and pi.mcp.connect
)

// String is such as "user (/home/u/.pi/agent/mcp.json:3)".
func (s Source) String() string {
	switch {
	case s.Path == "":
		return string(s.Kind)
	case s.Line == 0:
		return fmt.Sprintf("%s (%s)", s.Kind, s.Path)
	}
	return fmt.Sprintf("%s (%s:%d)", s.Kind, s.Path, s.Line)
}

// OAuth is how somebody signs in to a server.
type OAuth struct {
	ClientID          string
	ClientSecret      string
	ClientMetadataURL string
	Scopes            []string
	Port              int // of the address that the answer comes to; 0: any
}

// Exposure is how tools of a server are offered to the model.
type Exposure string

const (
	Search Exposure = "search" // found and called by the tool mcp
	Direct Exposure = "direct" // tools like others
	Off    Exposure = "off"    // neither found, described nor called, by nobody

	// DirectIfFew is Direct while all servers of which it is said have few tools together, else
	// Search. Which it is [Servers.AwaitDirect] finds out, once for a session.
	DirectIfFew Exposure = "direct-if-few"
)

// few is how many tools the servers have together at most that are direct if they have few.
const few = 30

// ParseExposure understands the names of exposures, also those of other programs.
func ParseExposure(text string) (Exposure, error) {
	switch text {
	case "search", "codemode", "deferred":
		return Search, nil
	case "direct":
		return Direct, nil
	case "off", "hidden":
		return Off, nil
	}
	return "", fmt.Errorf("exposure %q: it is search, direct or off", text)
}

// breadth orders exposures, the narrowest first.
func (x Exposure) breadth() int {
	return map[Exposure]int{Off: 0, Search: 1, Direct: 2, DirectIfFew: 2}[cmp.Or(x, Search)]
}

// Narrower reports whether x offers less than other.
func (x Exposure) Narrower(other Exposure) bool { return x.breadth() < other.breadth() }

// ExposureOf is how a tool is offered. Of the patterns of Tools that fit the name, in which *
// and ? stand for characters, the longest counts, and of two that are as long the narrower. While
// it is not known whether there are few tools, they are found by search.
func (e *Entry) ExposureOf(tool string) Exposure {
	x, length := cmp.Or(e.Exposure, Search), -1
	if x == DirectIfFew {
		x = Search
	}
	for pattern, of := range e.Tools {
		longer, as := len(pattern) > length, len(pattern) == length
		if Match(pattern, tool) && (longer || as && of.Narrower(x)) {
			x, length = of, len(pattern)
		}
	}
	return x
}

// mayBe reports whether some tool may have an exposure.
func (e *Entry) mayBe(x Exposure) bool {
	if is := cmp.Or(e.Exposure, Search); is == x || is == DirectIfFew && x != Off {
		return true
	}
	for of := range maps.Values(e.Tools) {
		if of == x {
			return true
		}
	}
	return false
}

// IsHTTP reports whether the server speaks HTTP.
func (e *Entry) IsHTTP() bool { return e.URL != "" }

// CheckName returns an error unless name can be the name of a server: letters, digits, - and
// _, but not __, which stands between the parts of the names of tools.
func CheckName(name string) error {
	switch {
	case name == "":
		return errors.New("the name of a server is empty")
	case len(name) > maxServerName:
		return fmt.Errorf("the name of a server has at most %d characters", maxServerName)
	case strings.Contains(name, "__"):
		return fmt.Errorf("the name of the server %q has __ in it, which stands between server and tool in the names of tools", name)
	case strings.ContainsFunc(name, isNoNameRune):
		return fmt.Errorf("the name of the server %q: only letters, digits, - and _ can be in it", name)
	}
	return nil
}

// CleanName makes a name that CheckName accepts of one that a client of the session has given.
func CleanName(name string) string {
	name = strings.Map(func(r rune) rune {
		if isNoNameRune(r) {
			return '_'
		}
		return r
	}, name)
	for strings.Contains(name, "__") {
		name = strings.ReplaceAll(name, "__", "_")
	}
	return cmp.Or(name[:min(len(name), maxServerName)], "server")
}

// maxServerName leaves room for the name of a tool.
const maxServerName = 40

func isNoNameRune(r rune) bool {
	return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '_' || r == '-')
}

// Hash names what an entry starts or reaches: two with the same are the same server, so that
// what is known of one holds for the other.
func (e *Entry) Hash() string {
	var b []byte // written by hand: each start of the program does this for each server
	add := func(texts ...string) {
		b = strconv.AppendInt(b, int64(len(texts)), 10)
		for _, text := range texts {
			b = append(strconv.AppendInt(append(b, ' '), int64(len(text)), 10), ' ')
			b = append(b, text...)
		}
	}
	add(e.Command, e.Cwd, e.URL)
	add(e.Args...)
	for _, of := range []map[string]string{e.Env, e.Headers} {
		add(slices.Sorted(maps.Keys(of))...)
		for _, name := range slices.Sorted(maps.Keys(of)) {
			add(of[name])
		}
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:16])
}

// usual times of calls; see [Entry].
const (
	usualTimeout    = 60 * time.Second
	usualMaxTimeout = 30 * time.Minute
)

func (e *Entry) timeout() time.Duration { return min(cmp.Or(e.Timeout, usualTimeout), e.maxTimeout()) }

func (e *Entry) maxTimeout() time.Duration { return cmp.Or(e.MaxTimeout, usualMaxTimeout) }

// Match reports whether all of a name is as pattern says, in which * stands for any
// characters and ? for one.
func Match(pattern, name string) bool {
	star, after := -1, 0 // the last * in pattern, and from where it was tried
	p, n := 0, 0
	for n < len(name) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, after = p, n
			p++
		case p < len(pattern) && (pattern[p] == '?' || pattern[p] == name[n]):
			p, n = p+1, n+1
		case star >= 0: // let the * stand for one more
			after++
			p, n = star+1, after
		default:
			return false
		}
	}
	return strings.Trim(pattern[p:], "*") == ""
}
