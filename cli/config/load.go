package config

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"sort"
	"strings"

	"pi/internal/printable"
	"pi/internal/safefile"

	"github.com/BurntSushi/toml"
)

// Settings are layered: the defaults, the agent directory's config.toml, the
// project's .pi/config.toml, the environment; flags come on top and are the
// caller's. A file with a syntax error counts for nothing; otherwise every value
// is checked by itself, so that one mistake costs one setting.

// Load reads the settings of agentDir and of the project in cwd. It prints
// nothing; the Config is usable whatever the problems are. A file that does not
// exist is no problem. inForce, which may be nil, knows the files of which another
// content is in force than the one on the disk: data is nil for no file.
func Load(agentDir, cwd string, getenv func(string) string, inForce func(path string) (data []byte, ok bool)) (Config, []Problem) {
	cfg := Default()
	home := Home(getenv)
	global := filepath.Join(agentDir, "config.toml")
	problems := loadFile(&cfg, place{file: global, home: home, inForce: inForce})

	project := filepath.Join(cwd, ".pi", "config.toml")
	if !sameFile(global, project) {
		problems = append(problems, loadFile(&cfg, place{file: project, home: home, project: cwd, inForce: inForce})...)
	}
	applyEnvironment(&cfg, getenv)
	return cfg, problems
}

// loadFile applies one file of settings to cfg and returns its problems, in the order of
// their lines. A file that does not exist has none.
func loadFile(cfg *Config, at place) []Problem {
	data, info, err := at.read()
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		cfg.noteLost(at, err, true)
		return []Problem{{File: at.file, Text: err.Error(), Unread: true}}
	}
	d := decode(cfg, at, data)
	if d.literalKey != 0 && info != nil && OthersMayRead(info) {
		d.problems = append(d.problems, Problem{File: at.file, Line: d.literalKey, Warning: true, // however many there are
			Text: fmt.Sprintf("a key stands here in plain text and others may read the file (mode %04o); "+
				"run chmod 600 on it, or write api_key = \"env:NAME\", \"file:PATH\" or \"!command\"", info.Mode().Perm())})
	}
	sort.SliceStable(d.problems, func(i, j int) bool { return d.problems[i].Line < d.problems[j].Line })
	if d.unshown > 0 {
		last := d.problems[len(d.problems)-1].Line
		d.problems = append(d.problems, Problem{File: at.file, Line: last, Text: fmt.Sprintf("and %d more problems in this file", d.unshown)})
	}
	return d.problems
}

// sameFile reports whether both paths lead to one file. It is false if one of them cannot
// be looked at.
func sameFile(a, b string) bool {
	infoA, errA := os.Stat(a)
	infoB, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(infoA, infoB)
}

// decode applies the settings in data to cfg and returns the decoder, which has the
// problems. A text that is too large or no TOML changes nothing.
func decode(cfg *Config, at place, data []byte) *decoder {
	d := &decoder{place: at, origins: cfg.Origins}
	if len(data) > maxSize { // a version that was kept
		return d.rejectFile(cfg, data, 1, "read settings: "+tooLarge(int64(len(data))).Error())
	}
	lines, beyond := indexLines(string(data))
	if beyond != nil {
		return d.rejectFile(cfg, data, beyond.line, beyond.text+leftOut)
	}
	var doc map[string]any
	if _, err := toml.Decode(string(data), &doc); err != nil {
		line, text := syntaxProblem(err, string(data))
		return d.rejectFile(cfg, data, line, text)
	}
	d.lines = lines
	d.decodeDocument(cfg, doc)
	if d.lost != "" {
		cfg.noteLost(at, errors.New(d.lost), d.lostTools)
	}
	return d
}

// rejectFile reports that nothing of a file is used, and why. If the file mentions hooks
// or tools, it may have restricted something, so that is noted as lost.
func (d *decoder) rejectFile(cfg *Config, data []byte, line int, text string) *decoder {
	d.problems = append(d.problems, Problem{File: d.file, Line: line, Text: text, Unread: true})
	ofTools := bytes.Contains(data, []byte(toolsKey))
	if ofTools || bytes.Contains(data, []byte(hookKey)) {
		cfg.noteLost(d.place, fmt.Errorf("line %d: %s", line, text), ofTools)
	}
	return d
}

// noteLost notes that the settings of a file about hooks or tools could not be read, and
// why. A hook that forbids things may be among them, so as long as this is so, only tools
// that read are allowed; with ofTools they are confined to the working directory.
func (c *Config) noteLost(at place, why error, ofTools bool) {
	lost := maps.Clone(c.Lost) // a Config that was handed out shares no map with this one
	if lost == nil {
		lost = map[string]error{}
	}
	lost[at.file] = why
	c.Lost = lost
	if ofTools && at.project == "" {
		c.Tools.Confine = true
	}
}

// syntaxProblem returns the line where a file stops being TOML, and a message. The parser
// may quote what it could not read, so its words are not used if a secret may be near.
func syntaxProblem(err error, data string) (int, string) {
	parse, ok := errors.AsType[toml.ParseError](err)
	if !ok {
		return 1, "syntax error: not valid TOML"
	}
	// A line that ends too early counts as the next one in the position's own line.
	start := min(max(parse.Position.Start, 0), len(data))
	line := max(min(parse.Position.Line, 1+strings.Count(data[:start], "\n")), 1)
	text := ""
	if lines := strings.Split(data, "\n"); line <= len(lines) {
		text = lines[line-1]
	}
	if nearSecret(parse.LastKey) || nearSecret(text) {
		return line, "syntax error: a value cannot be read; text needs quotes"
	}
	return line, "syntax error: " + printable.Short(parse.Message)
}

func nearSecret(s string) bool {
	return strings.Contains(s, "api_key") || strings.Contains(s, "headers") || strings.HasPrefix(s, hookKey+".")
}

// applyEnvironment sets the settings that environment variables decide, at present the
// session directory.
func applyEnvironment(cfg *Config, getenv func(string) string) {
	const name = "PI_CODING_AGENT_SESSION_DIR"
	dir := getenv(name)
	if dir == "" {
		return
	}
	if abs, err := filepath.Abs(Expand(dir, Home(getenv))); err == nil {
		cfg.Session.Dir = abs
		cfg.Origins["session.dir"] = "environment " + name
	}
}

// maxSize is far above any file written by hand; lines.go bounds how
// much a file may contain.
const maxSize = 256 << 10

// ReadFile reads a file of settings or keys, of at most maxSize bytes. Only regular files
// are read: reading a named pipe would never end. The error does not name the file; it
// wraps [fs.ErrNotExist] if there is none.
func ReadFile(file string) ([]byte, fs.FileInfo, error) {
	info, err := os.Stat(file)
	switch {
	case err != nil:
	case !info.Mode().IsRegular():
		err = errors.New("not a regular file")
	case info.Size() > maxSize:
		err = tooLarge(info.Size())
	default:
		var data []byte
		if data, err = safefile.Read(file, maxSize); err == nil {
			return data, info, nil
		}
	}
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) { // the file is named by the problem
		err = pathErr.Err
	}
	return nil, nil, fmt.Errorf("read settings: %w", err)
}

func tooLarge(size int64) error {
	return fmt.Errorf("%d bytes are too many, at most %d are read%s", size, maxSize, leftOut)
}

// leftOut ends each message about a file beyond the bounds.
const leftOut = "; the file is left out"

// OthersMayRead reports whether the mode of a file lets others than its owner read
// it. It is never so on Windows, whose permissions are no mode bits.
func OthersMayRead(info fs.FileInfo) bool {
	return runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0
}
