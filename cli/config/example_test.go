package config

import (
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
)

func readExample(t testing.TB) string {
	t.Helper()
	data, err := os.ReadFile("../../config.example.toml")
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// uncommented turns the lines that begin with # and no space into settings.
func uncommented(text string) string {
	return regexp.MustCompile(`(?m)^#([^ #\n])`).ReplaceAllString(text, "$1")
}

func TestTheExampleIsTheDefaults(t *testing.T) {
	var plain Config // decoded by the library alone: the loader is no judge of itself
	meta, err := toml.Decode(readExample(t), &plain)
	if err != nil || len(meta.Undecoded()) != 0 {
		t.Fatalf("%v, unknown keys %v", err, meta.Undecoded())
	}
	want := Default()
	want.Origins, want.Providers, want.Hook = nil, nil, nil
	if !reflect.DeepEqual(plain, want) {
		t.Errorf("got  %+v\nwant %+v", plain, want)
	}
	s := newSandbox(t)
	s.global(readExample(t))
	cfg, problems := s.load()
	if len(problems) != 0 || !reflect.DeepEqual(withoutOrigins(cfg), withoutOrigins(Default())) {
		t.Errorf("loaded %+v, problems %q", cfg, problems)
	}
}

func TestTheExampleHasEveryKeyAndExplainsIt(t *testing.T) {
	text := readExample(t)
	s := newSandbox(t)
	s.global(uncommented(text))
	if cfg, problems := s.load(); len(problems) != 0 || len(cfg.Providers["local"].Models) != 1 || len(cfg.Keys) == 0 || len(cfg.Hook) == 0 {
		t.Errorf("with its examples: %+v, problems %q", cfg, problems)
	}
	shown := map[string]bool{}
	all, _ := indexLines(uncommented(text))
	for path := range all {
		shown[strings.ReplaceAll(path, "[0]", "")] = true
	}
	plain, _ := indexLines(text)
	lines := strings.Split(text, "\n")
	for _, path := range settingPaths(reflect.TypeFor[Config](), "") {
		name := "local"
		if strings.HasPrefix(path, hookKey+".") {
			name = "permissions"
		}
		if !shown[strings.ReplaceAll(path, "NAME", name)] {
			t.Errorf("key %s is not in the example", path)
		}
		if line := plain[path]; line > 1 && !strings.HasPrefix(lines[line-1], "[") && !strings.HasPrefix(lines[line-2], "# ") {
			t.Errorf("key %s has no comment above it", path)
		}
	}
}
