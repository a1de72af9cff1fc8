package keyring

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"
)

func TestAKeyIsKeptAndAllElseInTheFileStays(t *testing.T) {
	const entry = "{\n    \"type\": \"api_key\",\n    \"key\": \"sk-new\"\n  }"
	for _, tt := range []struct{ name, before, after string }{
		{"no file", "", "{\n  \"acme\": " + entry + "\n}\n"},
		{"an empty object", "{ }", "{\n  \"acme\": " + entry + "\n}"},
		{"another provider", "{\n  \"b\": {\"type\":\"oauth\",  \"access\": \"x\\u0041\"}\n}\n", "{\n  \"b\": {\"type\":\"oauth\",  \"access\": \"x\\u0041\"},\n  \"acme\": " + entry + "\n}\n"},
		{"another key", `{"acme": {"key": "sk-old", "type": "api_key"}, "z": 1}`, `{"acme": ` + entry + `, "z": 1}`},
		{"fields that are not known", `{"acme": {"type": "api_key", "note": [1, {"a" :2}], "key": "sk-old"}}`,
			"{\"acme\": {\n    \"type\": \"api_key\",\n    \"key\": \"sk-new\",\n    \"note\": [1, {\"a\" :2}]\n  }}"},
		{"a login", `{"acme": {"type": "oauth", "access": "a", "refresh": "r", "expires": 5, "account": "me"}}`,
			"{\"acme\": {\n    \"type\": \"api_key\",\n    \"key\": \"sk-new\",\n    \"account\": \"me\"\n  }}"},
		{"an entry that is none", `{"acme": 7}`, `{"acme": ` + entry + `}`},
		{"a name twice, of which the last counts", `{"acme": {"type": "api_key", "key": "1"}, "acme": {"type": "api_key", "key": "2"}}`,
			`{"acme": {"type": "api_key", "key": "1"}, "acme": ` + entry + `}`},
		{"a name written in another way", `{"a\u0063me": {"type": "api_key", "key": "1"}}`, `{"a\u0063me": ` + entry + `}`},
	} {
		r := testRing(t, tt.before, nil)
		if _, known := r.auth.find("acme"); known != strings.Contains(tt.before, `"key": "`) && !strings.Contains(tt.before, "oauth\", \"access\": \"a\"") {
			t.Errorf("%s: known before: %v", tt.name, known)
		}
		if err := r.Keep("acme", " sk-new\n"); err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		got, err := os.ReadFile(r.auth.path)
		if err != nil || string(got) != tt.after {
			t.Errorf("%s:\n%s, %v, want\n%s", tt.name, got, err, tt.after)
		}
		if l, ok := r.auth.find("acme"); !ok || l.Key != "sk-new" {
			t.Errorf("%s: it is not found at once", tt.name)
		}
	}
}

func TestAFileOfKeysIsForItsOwner(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files have no mode bits there")
	}
	r := testRing(t, `{}`, nil)
	real := filepath.Join(t.TempDir(), "real.json")
	if err := os.Rename(r.auth.path, real); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(real, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(real, r.auth.path); err != nil {
		t.Fatal(err)
	}
	if err := r.Keep("acme", "sk-new"); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(real); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if to, err := os.Readlink(r.auth.path); err != nil || to != real {
		t.Errorf("the link leads to %q, %v", to, err)
	}
}

func TestWhatIsNoKeyIsNotKept(t *testing.T) {
	for _, tt := range []struct{ name, before, key, want string }{
		{"nothing", "{}", " \n", "the key is empty"},
		{"several lines", "{}", "sk-a\nsk-b", "line break"},
		{"a control character", "{}", "sk-\x1b[31m", "control character"},
		{"a command", "{}", "!cat sk-key", "as a command"},
		{"a variable", "{}", "env:sk-KEY", "as the name of a variable"},
		{"a variable as a shell has it", "{}", "$SK_KEY", "as the name of a variable"},
		{"a variable by its name", "{}", "SET_KEY", "as the name of a variable"},
		{"a file that is no JSON", `{"other": `, "sk-key", "mend it first"},
		{"a file that is no object", `[1]`, "sk-key", "mend it first"},
	} {
		r := testRing(t, tt.before, map[string]string{"SET_KEY": "x"})
		err := r.Keep("acme", tt.key)
		if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "sk-") || strings.Contains(err.Error(), "SET_KEY") {
			t.Errorf("%s: %v", tt.name, err)
		}
		if got, err := os.ReadFile(r.auth.path); err != nil || string(got) != tt.before {
			t.Errorf("%s: the file has %q, %v", tt.name, got, err)
		}
	}
}

func FuzzKeep(f *testing.F) {
	f.Add(`{"a": {"type": "api_key", "key": "x"}, "b": [1, "}"]}`, "a", "k")
	f.Add("{}", "\"q\\", "<&>")
	f.Add(" {\"a\":1\n,\"a\":{\"x\":{}}} ", "a", "k")
	f.Fuzz(func(t *testing.T, text, provider, key string) {
		var before map[string]any
		if json.Unmarshal([]byte(text), &before) != nil || before == nil {
			t.Skip()
		}
		after, err := withEntry([]byte(text), provider, func(entry []byte) []byte { return newEntry(entry, key) })
		if err != nil {
			t.Fatal(err)
		}
		var got map[string]any
		if err := json.Unmarshal(after, &got); err != nil {
			t.Fatalf("%v\n%s", err, after)
		}
		name := jsonText(t, provider)
		entry, _ := got[name].(map[string]any)
		if entry["type"] != "api_key" || entry["key"] != jsonText(t, key) {
			t.Errorf("%q has %v in\n%s", provider, entry, after)
		}
		removed, err := withEntry(after, provider, func([]byte) []byte { return nil })
		var without map[string]any
		if err != nil || json.Unmarshal(removed, &without) != nil {
			t.Fatalf("%v\n%s", err, removed)
		}
		delete(before, name)
		delete(got, name)
		if !reflect.DeepEqual(before, got) || !reflect.DeepEqual(before, without) {
			t.Errorf("%s\nbecame\n%s\nand\n%s", text, after, removed)
		}
	})
}

// jsonText is a text as it comes back from JSON, which has no invalid characters.
func jsonText(t *testing.T, s string) (back string) {
	t.Helper()
	raw, err := json.Marshal(s)
	if err == nil {
		err = json.Unmarshal(raw, &back)
	}
	if err != nil {
		t.Fatal(err)
	}
	return back
}

// One that is written in the same moment as the one before it, and has its size, is seen.
func TestAKeyThatIsReplacedAtOnceCounts(t *testing.T) {
	r := testRing(t, "", nil)
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, key := range []string{"sk-1", "sk-2"} {
		if err := r.Keep("acme", key); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(r.auth.path, at, at); err != nil {
			t.Fatal(err)
		}
		if l, _ := r.auth.find("acme"); l.Key != key {
			t.Errorf("got %q, want %q", l.Key, key)
		}
	}
}
