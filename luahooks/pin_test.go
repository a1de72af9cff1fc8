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
