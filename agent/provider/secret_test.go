package provider

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"pi/agent/llm"
)

func TestASecretIsHiddenInEveryForm(t *testing.T) {
	s := collectSecrets("sk+/=&<\"0123456789abcdef")
	for _, form := range []string{
		"sk+/=&<\"0123456789abcdef", `sk+/=&<\"0123456789abcdef`, `sk+/=\u0026\u003c\"0123456789abcdef`,
		"sk%2B%2F%3D%26%3C%220123456789abcdef", "sk+%2F=&%3C%220123456789abcdef",
		"c2srLz0mPCIwMTIzNDU2Nzg5YWJjZGVm",
		"sk+/=&<\"0123456789a", "+/=&<\"0123456789abcdef", "+/=&<\"0123456789ab",
	} {
		if got := s.hide("<" + form + ">"); got != "<"+hidden+">" {
			t.Errorf("%s is shown as %s", form, got)
		}
	}
	if text := "sk+/ and 0123456789"; s.hide(text) != text {
		t.Errorf("%q became %q", text, s.hide(text))
	}
}

func TestWordsThatAreNoSecretStayInErrors(t *testing.T) {
	s := collectSecrets("ollama", http.Header{"X-Portkey-Provider": {"google"}, "Authorization": {"Bearer ollama"}, "X-Portkey-Api-Key": {"pk-0123456789"}})
	text := "pull registry.ollama.ai/library/say with Bearer ollama, as google has it"
	if got := s.hide(text); got != text || !s.sent {
		t.Errorf("%q, sent %t", got, s.sent)
	}
	if got := s.hide("not pk-0123456789"); got != "not "+hidden {
		t.Errorf("%q", got)
	}
	for _, value := range []string{"session=0123456789abcdef; lang=en", "0123456789abcdefgh pw"} {
		if got := collectSecrets("", http.Header{"Cookie": {value}}).hide("not " + value); got != "not "+hidden {
			t.Errorf("%q", got)
		}
	}
	if s := collectSecrets("", http.Header{"X-Portkey-Provider": {"google"}}); s.sent {
		t.Error("without a key one is sent")
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

func TestWhatAnAddressHasOfKeysIsHidden(t *testing.T) {
	for address, said := range map[string][]string{
		"https://bob:longword@h/v1":     {"longword", "bob:longword", "Ym9iOmxvbmd3b3Jk"},
		"https://sk-0123456@h/v1":       {"sk-0123456", "c2stMDEyMzQ1Njo="},
		"https://h/v1?key=longword&a=b": {"longword"},
		"https://h/v1?key=long%zzword":  {"long%zzword"},
		"https://h/v1?key=long%2Fword":  {"long%2Fword", "long/word"},
	} {
		u, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		var s secrets
		s.addURL(u)
		for _, form := range said {
			if got := s.hide("<" + form + ">"); got != "<"+hidden+">" {
				t.Errorf("of %s %s is shown as %s", address, form, got)
			}
		}
	}
}

func TestAnAddressThatCannotBeReadIsNeitherQuotedNorTriedAgain(t *testing.T) {
	for _, base := range []string{"http://bob:pa%zzword@h/v1", "http://bob:pa/ssword@h/v1", "http://[::1/pa"} {
		m := &llm.Model{Provider: "acme", ID: "m", BaseURL: base}
		encode := func(r *llm.Request) (*Call, error) { return &Call{URL: r.Model.BaseURL, Header: http.Header{}}, nil }
		for _, err := range New(nil, encode, func(*llm.Request) Decoder { return nil }).Stream(t.Context(), &llm.Request{Model: m}) {
			checkUnreadable(t, base, err)
		}
		_, err := Discover(t.Context(), NewClient(), Server{Provider: "acme", BaseURL: base})
		checkUnreadable(t, base, err)
	}
}

func checkUnreadable(t *testing.T, base string, err error) {
	t.Helper()
	var e *llm.ProviderError
	if !errors.As(err, &e) || e.Retryable || e.Message != "the address of the server cannot be read" || !strings.Contains(e.NextStep, "check base_url of [providers.acme]") {
		t.Errorf("%s: %v", base, err)
	}
}
