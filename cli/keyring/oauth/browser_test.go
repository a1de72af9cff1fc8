package oauth

import (
	"errors"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

func TestWhichProgramOpensAnAddress(t *testing.T) {
	const address = "https://login.example/?a=1&b=%s"
	for _, tt := range []struct {
		name, system string
		env          map[string]string
		want         []string
	}{
		{"BROWSER", "linux", map[string]string{"BROWSER": "one --new:two %s -x", "DISPLAY": ":0"}, []string{"one --new " + address, "two " + address + " -x"}},
		{"a screen", "linux", map[string]string{"DISPLAY": ":0"}, []string{"xdg-open " + address, "gio open " + address, "x-www-browser " + address, "sensible-browser " + address}},
		{"no screen", "linux", nil, nil},
		{"a Mac", "darwin", nil, []string{"open " + address}},
		{"Windows", "windows", nil, []string{"rundll32 url.dll,FileProtocolHandler " + address}},
		{"Windows around it", "linux", map[string]string{"WSL_DISTRO_NAME": "x"}, []string{"wslview " + address, "rundll32.exe url.dll,FileProtocolHandler " + address}},
	} {
		var got []string
		for _, command := range (Browser{Getenv: func(name string) string { return tt.env[name] }, System: tt.system}).commands(address) {
			got = append(got, strings.Join(command, " "))
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestABrowserThatCannotBeOpened(t *testing.T) {
	missing := func(name string) (string, error) { return "", &exec.Error{Name: name, Err: exec.ErrNotFound} }
	b := Browser{Getenv: func(string) string { return "" }, LookPath: missing, System: "linux"}
	if err := b.Open(t.Context(), "https://x/"); !errors.Is(err, ErrNoBrowser) {
		t.Errorf("%v", err)
	}
	b.Getenv = func(name string) string { return map[string]string{"BROWSER": "gone"}[name] }
	if err := b.Open(t.Context(), "https://x/"); err == nil || !strings.HasPrefix(err.Error(), "gone: ") {
		t.Errorf("%v", err)
	}
}
