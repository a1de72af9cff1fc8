package packages

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"pi/internal/printable"
	"pi/luahooks/trust"
)

// Kind is what a source is.
type Kind string

// The kinds of sources.
const (
	Folder  Kind = "folder"
	File    Kind = "file"    // a single hook
	Example Kind = "example" // a hook that the program brings along, which is no package
	Git     Kind = "git"
)

// Source is where a package comes from. It is made by [ParseSource] alone, so its parts are
// safe to be handed to git behind "--".
type Source struct {
	Kind Kind
	// Address is what is read: an absolute path, the name of an example, or the address of a
	// repository as git takes it.
	Address string
	Ref     string // of a repository: a tag, a branch or a whole commit; "": its HEAD
}

// String is the source as a user can write it again, from anywhere.
func (s Source) String() string {
	switch {
	case s.Kind == Example:
		return examplePrefix + s.Address
	case s.Ref != "":
		return s.Address + "@" + s.Ref
	case s.Kind == Git && filepath.IsAbs(s.Address):
		// Without the prefix a repository with a work tree is a folder; C:/hooks has no slash before it.
		return filePrefix + "/" + strings.TrimPrefix(filepath.ToSlash(s.Address), "/")
	}
	return s.Address
}

// Name is the name of the package where it has none of its own: the last part of the address.
func (s Source) Name() string {
	name := strings.TrimRight(filepath.ToSlash(s.Address), "/")
	name = name[strings.LastIndexAny(name, "/:")+1:]
	switch s.Kind {
	case Git:
		name = strings.TrimSuffix(name, ".git")
	case File:
		name = strings.TrimSuffix(name, ".lua")
	}
	return strings.ToLower(name)
}

// What is at a path, for [ParseSource].
type What int

// What a path can lead to. A repository is a folder in the form of git's own, without a work tree.
const (
	Nothing What = iota
	AFile
	AFolder
	ARepository
)

const (
	examplePrefix = "example:"
	filePrefix    = "file://"
	maxSource     = 2_000 // bytes, more than any address has
)

// ParseSource takes a source apart that a user wrote: example:NAME, an address of a repository with
// the schemes https and ssh or as user@host:path, or a path; an address and a path of a repository may have @REF
// behind them. What reaches git can be neither an option nor a transport that runs a command. Relative
// paths begin in cwd; at says what is at a path.
func ParseSource(text, cwd string, at func(path string) What) (Source, error) {
	shown := printable.Short(text)
	switch {
	case text == "":
		return Source{}, errors.New("a source is a folder, a .lua file, example:NAME, or the address of a git repository")
	case len(text) > maxSource:
		return Source{}, fmt.Errorf("source %s: it is longer than %d bytes", shown, maxSource)
	case printable.VisibleLine(text) != text:
		return Source{}, fmt.Errorf("source %s: it has characters that cannot be seen", printable.Short(printable.VisibleLine(text)))
	case text[0] == '-':
		return Source{}, fmt.Errorf("source %s: it begins with -; a path is written ./%s", shown, shown)
	}
	if name, ok := strings.CutPrefix(text, examplePrefix); ok {
		if err := CheckName(name); err != nil {
			return Source{}, fmt.Errorf("source %s: %w", shown, err)
		}
		return Source{Kind: Example, Address: name}, nil
	}
	s, err := parseAddress(text, cwd, at)
	if err != nil {
		return Source{}, fmt.Errorf("source %s: %w", printable.Short(printable.URL(text)), err)
	}
	return s, nil
}

// schemeOf matches the beginning of an address with a scheme, and scp that of user@host:path.
var (
	schemeOf = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([A-Za-z][A-Za-z0-9+.-]*)://`) })
	scp      = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([A-Za-z0-9_][A-Za-z0-9_.-]*)@([^/:@]+):(.*)$`) })
)

// parseAddress is ParseSource for all but examples.
func parseAddress(text, cwd string, at func(path string) What) (Source, error) {
	if scheme := schemeOf().FindStringSubmatch(text); scheme != nil {
		switch strings.ToLower(scheme[1]) {
		case "https", "ssh":
			return parseURL(text)
		case "file":
			return parseFileURL(strings.TrimPrefix(text, scheme[0]), at)
		case "http", "git":
			return Source{}, fmt.Errorf("what %s:// brings can be changed on its way; use https:// or ssh://", scheme[1])
		}
		return Source{}, fmt.Errorf("the scheme %s is not taken; there are https, ssh, user@host:path, and paths", scheme[1])
	}
	path, ref, isThere := splitPath(text, func(p string) bool { return at(absolute(p, cwd)) != Nothing })
	if parts := scp().FindStringSubmatch(text); parts != nil && !isThere {
		return parseSCP(parts)
	}
	return parsePath(text, Source{Address: absolute(path, cwd), Ref: ref}, at)
}

// parseURL takes an address with a scheme and a host apart. The reference begins at the first @ of its path
// that is not the beginning of a name, such as /@scope.
func parseURL(text string) (Source, error) {
	u, err := url.Parse(text)
	if err != nil {
		return Source{}, errors.New("it is no address")
	}
	_, hasPassword := u.User.Password()
	ssh := strings.EqualFold(u.Scheme, "ssh")
	switch {
	case u.User != nil && (hasPassword || !ssh):
		return Source{}, errors.New("a name or password in the address would be written down; let a credential helper of git keep it")
	case u.RawQuery != "" || u.ForceQuery || strings.Contains(text, "#"):
		return Source{}, errors.New("the address of a repository has neither ? nor #")
	}
	if err := cmp.Or(checkHost(u.Hostname()), checkUser(u.User)); err != nil {
		return Source{}, err
	}
	start := strings.Index(text, "://") + len("://")
	slash := strings.IndexByte(text[start:], '/')
	if slash < 0 {
		return Source{}, errors.New("it has a host and no path")
	}
	path, ref, err := cutRef(text[start+slash:])
	if err == nil && strings.Trim(path, "/") == "" {
		err = errors.New("it has a host and no path")
	}
	return Source{Kind: Git, Address: strings.ToLower(u.Scheme) + text[start-len("://"):start+slash] + path, Ref: ref}, err
}

// parseSCP takes user@host:path apart.
func parseSCP(parts []string) (Source, error) {
	if err := checkHost(parts[2]); err != nil {
		return Source{}, err
	}
	path, ref, err := cutRef(parts[3])
	switch {
	case err != nil:
		return Source{}, err
	case strings.Trim(path, "/") == "":
		return Source{}, errors.New("it has a host and no path")
	case path[0] == '-', path[0] == ':': // :: is a transport
		return Source{}, fmt.Errorf("a path cannot begin with %c there", path[0])
	}
	return Source{Kind: Git, Address: parts[1] + "@" + parts[2] + ":" + path, Ref: ref}, nil
}

// parseFileURL takes what follows file:// apart: the repository at a path, also where a folder with a work
// tree is there.
func parseFileURL(path string, at func(path string) What) (Source, error) {
	if path == "" || path[0] != '/' {
		return Source{}, errors.New("file:// is followed by a whole path, as file:///srv/hooks.git")
	}
	if len(path) > 2 && path[2] == ':' && filepath.IsAbs(path[1:]) { // file:///C:/hooks
		path = path[1:]
	}
	whole, ref, isThere := splitPath(path, func(p string) bool { return at(filepath.Clean(p)) != Nothing })
	s := Source{Kind: Git, Address: filepath.Clean(whole), Ref: ref}
	if !isThere {
		return s, fmt.Errorf("there is nothing at %s", s.Address)
	}
	return s, cmp.Or(checkEnd(path), checkGitPath(s))
}

// parsePath finds out what a path is that was taken apart from text. One that leads somewhere as a whole has no
// reference.
func parsePath(text string, s Source, at func(path string) What) (Source, error) {
	switch is := at(s.Address); {
	case is == Nothing && strings.Contains(text, "::"):
		return Source{}, errors.New("a transport that runs a command is not taken; there are https, ssh, user@host:path, and paths")
	case is == Nothing:
		return Source{}, errors.New(notThere(text, s.Address))
	case strings.HasSuffix(text, "@") && !strings.HasSuffix(s.Address, "@"):
		return Source{}, checkEnd(text)
	case is == AFolder && s.Ref == "":
		s.Kind = Folder
		return s, nil
	case is == AFile && s.Ref != "":
		return Source{}, fmt.Errorf("%s is a file and has no %q", s.Address, s.Ref)
	case is == AFile && !strings.HasSuffix(s.Address, ".lua"):
		return Source{}, errors.New("a single file is a hook, and its name ends in .lua")
	case is == AFile:
		s.Kind = File
		return s, nil
	}
	s.Kind = Git
	return s, checkGitPath(s)
}

// checkEnd refuses an @ without a reference.
func checkEnd(text string) error {
	if strings.HasSuffix(text, "@") {
		return CheckRef("")
	}
	return nil
}

// splitPath cuts @REF off a path that leads nowhere as a whole.
func splitPath(text string, exists func(path string) bool) (path, ref string, isThere bool) {
	if exists(text) {
		return text, "", true
	}
	for i := strings.LastIndexByte(text, '@'); i > 0; i = strings.LastIndexByte(text[:i], '@') {
		if exists(text[:i]) {
			return text[:i], text[i+1:], true
		}
	}
	return text, "", false
}

// checkGitPath refuses what git would not take for the path of a repository.
func checkGitPath(s Source) error {
	switch {
	case !filepath.IsAbs(s.Address):
		return errors.New("it is no whole path")
	case strings.Contains(s.Address, "::"):
		return errors.New("git takes a path with :: for something else")
	case s.Ref != "":
		return CheckRef(s.Ref)
	}
	return nil
}

// notThere says that a path leads nowhere, and what may have been meant.
func notThere(text, path string) string {
	host, rest, ok := strings.Cut(text, "/")
	if ok && strings.Contains(host, ".") && strings.Trim(host, ".") != "" && rest != "" {
		return fmt.Sprintf("there is nothing at %s; an address has a scheme: https://%s", path, text)
	}
	return "there is nothing at " + path
}

// absolute is a path that a user wrote, from cwd on.
func absolute(path, cwd string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(cwd, path)
}

// cutRef cuts @REF off a path of an address.
func cutRef(path string) (before, ref string, err error) {
	for i := 1; i < len(path); i++ {
		if path[i] == '@' && path[i-1] != '/' && path[i-1] != '@' {
			return path[:i], path[i+1:], CheckRef(path[i+1:])
		}
	}
	return path, "", nil
}

// hostName matches a name or an IP address of a host.
var hostName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]*$|^[0-9A-Fa-f:.]+$`) })

func checkHost(host string) error {
	if !hostName().MatchString(host) {
		return fmt.Errorf("%q is no name of a host", printable.Short(host))
	}
	return nil
}

// userName matches a name on a server of ssh.
var userName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]*$`) })

func checkUser(user *url.Userinfo) error {
	if user != nil && !userName().MatchString(user.Username()) {
		return errors.New("the name before the host has characters that no name has")
	}
	return nil
}

// CheckRef returns why a text is no reference that a package can be at: git's own rules, and nothing that
// git reads as more than a name.
func CheckRef(ref string) error {
	bad := func(why string) error {
		return fmt.Errorf("%q is no tag, branch or commit: %s", printable.Short(printable.VisibleLine(ref)), why)
	}
	switch {
	case ref == "":
		return bad("it is empty")
	case len(ref) > 250:
		return bad("it is too long")
	case printable.VisibleLine(ref) != ref:
		return bad("it has characters that cannot be seen")
	case strings.ContainsAny(ref[:1], "-+/.@"):
		return bad("it begins with " + ref[:1])
	case strings.ContainsAny(ref, " ~^:?*[\\\"'<>|$`;&"), strings.Contains(ref, ".."), strings.Contains(ref, "@{"), strings.Contains(ref, "//"):
		return bad("it has characters that no name has")
	}
	for part := range strings.SplitSeq(ref, "/") {
		if part == "" || strings.HasPrefix(part, ".") || strings.HasSuffix(part, ".") || strings.HasSuffix(part, ".lock") {
			return bad("a part of it begins or ends as no name does")
		}
	}
	return nil
}

// CheckName returns why a package cannot be called so.
func CheckName(name string) error {
	switch {
	case name == "pi":
		return errors.New("pi is the name of what hooks are given, so no package has it")
	case !trust.IsPackageName(name) || strings.ToLower(name) != name:
		return fmt.Errorf("%q is no name of a package: it has small letters, digits, _ and -, at most 64, and is not sums", printable.Short(printable.VisibleLine(name)))
	case isDevice(name):
		return fmt.Errorf("%q is the name of a device on some systems", name)
	}
	return nil
}
