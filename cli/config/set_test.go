package config

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
)

func noVariable(string) string { return "" }

func TestASettingIsWrittenWhereItBelongs(t *testing.T) {
	for _, tt := range []struct{ name, before, key, value, after string }{
		{"a file that is not there", "", "thinking", "high", "thinking = \"high\"\n"},
		{"a table that is not there", "", "ui.notify", "bell", "[ui]\nnotify = \"bell\"\n"},
		{"the value of a line", "# how\nthinking = 'low'  # hard\nmodel=\"a\"\n", "thinking", "high", "# how\nthinking = \"high\"  # hard\nmodel=\"a\"\n"},
		{"a line below the others", "model = \"a\"\n\n# look\n[ui]\nplain = true\n", "thinking", "high", "model = \"a\"\nthinking = \"high\"\n\n# look\n[ui]\nplain = true\n"},
		{"a line above the first table", "# mine\n\n# look\n[ui]\nplain = true\n", "thinking", "high", "# mine\n\nthinking = \"high\"\n\n# look\n[ui]\nplain = true\n"},
		{"behind comments only", "# nothing yet", "max_turns", "3", "# nothing yet\nmax_turns = 3\n"},
		{"a line of a table", "[ui]\n  plain = true # yes\n\n# then\n[retry]\nmax_attempts = 1\n", "ui.highlight", "true", "[ui]\n  plain = true # yes\n  highlight = true\n\n# then\n[retry]\nmax_attempts = 1\n"},
		{"a table without a line", "[ui] # of the terminal\n# plain\n[retry]\n", "ui.notify", "osc9", "[ui] # of the terminal\nnotify = \"osc9\"\n# plain\n[retry]\n"},
		{"a new table at the end", "model = \"a\"", "compaction.enabled", "false", "model = \"a\"\n\n[compaction]\nenabled = false\n"},
		{"lines of other systems", "model = \"a\"\r\n\r\n[ui]\r\nplain = true\r\n", "ui.highlight", "true", "model = \"a\"\r\n\r\n[ui]\r\nplain = true\r\nhighlight = true\r\n"},
		{"a mark of the order of bytes", "\xef\xbb\xbfmodel = \"a\"\n", "model", "b", "\xef\xbb\xbfmodel = \"b\"\n"},
		{"dotted keys", "compaction.enabled = true\nmodel = \"a\"\n", "compaction.reserve_tokens", "5", "compaction.enabled = true\ncompaction.reserve_tokens = 5\nmodel = \"a\"\n"},
		{"dotted keys in a table", "[providers]\nlocal.api = \"openai-completions\"\nx.api = \"openai-responses\"\n", "providers.local.base_url", "http://h/v1", "[providers]\nlocal.api = \"openai-completions\"\nlocal.base_url = \"http://h/v1\"\nx.api = \"openai-responses\"\n"},
		{"an inline table", "ui = { plain = true }\n", "ui.notify", "bell", "ui = { plain = true, notify = \"bell\" }\n"},
		{"a value in an inline table", "ui = { plain = true, notify = 'off' } # so\n", "ui.plain", "false", "ui = { plain = false, notify = 'off' } # so\n"},
		{"an empty inline table", "ui = {}\n", "ui.notify", "bell", "ui = { notify = \"bell\" }\n"},
		{"deep in an inline table", "[providers.local]\nheaders = { A = \"1\" }\n", "providers.local.headers.B-b", "x", "[providers.local]\nheaders = { A = \"1\", B-b = \"x\" }\n"},
		{"a list of words", "", "models", "a/*, b", "models = [\"a/*\", \"b\"]\n"},
		{"a list in TOML", "", "models", `["a, b"]`, "models = [\"a, b\"]\n"},
		{"an empty list", "models = [\"a\"]\n", "models", "", "models = []\n"},
		{"comments in a list", "# all\n  models = [\n    # fast\n    \"a\", # and cheap\n    \"b\" ] # done\n", "models", "c", "# all\n  # fast\n  # and cheap\n  models = [\"c\"] # done\n"},
		{"a text of several lines", "model = \"\"\"\n# none\n\"\"\"\n", "model", "a", "model = \"a\"\n"},
		{"keys", "[keys]\nsend = \"enter\"\n", "keys.take_back", "alt+up, ctrl+x up", "[keys]\nsend = \"enter\"\ntake_back = [\"alt+up\", \"ctrl+x up\"]\n"},
		{"a key that needs quotes", "", `providers."my own".base_url`, "http://h/v1", "[providers.\"my own\"]\nbase_url = \"http://h/v1\"\n"},
		{"a duration", "", "retry.base_delay", "500ms", "[retry]\nbase_delay = \"500ms\"\n"},
		{"a number with a point", "", "max_cost", "2.5", "max_cost = 2.5\n"},
		{"a whole number for one with a point", "", "max_cost", "2", "max_cost = 2\n"},
		{"a switch", "", "providers.local.compat.store", "false", "[providers.local.compat]\nstore = false\n"},
		{"a switch that is a word", "", "providers.local.compat.max_tokens_field", "max_tokens", "[providers.local.compat]\nmax_tokens_field = \"max_tokens\"\n"},
		{"text with quotes and lines", "", "model", "a\"b\\\n", "model = \"a\\\"b\\\\\\u000A\"\n"},
		{"what it says already", "model    =   'a'\n", "model", "a", "model    =   'a'\n"},
		{"beside a list of tables", "[[providers.local.models]]\nid = \"m\"\n", "providers.local.api", "openai-responses", "[[providers.local.models]]\nid = \"m\"\n\n[providers.local]\napi = \"openai-responses\"\n"},
	} {
		path := filepath.Join(t.TempDir(), "config.toml")
		if tt.before != "" {
			writeFile(t, path, tt.before)
		}
		if _, err := Set(path, tt.key, tt.value, noVariable); err != nil {
			t.Errorf("%s: %v", tt.name, err)
		} else if got := readFile(t, path); got != tt.after {
			t.Errorf("%s:\n%q, want\n%q", tt.name, got, tt.after)
		}
	}
}

func writeFile(t testing.TB, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func readFile(t testing.TB, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestAWrongSettingIsNotWritten(t *testing.T) {
	for _, tt := range []struct{ name, before, key, value, want string }{
		{"no such key", "", "max_turn", "3", `unknown key "max_turn", did you mean "max_turns"?`},
		{"no such key in a table", "", "ui.notfy", "bell", `unknown key "ui.notfy", did you mean "ui.notify"?`},
		{"no key", "", "a =", "3", "not a key"},
		{"two keys", "", "a = 1\nb", "3", "not a key"},
		{"a word that is none of those", "thinking = \"low\"\n", "thinking", "hihg", `"hihg" is none of off, minimal, low, medium, high, xhigh, max; did you mean "high"?`},
		{"a number that is none", "", "max_turns", "many", "expected integer, found string"},
		{"a number below the least", "", "max_turns", "-1", "must be at least 0, found -1"},
		{"neither true nor false", "", "ui.plain", "ture", "expected true or false; did you mean true?"},
		{"no duration", "", "retry.base_delay", "2", "expected duration"},
		{"no address", "", "providers.local.base_url", "here", "expected an address"},
		{"a bad element", "", "disable", `["a", " "]`, "an empty string names nothing"},
		{"a list that is none", "", "models", `["a"`, "expected a list"},
		{"a list of other things", "", "models", `[1]`, "expected string, found integer"},
		{"too much at once", "", "max_turns", "3\nmodel = \"x\"", "expected integer"},
		{"a table", "", "ui", "true", `"ui" is a table; set one of its keys: plain, show_thinking`},
		{"a table of names", "", "providers", "x", `such as providers.NAME`},
		{"a list of tables", "", "providers.local.models", "x", "list of tables"},
		{"below a list of tables", "", "providers.local.models.id", "x", "list of tables"},
		{"below a value", "", "model.x", "x", `"model" is no table`},
		{"a file that is not TOML", "model = \n", "model", "x", "config.toml:1 first: syntax error"},
		{"a file whose secret cannot be read", "api_key = sk-123\n", "model", "x", "a value cannot be read"},
		{"what stands in the way", "ui = 3\n", "ui.plain", "true", "edit the file by hand"},
	} {
		path := filepath.Join(t.TempDir(), "config.toml")
		if tt.before != "" {
			writeFile(t, path, tt.before)
		}
		_, err := Set(path, tt.key, tt.value, noVariable)
		if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "sk-") || strings.Contains(err.Error(), "in force") {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
		if data, _ := os.ReadFile(path); string(data) != tt.before {
			t.Errorf("%s: the file is %q", tt.name, data)
		}
	}
}

func TestASettingIsRemovedWithItsLine(t *testing.T) {
	for _, tt := range []struct{ name, before, key, after string }{
		{"a line", "# how\nthinking = \"low\" # hard\nmodel = \"a\"\n", "thinking", "# how\nmodel = \"a\"\n"},
		{"the last line", "model = \"a\"\nthinking = \"low\"", "thinking", "model = \"a\"\n"},
		{"a line of a table", "[ui]\nplain = true\n", "ui.plain", "[ui]\n"},
		{"a dotted key", "ui.plain = true\nmodel = \"a\"\n", "ui.plain", "model = \"a\"\n"},
		{"the last of an inline table", "ui = { plain = true, notify = \"off\" }\n", "ui.notify", "ui = { plain = true }\n"},
		{"the first of an inline table", "ui = { plain = true, notify = \"off\" }\n", "ui.plain", "ui = { notify = \"off\" }\n"},
		{"comments in a list", "models = [ # two\n\"a\", \"b\"]\nmodel = \"a\"\n", "models", "# two\nmodel = \"a\"\n"},
		{"what is not there", "model = \"a\"\n", "thinking", "model = \"a\"\n"},
		{"what is not known", "modle = \"a\"\nthinking = \"low\"\n", "modle", "thinking = \"low\"\n"},
	} {
		path := filepath.Join(t.TempDir(), "config.toml")
		writeFile(t, path, tt.before)
		was, err := Unset(path, tt.key)
		if got := readFile(t, path); err != nil || got != tt.after || was != (tt.before != tt.after) {
			t.Errorf("%s: %q, was %v, %v; want %q", tt.name, got, was, err, tt.after)
		}
	}
	path := filepath.Join(t.TempDir(), "config.toml")
	if was, err := Unset(path, "model"); was || err != nil {
		t.Errorf("no file: %v, %v", was, err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("a file was made for nothing")
	}
}

func TestALinkToTheSettingsStays(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need rights there")
	}
	dir := t.TempDir()
	real, link := filepath.Join(dir, "dotfiles", "pi.toml"), filepath.Join(dir, "config.toml")
	if err := os.MkdirAll(filepath.Dir(real), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join("dotfiles", "pi.toml"), link); err != nil {
		t.Fatal(err)
	}
	for _, value := range []string{"high", "low"} { // first it leads to nothing
		if _, err := Set(link, "thinking", value, noVariable); err != nil {
			t.Fatal(err)
		}
		if got := readFile(t, real); got != "thinking = \""+value+"\"\n" {
			t.Errorf("the file has %q", got)
		}
	}
	if to, err := os.Readlink(link); err != nil || to != filepath.Join("dotfiles", "pi.toml") {
		t.Errorf("the link leads to %q, %v", to, err)
	}
}

func TestWhoMayReadTheSettingsStays(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files have no mode bits there")
	}
	path := filepath.Join(t.TempDir(), "config.toml")
	mode := func() os.FileMode {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return info.Mode().Perm()
	}
	set := func(key, value string) {
		if _, err := Set(path, key, value, noVariable); err != nil {
			t.Fatal(err)
		}
	}
	if set("model", "a"); mode() != 0o600 {
		t.Errorf("a new file has the mode %o", mode())
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if set("model", "b"); mode() != 0o644 {
		t.Errorf("it has the mode %o", mode())
	}
	if set("providers.local.api_key", "sk-1"); mode() != 0o600 {
		t.Errorf("with a key in it the mode is %o", mode())
	}
}

func TestAWarningAboutAValueIsHandedOn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.toml")
	warnings, err := Set(path, "providers.local.api_key", "LOCAL_KEY", noVariable)
	if err != nil || len(warnings) != 1 || !strings.Contains(warnings[0].Text, "looks like the name of a variable") {
		t.Errorf("%v, %v", warnings, err)
	}
}

// document is a text of settings with a mark in each of its comments, and keys that it may
// have or not.
func document(r *rand.Rand) (text string, keys []toml.Key) {
	var b strings.Builder
	eol := []string{"\n", "\r\n"}[r.IntN(2)]
	mark := 0
	comment := func() string {
		mark++
		return fmt.Sprintf("# mark %d [x] = \"y", mark)
	}
	lines := func(indent string) {
		for range r.IntN(3) {
			b.WriteString([]string{"", indent + comment(), "  " + comment()}[r.IntN(3)] + eol)
		}
	}
	values := []func() string{
		func() string {
			return []string{"1", "0x1F", "-3.5e2", "inf", "true", "1979-05-27", "''", `"a # b"`}[r.IntN(8)]
		},
		func() string {
			return []string{`"\u0041]"`, "'''" + eol + "x # y''z'''", `"""a\` + eol + `  b"""`}[r.IntN(3)]
		},
		func() string { return []string{"[]", "[1, [2, 3,], ]", "[ 'a,', \"]\" ]"}[r.IntN(3)] },
		func() string { return "[ " + comment() + eol + "  1, " + comment() + eol + "  2 ]" },
		func() string { return []string{"{}", "{ a = 1, 'b c'.d = [ ] }", "{ list = [ {x = 1} ] }"}[r.IntN(3)] },
	}
	names := []string{"a", "b", "c-1", `"d e"`, "'f.g'"}
	used := map[string]bool{}
	keyOf := func(parts ...string) {
		if key, err := parseKey(strings.Join(parts, ".")); err == nil {
			keys = append(keys, key)
		}
	}
	pairs := func(table string, indent string) {
		for range r.IntN(4) {
			name := names[r.IntN(len(names))]
			if r.IntN(4) == 0 {
				name += " . " + names[r.IntN(len(names))]
			}
			lines(indent)
			if used[table+"\x00"+name] || used[table+"\x00"+strings.Split(name, " . ")[0]] {
				continue
			}
			used[table+"\x00"+name], used[table+"\x00"+strings.Split(name, " . ")[0]] = true, true
			b.WriteString(indent + name + []string{"=", " = "}[r.IntN(2)] + values[r.IntN(len(values))]())
			if r.IntN(3) == 0 {
				b.WriteString(" " + comment())
			}
			b.WriteString(eol)
			keyOf(strings.TrimPrefix(table+"."+name, "."))
		}
		lines(indent)
	}
	pairs("", "")
	for i := range r.IntN(5) {
		table := fmt.Sprintf("t%d", r.IntN(3)) + []string{"", ".sub", ".'q r'"}[r.IntN(3)]
		if used[table] {
			continue
		}
		used[table] = true
		if r.IntN(4) == 0 {
			b.WriteString(fmt.Sprintf("[[list%d]]", i%2) + eol)
			used["list"] = false
			pairs(fmt.Sprintf("list%d#%d", i%2, i), "")
			continue
		}
		b.WriteString("[" + table + "] " + comment() + eol)
		pairs(table, []string{"", "\t"}[r.IntN(2)])
		keyOf(table, "new")
		keyOf(table, "deep", "er")
	}
	keyOf("fresh")
	keyOf("fresh", "table")
	text = b.String()
	if r.IntN(4) == 0 {
		text = strings.TrimRight(text, "\r\n")
	}
	return text, keys
}

func marks(text string) []string {
	return regexp.MustCompile(`# mark \d+ `).FindAllString(text, -1)
}

// checkEdit holds what an edit made of a text against what it was to do.
func checkEdit(t *testing.T, text string, key toml.Key, literal string) {
	t.Helper()
	after, err := withKey(text, key, literal)
	doc, value, decodeErr := decodedWith(text, literal)
	if decodeErr != nil {
		t.Fatal(decodeErr)
	}
	want, fits := docWith(doc, key, value)
	if err != nil {
		if fits {
			t.Errorf("%v: %s = %s in\n%s", err, key, literal, text)
		}
		return
	}
	var got map[string]any
	if _, err := toml.Decode(after, &got); err != nil || formatAny(got) != formatAny(want) {
		t.Errorf("%s = %s in\n%s\nbecame\n%s\n%v", key, literal, text, after, err)
	}
	if !slices.Equal(marks(after), marks(text)) {
		t.Errorf("%s = %s in\n%s\nlost comments:\n%s", key, literal, text, after)
	}
	again, err := withKey(after, key, literal)
	if err != nil || again != after {
		t.Errorf("the second time it changes: %v\n%s", err, again)
	}
	gone, err := withoutKey(after, key)
	if err != nil {
		t.Errorf("remove %s: %v\n%s", key, err, after)
	} else if _, err := toml.Decode(gone, &got); err != nil {
		t.Errorf("without %s: %v\n%s", key, err, gone)
	}
}

func checkSeed(t *testing.T, seed uint64) (checked bool) {
	r := rand.New(rand.NewPCG(seed, 1))
	text, keys := document(r)
	var doc map[string]any
	if _, err := toml.Decode(text, &doc); err != nil {
		return false // the same name twice
	}
	for _, key := range keys {
		literal := []string{"7", `"new # value"`, "[1, 'x']", "true", "2.5"}[r.IntN(5)]
		checkEdit(t, text, key, literal)
	}
	return true
}

func TestAnEditChangesOneKeyAndLosesNoComment(t *testing.T) {
	checked := 0
	for seed := range uint64(600) {
		if checkSeed(t, seed) {
			checked++
		}
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	if checked < 300 {
		t.Errorf("only %d documents were TOML", checked)
	}
}

func FuzzSet(f *testing.F) {
	f.Add("a = 1 # one\n[t]\nb = { c = 2 }\n", "t.b.d", "'x'")
	f.Add(readExample(f), "ui.notify", `"bell"`)
	f.Add(uncommented(readExample(f)), "providers.local.headers.X", `"1"`)
	f.Add("a = [ # c\n1]\r\n", "a", "[]")
	f.Add("[[a]]\n[a.b]\nc=1", "a.b.c", "2")
	f.Add("x.y = 1\n[x.z]\n", "x.z.w.v", "nan")
	f.Fuzz(func(t *testing.T, text, name, literal string) {
		key, err := parseKey(name)
		_, beyond := indexLines(text)
		_, tooLong := indexLines("value = " + literal)
		if err != nil || beyond != nil || tooLong != nil || strings.ContainsAny(literal, "\n\r#") {
			t.Skip()
		}
		doc, value, err := decodedWith(text, literal)
		if err != nil {
			t.Skip()
		}
		after, err := withKey(text, key, literal)
		if err != nil {
			return // said, and nothing is written
		}
		want, fits := docWith(doc, key, value)
		var got map[string]any
		if _, err := toml.Decode(after, &got); !fits || err != nil || formatAny(got) != formatAny(want) {
			t.Errorf("%s = %s in\n%q\nbecame\n%q: %v", key, literal, text, after, err)
		}
	})
}
