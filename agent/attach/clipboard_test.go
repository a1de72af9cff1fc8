package attach

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// programs are a system with programs that answer "program first-argument" or fail.
func programs(answers map[string]string, env ...string) Clipboard {
	return Clipboard{
		Getenv: func(name string) string {
			for _, set := range env {
				if set == name {
					return "1"
				}
			}
			return ""
		},
		Has: func(program string) bool {
			for command := range answers {
				if strings.HasPrefix(command, program) {
					return true
				}
			}
			return false
		},
		Run: func(_ context.Context, most int, program string, args ...string) ([]byte, error) {
			out, ok := answers[program+" "+strings.Join(args, " ")]
			if !ok {
				return nil, errors.New("exit status 1")
			}
			if len(out) > most {
				return nil, errTooMuch
			}
			return []byte(out), nil
		},
	}
}

func TestTheImageOfTheClipboardComesFromWhateverProgramIsThere(t *testing.T) {
	const jpeg = "\xFF\xD8\xFF\xE0\x00\x10JFIF\x00\x01\x01\x00\x00\x01\x00\x01\x00\x00\xFF\xC0\x00\x11\x08\x00\x02\x00\x03\x03\x01\x11\x00\x02\x11\x01\x03\x11\x01"
	for _, c := range []struct {
		name      string
		clipboard Clipboard
		want      string
		err       string
	}{
		{"Wayland", programs(map[string]string{"wl-paste --list-types": "text/html\nimage/png\n", "wl-paste --no-newline --type image/png": shot}, "WAYLAND_DISPLAY"), "clipboard (image, 1024×768)", ""},
		{"the type that is there", programs(map[string]string{"wl-paste --list-types": "image/tiff\nimage/jpeg\n", "wl-paste --no-newline --type image/jpeg": jpeg}, "WAYLAND_DISPLAY"), "clipboard (image, 3×2)", ""},
		{"X11", programs(map[string]string{"xclip -selection clipboard -t TARGETS -o": "TARGETS\nimage/png\n", "xclip -selection clipboard -t image/png -o": shot}, "DISPLAY"), "clipboard (image, 1024×768)", ""},
		{"X11 where Wayland has none", programs(map[string]string{"wl-paste --list-types": "text/plain\n", "xclip -selection clipboard -t TARGETS -o": "image/png\n", "xclip -selection clipboard -t image/png -o": shot}, "WAYLAND_DISPLAY", "DISPLAY"), "clipboard (image, 1024×768)", ""},
		{"macOS", programs(map[string]string{"pngpaste -": shot}), "clipboard (image, 1024×768)", ""},
		{"a text", programs(map[string]string{"wl-paste --list-types": "text/plain\n"}, "WAYLAND_DISPLAY"), "", "the clipboard has no image"},
		{"nothing", programs(map[string]string{"xclip ": ""}, "DISPLAY"), "", "the clipboard has no image"},
		{"no image on macOS", programs(map[string]string{"pngpaste": ""}), "", "the clipboard has no image"},
		{"something else than it was told", programs(map[string]string{"wl-paste --list-types": "image/png\n", "wl-paste --no-newline --type image/png": "text"}, "WAYLAND_DISPLAY"), "", "the clipboard has no image"},
		{"too large", programs(map[string]string{"pngpaste -": shot + strings.Repeat("x", mostTogether)}), "", "more than 16 MiB"},
		{"no program", programs(nil, "DISPLAY"), "", "wl-paste (of wl-clipboard), xclip or pngpaste"},
		{"no display", programs(map[string]string{"xclip ": ""}), "", "wl-paste (of wl-clipboard), xclip or pngpaste"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, err := c.clipboard.Image(t.Context())
			if a.Words != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Errorf("%q, %v; want %q, %q", a.Words, err, c.want, c.err)
			}
		})
	}
}

func TestTheProgramsOfTheClipboardAreBounded(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the programs are scripts")
	}
	for _, c := range []struct{ name, script, err string }{
		{"one that answers", "printf '\\211PNG\\r\\n\\032\\n....'", ""},
		{"one without an end", "cat /dev/zero", "more than 16 MiB"},
		{"one that is given up", "sleep 100 & wait", "pngpaste: context canceled"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			started := filepath.Join(dir, "started")
			if err := os.WriteFile(filepath.Join(dir, "pngpaste"), []byte("#!/bin/sh\n: > "+started+"\n"+c.script+"\n"), 0o700); err != nil {
				t.Fatal(err)
			}
			t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
			t.Setenv("DISPLAY", "")
			t.Setenv("WAYLAND_DISPLAY", "")
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if strings.HasPrefix(c.script, "sleep") {
				go func() {
					for _, err := os.Stat(started); err != nil && ctx.Err() == nil; _, err = os.Stat(started) {
						runtime.Gosched()
					}
					cancel()
				}()
			}
			board := SystemClipboard()
			run := board.Run
			board.Run = func(ctx context.Context, most int, program string, args ...string) ([]byte, error) {
				return run(ctx, min(most, 1<<20), program, args...) // all of it may take longer than it is waited for
			}
			a, err := board.Image(ctx)
			if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) || err == nil && a.Block.MimeType != "image/png" {
				t.Errorf("%+v, %v; want %q", a.Words, err, c.err)
			}
		})
	}
}
