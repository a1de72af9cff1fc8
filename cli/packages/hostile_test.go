package packages

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// push makes a commit of a tree and a branch of it, past all that git would check in a work tree.
func (r *repo) push(branch, tree string) {
	r.t.Helper()
	commit := r.command("", "--git-dir="+r.bare, "commit-tree", "-m", "x", tree)
	r.command("", "--git-dir="+r.bare, "update-ref", "refs/heads/"+branch, commit)
}

// blob writes an object with a text.
func (r *repo) blob(text string) string {
	return r.command(text, "--git-dir="+r.bare, "hash-object", "-w", "--stdin")
}

// tree writes an object of entries "MODE KIND HASH\tNAME", as they are.
func (r *repo) tree(entries ...string) string {
	list := strings.Join(entries, "\x00")
	if list != "" {
		list += "\x00"
	}
	return r.command(list, "--git-dir="+r.bare, "mktree", "-z", "--missing")
}

// raw writes a tree of entries that git itself would not write, from their bytes.
func (r *repo) raw(mode, name, hash string) string {
	r.t.Helper()
	var sum []byte
	_, err := fmt.Sscanf(hash, "%x", &sum)
	must(r.t, err)
	return r.command(mode+" "+name+"\x00"+string(sum), "--git-dir="+r.bare, "hash-object", "-t", "tree", "-w", "--stdin", "--literally")
}

func TestAHostileRepositoryIsRefusedAndTheNameIsTold(t *testing.T) {
	r := newRepo(t)
	r.commit(map[string]string{"hooks/a.lua": ""})
	file := r.blob("-- x\n")
	in := func(name, tree string) string { return r.tree("040000 tree " + tree + "\t" + name) }
	one := func(mode, kind, hash, name string) string {
		return r.tree(mode + " " + kind + " " + hash + "\t" + name)
	}
	deep := one("100644", "blob", file, "x")
	for range 3 {
		deep = in(strings.Repeat("d", 150), deep)
	}
	many := make([]string, 501)
	for i := range many {
		many[i] = fmt.Sprintf("100644 blob %s\tf%03d", file, i)
	}
	bomb := r.tree()
	for range 12 {
		var ten []string
		for i := range 10 {
			ten = append(ten, fmt.Sprintf("040000 tree %s\td%d", bomb, i))
		}
		bomb = r.tree(ten...)
	}
	large := r.blob(strings.Repeat("a", maxFile+1))
	half := r.blob(strings.Repeat("b", maxFile))
	var heavy []string
	for i := range 9 {
		heavy = append(heavy, fmt.Sprintf("100644 blob %s\th%d", half, i))
	}
	for name, tt := range map[string]struct{ tree, want string }{
		"link out":          {in("hooks", one("120000", "blob", r.blob("../../../../etc/passwd"), "a.lua")), "hooks/a.lua is a link"},
		"link to a folder":  {one("120000", "blob", r.blob("/"), "hooks"), "hooks is a link"},
		"submodule":         {one("160000", "commit", strings.Repeat("a", 40), "vendored"), "vendored is a submodule"},
		"up":                {r.raw("40000", "..", one("100644", "blob", file, "x")), "dotdot"},
		"git":               {r.raw("40000", ".git", one("100644", "blob", file, "config")), "dotgit"},
		"git in capitals":   {in("hooks", r.raw("40000", ".GIT", one("100644", "blob", file, "config"))), "dotgit"},
		"short name of git": {in("hooks", r.raw("100644", "git~1", file)), "dotgit"},
		"escape":            {one("100644", "blob", file, "a\x1b[2J.lua"), `a\u{1b}[2J.lua has characters that cannot be seen`},
		"newline":           {one("100644", "blob", file, "a\nb.lua"), "has characters that cannot be seen"},
		"hidden":            {one("100644", "blob", file, "a\u202eb.lua"), "has characters that cannot be seen"},
		"backslash":         {one("100644", "blob", file, `..\a.lua`), `\a.lua`},
		"stream":            {one("100644", "blob", file, "a.lua:b"), "a.lua:b has one of"},
		"dot at the end":    {one("100644", "blob", file, "a.lua."), "some systems drop"},
		"device":            {one("100644", "blob", file, "nul.lua"), "nul.lua is that of a device"},
		"device and space":  {one("100644", "blob", file, "NUL .lua"), "nul .lua is that of a device"},
		"device and digit":  {one("100644", "blob", file, "com\u00b2"), "com\u00b2 is that of a device"},
		"case clash":        {r.tree("100644 blob "+file+"\tGate.lua", "100644 blob "+file+"\tgate.lua"), "Gate.lua and gate.lua are one name"},
		"clash of folders":  {r.tree("040000 tree "+one("100644", "blob", file, "a")+"\tHooks", "040000 tree "+one("100644", "blob", file, "b")+"\thooks"), "Hooks and hooks are one name"},
		"clash of accents":  {r.tree("100644 blob "+file+"\te\u0301.lua", "100644 blob "+file+"\t\u00e9.lua"), "are one name"},
		"many files":        {r.tree(many...), "at most 500 files"},
		"many folders":      {bomb, "at most 1000 folders"},
		"deep":              {deep, "more than 400 bytes"},
		"a large file":      {one("100644", "blob", large, "large"), "large has 1.0 MB"},
		"much":              {r.tree(heavy...), "at most 8 MiB"},
		"empty":             {r.tree(), ""},
	} {
		r.push("hostile", tt.tree)
		_, err := Fetcher{}.Fetch(t.Context(), parse(t, r.bare+"@hostile"))
		switch said := strings.ToLower(fmt.Sprint(err)); {
		case tt.want == "" && err != nil, tt.want != "" && err == nil, tt.want != "" && !strings.Contains(said, strings.ToLower(tt.want)):
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		case strings.ContainsAny(said, "\x1b\u202e"):
			t.Errorf("%s: the message commands the terminal: %q", name, said)
		}
	}
}

// A hundred thousand files are not listed to their end.
func TestAHundredThousandFilesAreRefusedAtOnce(t *testing.T) {
	r := newRepo(t)
	r.commit(map[string]string{"hooks/a.lua": ""})
	file := r.blob("-- x")
	flood := make([]string, 100_000)
	for i := range flood {
		flood[i] = fmt.Sprintf("100644 blob %s\tf%06d", file, i)
	}
	r.push("flood", r.tree(flood...))
	_, err := Fetcher{}.Fetch(t.Context(), parse(t, r.bare+"@flood"))
	if err == nil || !strings.Contains(err.Error(), "at most 500 files") {
		t.Error(err)
	}
}

// What a repository says of filters, line ends and hooks has no effect, whatever filters the user has for other
// repositories, and neither has what its own settings name.
func TestNothingOfARepositoryRuns(t *testing.T) {
	r := newRepo(t)
	r.commit(map[string]string{".gitattributes": "*.lua filter=lfs text eol=crlf\n", "hooks/a.lua": "-- one\n-- two\n"})
	marker := filepath.Join(t.TempDir(), "ran")
	touch := "touch " + marker + "; cat"
	home := t.TempDir()
	must(t, os.WriteFile(filepath.Join(home, ".gitconfig"), fmt.Appendf(nil, "[filter \"lfs\"]\n\tsmudge = %q\n\tclean = %q\n\tprocess = %q\n\trequired = true\n[core]\n\thooksPath = %q\n\tfsmonitor = %q\n\tautocrlf = true\n[url %q]\n\tinsteadOf = x:\n",
		touch, touch, touch, filepath.Join(home, "hooks"), touch, r.bare), 0o600))
	must(t, os.MkdirAll(filepath.Join(home, "hooks"), 0o700))
	for _, dir := range []string{filepath.Join(home, "hooks"), filepath.Join(r.bare, "hooks")} {
		for _, hook := range []string{"post-checkout", "reference-transaction", "post-merge", "pre-auto-gc", "post-index-change", "fsmonitor-watchman"} {
			must(t, os.WriteFile(filepath.Join(dir, hook), []byte("#!/bin/sh\n"+touch+"\n"), 0o700))
		}
	}
	config := filepath.Join(r.bare, "config")
	was, err := os.ReadFile(config)
	must(t, err)
	must(t, os.WriteFile(config, fmt.Appendf(was, "[core]\n\tfsmonitor = %q\n\tsshCommand = %q\n[uploadpack]\n\tpackObjectsHook = %q\n[filter \"lfs\"]\n\tsmudge = %q\n", touch, touch, touch, touch), 0o600))
	t.Setenv("HOME", home)
	t.Setenv("GIT_DIR", r.dir)
	t.Setenv("GIT_EXTERNAL_DIFF", touch)
	got, err := Fetcher{}.Fetch(t.Context(), parse(t, r.bare))
	must(t, err)
	if f, _ := got.Files.Find("hooks/a.lua"); string(f.Code) != "-- one\n-- two\n" {
		t.Errorf("%q", f.Code)
	}
	if _, err := os.Stat(marker); err == nil {
		t.Error("something of the repository ran")
	}
}

func TestAFetchHasAnEnd(t *testing.T) {
	r := newRepo(t)
	noise := make([]byte, 300<<10)
	for i := range noise { // so that nothing makes it smaller
		noise[i] = byte((i*i*31 + i>>3*17) ^ i>>7)
	}
	r.commit(map[string]string{"hooks/a.lua": "", "noise": string(noise) + fmt.Sprint(time.Now().UnixNano())})
	source := parse(t, r.bare)
	if _, err := (Fetcher{maxFetch: 1 << 10}).Fetch(t.Context(), source); err == nil || !strings.Contains(err.Error(), "it brings more than 1 KiB") {
		t.Errorf("size: %v", err)
	}
	if _, err := (Fetcher{time: time.Nanosecond}).Fetch(t.Context(), source); err == nil || !strings.Contains(err.Error(), "it took longer than") {
		t.Errorf("time: %v", err)
	}
	left, err := filepath.Glob(filepath.Join(os.TempDir(), "pi-fetch-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestWithoutGitTheErrorSaysSo(t *testing.T) {
	r := newRepo(t)
	r.commit(map[string]string{"hooks/a.lua": ""})
	t.Setenv("PATH", t.TempDir())
	if _, err := (Fetcher{}).Fetch(t.Context(), parse(t, r.bare)); err == nil || !strings.Contains(err.Error(), "git is not installed") {
		t.Error(err)
	}
}

func TestGitSeesOfTheEnvironmentHowServersAreReached(t *testing.T) {
	env := environment([]string{"PATH=/bin", "GIT_DIR=/x", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_PARAMETERS='a.b'='c'", "GIT_ALLOW_PROTOCOL=ext", "GIT_SSH_COMMAND=ssh -i k", "HTTPS_PROXY=p", "GIT_SSL_CAINFO=c",
		"SSH_ASKPASS=/bin/ask", "GIT_ASKPASS=/bin/ask", "SSH_AUTH_SOCK=s", "GIT_CONFIG_GLOBAL=g", "GIT_EXTERNAL_DIFF=x", "GIT_TRACE=1"}, Source{Kind: Git, Address: "https://example.com/a"})
	has := func(v string) bool { return strings.Contains("\n"+strings.Join(env, "\n")+"\n", "\n"+v+"\n") }
	for _, want := range []string{"PATH=/bin", "GIT_SSH_COMMAND=ssh -i k", "HTTPS_PROXY=p", "GIT_SSL_CAINFO=c", "SSH_AUTH_SOCK=s", "GIT_CONFIG_GLOBAL=g", "GIT_ASKPASS=", "SSH_ASKPASS=", "GIT_TERMINAL_PROMPT=0", "GIT_ALLOW_PROTOCOL=https:ssh"} {
		if !has(want) {
			t.Errorf("no %s", want)
		}
	}
	for _, not := range []string{"GIT_DIR=/x", "GIT_CONFIG_COUNT=1", "GIT_ALLOW_PROTOCOL=ext", "SSH_ASKPASS=/bin/ask", "GIT_ASKPASS=/bin/ask", "GIT_EXTERNAL_DIFF=x", "GIT_TRACE=1"} {
		if has(not) {
			t.Errorf("%s is there", not)
		}
	}
}

// FuzzReadEntries holds that whatever a list of git has in it, what comes out of it lies in the package and is
// a file.
func FuzzReadEntries(f *testing.F) {
	hash := strings.Repeat("a", 40)
	for _, seed := range []string{"100644 blob " + hash + "       4\thooks/a.lua\x00", "040000 tree " + hash + "       -\thooks\x00", "120000 blob " + hash + "       4\tx\x00", "160000 commit " + hash + "       -\tx\x00",
		"100644 blob " + hash + "       4\t../x\x00", "100644 blob x 4\tx\x00", "", "\x00", "100644 blob " + hash + "       4\ta", "100644 blob " + hash + " -1\ta\x00"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, list []byte) {
		b := newBuilder()
		objects, err := readEntries(bytes.NewReader(list), b)
		if err != nil && objects != nil {
			t.Errorf("%q: %v with %v", list, objects, err)
		}
		for _, o := range objects {
			if !filepath.IsLocal(filepath.FromSlash(o.path)) || o.kind != "blob" || o.size < 0 || o.size > maxFile || checkPath(o.path) != nil {
				t.Errorf("%q: %+v", list, o)
			}
		}
		if err == nil && len(list) > 0 && list[len(list)-1] != 0 {
			t.Errorf("%q: an end in the middle was taken", list)
		}
	})
}

func TestAnObjectIsWhatTheListSaid(t *testing.T) {
	o := object{hash: strings.Repeat("a", 40), size: 2, path: "a.lua"}
	for text, want := range map[string]string{
		o.hash + " blob 2\nxy\n":  "",
		o.hash + " blob 3\nxyz\n": "in the place of",
		o.hash + " missing\n":     "in the place of",
		o.hash + " blob 2\nx":     "a.lua",
		"":                        "a.lua",
	} {
		code, err := readObject(bufio.NewReader(strings.NewReader(text)), o)
		if want == "" && (err != nil || string(code) != "xy") || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %q, %v", text, code, err)
		}
		if want == "a.lua" && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestHistoryTellsAForcePush(t *testing.T) {
	r := newRepo(t)
	first := r.commit(map[string]string{"hooks/a.lua": "-- 1"})
	second := r.commit(map[string]string{"hooks/a.lua": "-- 2"})
	s := parse(t, r.bare+"@main")
	if got, err := (Fetcher{}).History(t.Context(), s, first, second); err != nil || got != Follows {
		t.Errorf("%q, %v", got, err)
	}
	r.command("", "checkout", "--quiet", "--orphan", "other")
	third := r.commit(map[string]string{"hooks/a.lua": "-- 3"})
	if got, err := (Fetcher{}).History(t.Context(), s, second, third); err != nil || got != Forced {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := (Fetcher{}).History(t.Context(), s, "--all", third); err == nil {
		t.Error("an option was looked for")
	}
}
