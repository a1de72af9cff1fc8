package starter

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAHookIsWrittenWithItsTestAndNeverOverAFile(t *testing.T) {
	t.Parallel()
	for _, taken := range []string{"mine.lua", "mine_test.lua", "mine/init.lua"} {
		dir := filepath.Join(t.TempDir(), "hooks")
		there := filepath.Join(dir, filepath.FromSlash(taken))
		if err := errors.Join(os.MkdirAll(filepath.Dir(there), 0o700), os.WriteFile(there, []byte("-- mine"), 0o600)); err != nil {
			t.Fatal(err)
		}
		err := Starter{Name: "mine", Kind: "gate", Dir: dir}.Write()
		if err == nil || !strings.Contains(err.Error(), "is there already") {
			t.Errorf("%s: %v", taken, err)
		}
		entries, _ := os.ReadDir(dir)
		if text, _ := os.ReadFile(there); string(text) != "-- mine" || len(entries) != 1 {
			t.Errorf("%s: it is %q now, and there are %v", taken, text, entries)
		}
	}
}

func TestNoPlaceOfANameIsLeftInAFile(t *testing.T) {
	t.Parallel()
	for _, kind := range Kinds() {
		s := Starter{Name: "my-hook", Kind: kind, Dir: filepath.Join(t.TempDir(), "hooks")}
		if err := errors.Join(s.Check(nil), s.Write()); err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{s.Hook(), s.Test()} {
			text, err := os.ReadFile(path)
			if err != nil || strings.Contains(string(text), "NAME") || strings.Contains(string(text), "IDENT") || !strings.HasPrefix(string(text), "-- ") {
				t.Errorf("%s: %v\n%s", path, err, text)
			}
			info, err := os.Stat(path)
			if err != nil || info.Mode().Perm()&0o077 != 0 {
				t.Errorf("%s: others may %v", path, info.Mode())
			}
		}
	}
}

func TestWhatIsNoNameOrKindIsRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, kind, want string }{
		{"gate", "gat", `no kind of hook "gat", did you mean "gate"?; there are gate, command`},
		{"../up", "gate", `"../up" is no name`},
		{"2nd", "gate", `"2nd" is no name`},
		{"", "gate", `"" is no name`},
		{"my_test", "gate", "are tests"},
		{"help", "command", "/help is a command of pi"},
		{"help", "gate", ""},
	} {
		err := Starter{Name: c.name, Kind: c.kind}.Check([]string{"help"})
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s of the kind %s: %v", c.name, c.kind, err)
		}
	}
}
