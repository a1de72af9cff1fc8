package keyring

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestLoginsAreReadOneByOne(t *testing.T) {
	logins, problems := parseLogins("auth.json", []byte(`{
  "anthropic": {"type": "oauth", "access": "token", "refresh": "r", "expires": 1000, "extra": {}},
  "openai": {"type": "api_key", "key": "sk-secret"},
  "groq": "sk-secret",
  "xai": {"type": "api_key"},
  "zai": {"type": "oauth"},
  "odd": {"type": "saml", "key": "sk-secret"}
}`))
	if len(logins) != 2 || logins["openai"].Key != "sk-secret" || logins["anthropic"].Access != "token" {
		t.Errorf("%+v", logins)
	}
	want := []string{
		`auth.json:4: "groq" is left out: it is not an object`,
		`auth.json:5: "xai" is left out: it has no key`,
		`auth.json:6: "zai" is left out: it has no access`,
		`auth.json:7: "odd" is left out: its type is neither`,
	}
	if len(problems) != len(want) {
		t.Fatalf("%v", problems)
	}
	for i, p := range problems {
		if !strings.HasPrefix(p.String(), want[i]) || strings.Contains(p.String(), "secret") || !p.Warning {
			t.Errorf("%v, want %s", p, want[i])
		}
	}
}

func TestAnAuthFileThatIsNoObjectNamesTheLine(t *testing.T) {
	for text, line := range map[string]int{"": 1, "null": 1, "[]": 1, "{\n\"a\": {\"type\": sk-secret}\n}": 2, "{\n\n\"a\": 1}}": 3} {
		logins, problems := parseLogins("auth.json", []byte(text))
		if len(logins) != 0 || len(problems) != 1 || problems[0].Line != line || strings.Contains(problems[0].Text, "secret") {
			t.Errorf("%q: %v, %v", text, logins, problems)
		}
	}
}

func FuzzLogins(f *testing.F) {
	f.Add([]byte(`{"a":{"type":"api_key","key":"k"}}`))
	f.Add([]byte(`{"a":{"type":"oauth","access":"k","expires":1e99},"a":1}`))
	f.Add([]byte("{\"\\ud800\":"))
	f.Fuzz(func(t *testing.T, data []byte) {
		logins, problems := parseLogins("auth.json", data)
		for name, l := range logins {
			if l.Type == "api_key" && l.Key == "" || l.Type == "oauth" && l.Access == "" {
				t.Errorf("%q has nothing to send: %+v", name, l)
			}
			l.expired(time.Unix(0, 0))
			l.spec(func(string) string { return "" })
		}
		for _, p := range problems {
			if p.Line < 1 || p.Line > 1+strings.Count(string(data), "\n") {
				t.Errorf("line %d of %q", p.Line, data)
			}
		}
	})
}

func TestAnAuthFileThatChangesIsReadAnew(t *testing.T) {
	f := newAuthFile(t.TempDir())
	if _, ok := f.find("groq"); ok || len(f.unusable()) != 0 {
		t.Fatal("there is no file")
	}
	write := func(text string, age time.Duration) {
		t.Helper()
		if err := os.WriteFile(f.path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		when := time.Now().Add(-age)
		if err := os.Chtimes(f.path, when, when); err != nil {
			t.Fatal(err)
		}
	}
	write(`{"groq": {"type": "api_key", "key": "k1"}}`, 2*time.Hour)
	if l, _ := f.find("other", "groq"); l.Key != "k1" {
		t.Errorf("%+v", l)
	}
	write(`{"groq": {"type": "api_key", "key": "k2"}}`, time.Hour)
	if l, _ := f.find("groq"); l.Key != "k2" {
		t.Errorf("%+v", l)
	}
	if err := os.Remove(f.path); err != nil {
		t.Fatal(err)
	}
	if _, ok := f.find("groq"); ok {
		t.Error("the file is gone")
	}
}

func TestAnAuthFileThatIsHeldIsLookedAtOnce(t *testing.T) {
	f := newAuthFile(t.TempDir())
	first, second := f.freeze(), f.freeze()
	if err := os.WriteFile(f.path, []byte(`{"groq": {"type": "api_key", "key": "k"}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	first()
	if _, ok := f.find("groq"); ok {
		t.Error("it was looked at while somebody holds it")
	}
	second()
	if _, ok := f.find("groq"); !ok {
		t.Error("it is not looked at any more")
	}
}

func TestAnAuthFileIsAPrivatePlainFile(t *testing.T) {
	f := newAuthFile(t.TempDir())
	if err := os.WriteFile(f.path, []byte(`{"groq": {"type": "api_key", "key": "sk-secret"}}`), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(f.path, 0o644); err != nil {
		t.Fatal(err)
	}
	problems := f.unusable()
	if len(problems) != 1 || !strings.Contains(problems[0].Text, "chmod 600") || strings.Contains(problems[0].Text, "secret") {
		t.Errorf("%v", problems)
	}
	directory := newAuthFile(t.TempDir())
	if err := os.Mkdir(directory.path, 0o700); err != nil {
		t.Fatal(err)
	}
	if problems := directory.unusable(); len(problems) != 1 || !strings.Contains(problems[0].Text, "not a regular file") {
		t.Errorf("%v", problems)
	}
	if _, ok := directory.find("groq"); ok || filepath.Base(directory.path) != "auth.json" {
		t.Error("a directory holds no login")
	}
}

func TestAKeyInAnAuthFileMayNameWhereItIs(t *testing.T) {
	getenv := func(name string) string { return map[string]string{"SET_KEY": "v"}[name] }
	for key, want := range map[string]string{
		"sk-x": "sk-x", " sk-x\n": "sk-x", "!pass show x": "!pass show x", "env:SET_KEY": "env:SET_KEY", "$GONE": "env:GONE",
		"${GONE_KEY}": "env:GONE_KEY", "SET_KEY": "env:SET_KEY", "GONE_KEY": "GONE_KEY", "$": "$", "$a-b": "$a-b",
	} {
		if got := (login{Type: "api_key", Key: key}).spec(getenv); got != want {
			t.Errorf("%q: %q, want %q", key, got, want)
		}
	}
}
