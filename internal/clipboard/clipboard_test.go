package clipboard

import (
	"context"
	"encoding/base64"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// place is a machine with these variables and programs, which notes what it is given.
type place struct {
	variables map[string]string
	programs  []string
	failing   []string
	tmux      string // its set-clipboard; "": it does not answer
	system    string
	terminal  bool
	broken    bool // the terminal

	written string
	ran     string
	in      []byte
}

func (p *place) clipboard() Clipboard {
	c := Clipboard{
		System: p.system,
		Getenv: func(name string) string { return p.variables[name] },
		LookPath: func(name string) (string, error) {
			if slices.Contains(p.programs, name) {
				return "/bin/" + name, nil
			}
			return "", errors.New("not found")
		},
		Output: func(_ context.Context, name string, args ...string) (string, error) {
			if asked := strings.Join(append([]string{name}, args...), " "); p.tmux == "" || asked != "tmux show-options -sv set-clipboard" {
				return "", errors.New("no server running")
			}
			return p.tmux + "\n", nil
		},
		Run: func(_ context.Context, name string, args []string, in []byte) error {
			p.ran += strings.Join(append([]string{name}, args...), " ") + ";"
			if slices.Contains(p.failing, name) {
				return errors.New("no display")
			}
			p.in = in
			return nil
		},
	}
	if p.terminal {
		c.Terminal = func(sequence string) error {
			if p.broken {
				return errors.New("broken pipe")
			}
			p.written = sequence
			return nil
		}
	}
	return c
}

func TestATextGoesTheFirstWayThatThereIs(t *testing.T) {
	all := []string{"wl-copy", "xclip", "xsel", "pbcopy", "clip.exe"}
	x := map[string]string{"TERM": "xterm", "DISPLAY": ":0"}
	tmux := map[string]string{"TERM": "tmux-256color", "TMUX": "/tmp/tmux-0/default,1,0", "DISPLAY": ":0"}
	large := strings.Repeat("x", MostForTerminal+1)
	for _, tt := range []struct {
		name      string
		place     place
		text      string
		way, runs string
		err       string
	}{
		{"the terminal", place{terminal: true, variables: x, programs: all}, "hi", "OSC 52", "", ""},
		{"a text that is just not too large", place{terminal: true, variables: x, programs: all}, large[1:], "OSC 52", "", ""},
		{"a text that is too large for it", place{terminal: true, variables: x, programs: all}, large, "xclip", "xclip -selection clipboard -in;", ""},
		{"too large, and nothing else", place{terminal: true, variables: x}, large, "", "", "too many for the terminal, which takes 74000"},
		{"the console of Linux", place{terminal: true, variables: map[string]string{"TERM": "linux"}, programs: all}, "hi", "", "", "there is none of wl-copy"},
		{"Terminal of macOS", place{terminal: true, system: "darwin", variables: map[string]string{"TERM": "xterm-256color", "TERM_PROGRAM": "Apple_Terminal"}, programs: all}, "hi", "pbcopy", "pbcopy;", ""},
		{"tmux in it", place{terminal: true, system: "darwin", variables: map[string]string{"TERM": "screen", "TERM_PROGRAM": "tmux", "TMUX": "x"}, programs: all}, "hi", "OSC 52", "", ""},
		{"tmux as it comes", place{terminal: true, tmux: "external", variables: tmux, programs: all}, "hi", "tmux", "tmux load-buffer -w -;", ""},
		{"tmux that takes all", place{terminal: true, tmux: "on", variables: tmux, programs: all}, "hi", "tmux", "tmux load-buffer -w -;", ""},
		{"tmux that leaves the clipboard alone", place{terminal: true, tmux: "off", variables: tmux, programs: all}, "hi", "into tmux's buffer", "tmux load-buffer -;", ""},
		{"an old tmux", place{terminal: true, tmux: "external", variables: tmux, programs: all, failing: []string{"tmux"}}, "hi", "OSC 52", "tmux load-buffer -w -;", ""},
		{"a text that is too large in tmux", place{terminal: true, tmux: "external", variables: tmux, programs: all}, large, "xclip", "xclip -selection clipboard -in;", ""},
		{"no terminal, Wayland", place{variables: map[string]string{"WAYLAND_DISPLAY": "w", "DISPLAY": ":0"}, programs: all}, "hi", "wl-copy", "wl-copy;", ""},
		{"X without xclip", place{variables: x, programs: []string{"wl-copy", "xsel"}}, "hi", "xsel", "xsel --clipboard --input;", ""},
		{"one that fails", place{variables: x, programs: all, failing: []string{"xclip"}}, "hi", "xsel", "xclip -selection clipboard -in;xsel --clipboard --input;", ""},
		{"all fail", place{variables: x, programs: all, failing: all}, "hi", "", "xclip -selection clipboard -in;xsel --clipboard --input;", "xclip: no display\nxsel: no display"},
		{"Windows", place{system: "windows", programs: all}, "hi", "clip.exe", "clip.exe;", ""},
		{"WSL", place{system: "linux", variables: map[string]string{"WSL_DISTRO_NAME": "d"}, programs: all}, "hi", "clip.exe", "clip.exe;", ""},
		{"a program without a screen", place{system: "linux", programs: all}, "hi", "", "", "there is none of"},
		{"a terminal that is gone", place{terminal: true, broken: true, variables: x, programs: all}, "hi", "xclip", "xclip -selection clipboard -in;", ""},
		{"one that is gone, and nothing else", place{terminal: true, broken: true, variables: x}, "hi", "", "", "broken pipe"},
	} {
		if tt.place.system == "" {
			tt.place.system = "linux"
		}
		way, err := tt.place.clipboard().Copy(t.Context(), tt.text)
		if way != tt.way || tt.place.ran != tt.runs || (err != nil) != (tt.err != "") || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("%s: way %q, ran %q, %v", tt.name, way, tt.place.ran, err)
		}
		if (tt.place.written != "") != (tt.way == "OSC 52") {
			t.Errorf("%s: the terminal got %.40q", tt.name, tt.place.written)
		}
	}
}

func TestTheSequenceHasTheTextToTheByte(t *testing.T) {
	const text = "日本\n\ttab \x00\x1b[31m"
	encoded := base64.StdEncoding.EncodeToString([]byte(text))
	for _, tt := range []struct{ variable, want string }{
		{"", "\x1b]52;c;" + encoded + "\x07"},
		{"TMUX", "\x1b]52;c;" + encoded + "\x07\x1bPtmux;\x1b\x1b]52;c;" + encoded + "\x07\x1b\\"},
		{"STY", "\x1b]52;c;" + encoded + "\x07\x1bP\x1b]52;c;" + encoded + "\x07\x1b\\"},
	} {
		p := place{terminal: true, variables: map[string]string{"TERM": "xterm", tt.variable: "x"}}
		if _, err := p.clipboard().Copy(t.Context(), text); err != nil || p.written != tt.want {
			t.Errorf("%s: %q, %v", tt.variable, p.written, err)
		}
	}
	long := place{terminal: true, variables: map[string]string{"STY": "x"}}
	if _, err := long.clipboard().Copy(t.Context(), strings.Repeat("long ", 1000)); err != nil {
		t.Fatal(err)
	}
	plain, pieces, _ := strings.Cut(long.written, "\x1bP")
	joined := ""
	for _, piece := range regexp.MustCompile(`(?s)\x1bP(.*?)\x1b\\`).FindAllStringSubmatch("\x1bP"+pieces, -1) {
		if len(piece[1]) > 240 {
			t.Errorf("a piece of %d bytes", len(piece[1]))
		}
		joined += piece[1]
	}
	if joined != plain {
		t.Error("the pieces for screen are not the sequence")
	}
}

func TestClipExeGetsTheTextOfWindows(t *testing.T) {
	p := place{system: "windows", programs: []string{"clip.exe"}}
	if _, err := p.clipboard().Copy(t.Context(), "a日😀"); err != nil || string(p.in) != "\xff\xfea\x00\xe5\x65\x3d\xd8\x00\xde" {
		t.Errorf("%q, %v", p.in, err)
	}
}

// A program that stays in the background to serve the text is not waited for.
func TestAProgramIsGivenTheTextAndNotWaitedFor(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a shell script")
	}
	dir := t.TempDir()
	script := "#!/bin/sh\ncat >" + filepath.Join(dir, "copied") + "\nsleep 1 &\n"
	if err := os.WriteFile(filepath.Join(dir, "xclip"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	c := Clipboard{System: "linux", Getenv: func(name string) string { return map[string]string{"DISPLAY": ":0"}[name] }}
	way, err := c.Copy(t.Context(), "text")
	if err != nil || way != "xclip" {
		t.Fatal(way, err)
	}
	if got, err := os.ReadFile(filepath.Join(dir, "copied")); err != nil || string(got) != "text" {
		t.Errorf("%q, %v", got, err)
	}
}
