package trust

import "testing"

func TestWhichModuleNamesThereAre(t *testing.T) {
	for name, want := range map[string]bool{
		"util": true, "lib.util_2": true, "a.b.c": true, "7": true, "my-pack.rules": true, "pi.fs": true,
		"": false, ".": false, "a.": false, ".a": false, "a..b": false, "a/b": false, "a-b": false, "-a.b": false, "a.b-c": false, "a-b.": false, "../a": false, "ä": false, "a\n": false,
	} {
		if got := IsModuleName(name); got != want {
			t.Errorf("isModuleName(%q) = %v, want %v", name, got, want)
		}
	}
}
