package luahooks

import "testing"

func TestWhichLinesPinTheAPI(t *testing.T) {
	for line, want := range map[string]string{
		"-- pi-api: 1":     "1",
		"--pi-api:2":       "2",
		"--\tpi-api:  3\r": "3",
		"-- pi-api: 1 2":   "",
		"-- pi-api:":       "",
		"pi-api: 1":        "",
		"- pi-api: 1":      "",
		"-- a pi-api: 1":   "",
		" -- pi-api: 1":    "",
		"":                 "",
	} {
		if got := apiPin(line); got != want {
			t.Errorf("%q pins %q, want %q", line, got, want)
		}
	}
}

func TestWhichModuleNamesThereAre(t *testing.T) {
	for name, want := range map[string]bool{
		"util": true, "lib.util_2": true, "a.b.c": true, "7": true,
		"": false, ".": false, "a.": false, ".a": false, "a..b": false, "a/b": false, "a-b": false, "../a": false, "ä": false, "a\n": false,
	} {
		if got := isModuleName(name); got != want {
			t.Errorf("isModuleName(%q) = %v, want %v", name, got, want)
		}
	}
}
