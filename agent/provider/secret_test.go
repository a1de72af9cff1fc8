package provider

import (
	"net/http"
	"strings"
	"testing"
)

func TestASecretIsHiddenInEveryForm(t *testing.T) {
	s := collectSecrets("sk+/=&<\"0123456789abcdef")
	for _, form := range []string{
		"sk+/=&<\"0123456789abcdef", `sk+/=&<\"0123456789abcdef`, `sk+/=\u0026\u003c\"0123456789abcdef`,
		"sk%2B%2F%3D%26%3C%220123456789abcdef", "sk+%2F=&%3C%220123456789abcdef",
		"c2srLz0mPCIwMTIzNDU2Nzg5YWJjZGVm",
		"sk+/=&<\"0123456789a",
	} {
		if got := s.hide("<" + form + ">"); got != "<"+hidden+">" {
			t.Errorf("%s is shown as %s", form, got)
		}
	}
	if text := "sk+/ and 0123456789"; s.hide(text) != text {
		t.Errorf("%q became %q", text, s.hide(text))
	}
}

func TestHeadersOfAnAnswerRepeatNoSecret(t *testing.T) {
	h := http.Header{"X-Echo": {"your key is sk-0123456789"}, "X-Encoded": {"c2stMDEyMzQ1Njc4OQ=="}, "Date": {"today"}}
	got := collectSecrets("sk-0123456789").without(h)
	if got.Get("X-Echo") != "your key is "+hidden || got.Get("X-Encoded") != hidden || got.Get("Date") != "today" {
		t.Errorf("%v", got)
	}
	if !strings.Contains(h.Get("X-Echo"), "sk-") {
		t.Error("the answer itself was changed")
	}
}
