package printable

import (
	"testing"
)

func TestAnAddressIsShownWithoutItsKeys(t *testing.T) {
	for address, want := range map[string]string{
		"":                              "",
		"http://localhost:8080/v1":      "http://localhost:8080/v1",
		"https://h/v1?api-version=2":    "https://h/v1?api-version=2",
		"https://bob:word@h/v1":         "https://bob:xxxxx@h/v1",
		"https://sk-0123@h/v1":          "https://xxxxx@h/v1",
		"https://sk-0123:@h/v1":         "https://xxxxx@h/v1",
		"https://h/v1?v=2&key=word&a=b": "https://h/v1?v=2&key=xxxxx&a=b",
		"https://h/v1?API_KEY=w%2Frd":   "https://h/v1?API_KEY=xxxxx",
		"https://bob:w%zzrd@h/v1":       "…",
	} {
		if got := URL(address); got != want {
			t.Errorf("%s is shown as %s, want %s", address, got, want)
		}
	}
}
