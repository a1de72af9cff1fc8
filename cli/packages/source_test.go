package packages

import (
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// somewhere is a file system of a test.
func somewhere(path string) What {
	switch path {
	case "/here/pack", "/here/with@sign", "/pack":
		return AFolder
	case "/here/gate.lua", "/here/notes.txt":
		return AFile
	case "/here/hooks.git", "/srv/hooks.git":
		return ARepository
	}
	return Nothing
}

func TestASourceIsWhatItSays(t *testing.T) {
	commit := strings.Repeat("0123456789", 4)
	for text, want := range map[string]Source{
		"pack":                              {Folder, "/here/pack", ""},
		"./pack/":                           {Folder, "/here/pack", ""},
		"/pack":                             {Folder, "/pack", ""},
		"pack@v1":                           {Git, "/here/pack", "v1"},
		"with@sign":                         {Folder, "/here/with@sign", ""},
		"with@sign@v1":                      {Git, "/here/with@sign", "v1"},
		"gate.lua":                          {File, "/here/gate.lua", ""},
		"example:modes":                     {Example, "modes", ""},
		"hooks.git":                         {Git, "/here/hooks.git", ""},
		"hooks.git@team/x":                  {Git, "/here/hooks.git", "team/x"},
		"hooks.git@" + commit:               {Git, "/here/hooks.git", commit},
		"hooks.git@pack@1.0.0":              {Git, "/here/hooks.git", "pack@1.0.0"},
		"file:///srv/hooks.git":             {Git, "/srv/hooks.git", ""},
		"file:///pack@v1":                   {Git, "/pack", "v1"},
		"https://example.com/a/hooks":       {Git, "https://example.com/a/hooks", ""},
		"HTTPS://example.com/a/hooks@v1":    {Git, "https://example.com/a/hooks", "v1"},
		"https://example.com:8443/a@f/x-1":  {Git, "https://example.com:8443/a", "f/x-1"},
		"https://example.com/@team/hooks":   {Git, "https://example.com/@team/hooks", ""},
		"https://example.com/@team/h@v1":    {Git, "https://example.com/@team/h", "v1"},
		"ssh://git@example.com/a/hooks@v1":  {Git, "ssh://git@example.com/a/hooks", "v1"},
		"ssh://git@[::1]:2222/a":            {Git, "ssh://git@[::1]:2222/a", ""},
		"git@example.com:a/hooks.git":       {Git, "git@example.com:a/hooks.git", ""},
		"git@example.com:a/hooks.git@v1":    {Git, "git@example.com:a/hooks.git", "v1"},
		"git@example.com:~me/hooks@pack@v1": {Git, "git@example.com:~me/hooks", "pack@v1"},
	} {
		got, err := ParseSource(text, "/here", somewhere)
		if err != nil || got != want {
			t.Errorf("%s: %+v, %v, want %+v", text, got, err, want)
			continue
		}
		if again, err := ParseSource(got.String(), "/", somewhere); err != nil || again != got {
			t.Errorf("%s: written again as %s it is %+v, %v", text, got, again, err)
		}
	}
}

func TestAHostileSourceIsRefused(t *testing.T) {
	for text, why := range map[string]string{
		"":                                   "a source is",
		"-x":                                 "begins with -",
		"--upload-pack=touch x":              "begins with -",
		"ext::sh -c touch% /tmp/x":           "a transport that runs a command",
		"fd::17/x":                           "a transport that runs a command",
		"ext::sh@v1":                         "a transport that runs a command",
		"https://example.com/a@-x":           "begins with -",
		"https://example.com/a@--upload":     "begins with -",
		"https://-oProxyCommand=x/a":         "no name of a host",
		"ssh://-oProxyCommand=x/a":           "no name of a host",
		"ssh://git@-x/a":                     "no name of a host",
		"ssh://-l@example.com/a":             "the name before the host",
		"git@-x:a":                           "no name of a host",
		"git@example.com:-x":                 "a path cannot begin with -",
		"git@example.com:":                   "a host and no path",
		"git@example.com:a@-v":               "begins with -",
		"https://example.com":                "a host and no path",
		"https://example.com/":               "a host and no path",
		"https://user:secret@example.com/a":  "would be written down",
		"https://token@example.com/a":        "would be written down",
		"ssh://git:secret@example.com/a":     "would be written down",
		"https://example.com/a?token=secret": "neither ? nor #",
		"https://example.com/a#x":            "neither ? nor #",
		"http://example.com/a":               "can be changed on its way",
		"git://example.com/a":                "can be changed on its way",
		"ftp://example.com/a":                "the scheme ftp",
		"transport+ext://x":                  "the scheme transport+ext",
		"https://example.com/a\n":            "characters that cannot be seen",
		"https://example.com/a@v\u202e1":     "characters that cannot be seen",
		"hooks.git@a..b":                     "characters that no name has",
		"hooks.git@a:b":                      "characters that no name has",
		"hooks.git@":                         "it is empty",
		"hooks.git@+main":                    "begins with +",
		"hooks.git@x.lock":                   "begins or ends as no name does",
		"gate.lua@v1":                        "is a file",
		"notes.txt":                          "ends in .lua",
		"nowhere":                            "nothing at /here/nowhere",
		"example.com/a/hooks":                "https://example.com/a/hooks",
		"file://example.com/hooks":           "a whole path",
		"file:///nowhere":                    "nothing at /nowhere",
		"example:../x":                       "no name of a package",
		"example:pi":                         "pi is the name",
		strings.Repeat("a", 3000):            "longer than",
	} {
		got, err := ParseSource(text, "/here", somewhere)
		if err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %+v, %v, want %q", text, got, err, why)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: the error has the password: %v", text, err)
		}
	}
}

// FuzzParseSource holds that nothing becomes a source that git could take for an option or a command, that
// would not be one when it is written again, or that carries a password.
func FuzzParseSource(f *testing.F) {
	for _, seed := range []string{"pack@v1", "https://example.com/@a/b@v1", "git@example.com:a@b", "ssh://git@h/x", "ext::sh -c x", "fd::1", "-x", "file:///pack@x@y", "https://a:b@c/d", "a\x00b",
		"hooks.git@" + strings.Repeat("a", 40), "example:modes", "git@-h:x", "HTTPS://H/p?x#y", "ssh://h:22/~a"} {
		f.Add(seed)
	}
	address := regexp.MustCompile(`^(https|ssh)://[^-]|^[A-Za-z0-9_][A-Za-z0-9_.-]*@[^-].*:[^-]`)
	f.Fuzz(func(t *testing.T, text string) {
		s, err := ParseSource(text, "/here", somewhere)
		if err != nil {
			return
		}
		if strings.ContainsFunc(s.Address+s.Ref, func(c rune) bool { return c < ' ' || c == 0x7f }) || strings.HasPrefix(s.Address, "-") || strings.HasPrefix(s.Ref, "-") {
			t.Errorf("%q is %+v", text, s)
		}
		if s.Kind == Git && !filepath.IsAbs(s.Address) {
			u, err := url.Parse(s.Address)
			if !address.MatchString(s.Address) || strings.Contains(s.Address, "::") && !strings.Contains(s.Address, "[") {
				t.Errorf("%q is %+v", text, s)
			}
			if err == nil && u.User != nil {
				if _, password := u.User.Password(); password {
					t.Errorf("%q is %+v", text, s)
				}
			}
		}
		if !slices.Contains([]Kind{Folder, File, Example, Git}, s.Kind) {
			t.Errorf("%q is %+v", text, s)
		}
		if again, err := ParseSource(s.String(), "/", somewhere); err != nil || again != s {
			t.Errorf("%q is %+v, and %s is %+v, %v", text, s, s, again, err)
		}
	})
}

func TestNamesOfPackages(t *testing.T) {
	for name, ok := range map[string]bool{"gate": true, "my-gate_2": true, "pi": false, "": false, "Gate": false, "a.b": false, "a/b": false, "..": false, "-a": false, "sums": false, "con": false, "ä": false, strings.Repeat("a", 65): false} {
		if err := CheckName(name); (err == nil) != ok {
			t.Errorf("%q: %v", name, err)
		}
	}
}
