package trust

import (
	"os"
	"path/filepath"
	"testing"
)

func TestTheNearestPiAboveAFileDecidesWhoseItIs(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(path string) string { return filepath.Join(root, filepath.FromSlash(path)) }
	for _, dir := range []string{"home/.pi/agent/hooks", "one/.pi/hooks/in/.pi/hooks", "two/src"} {
		if err := os.MkdirAll(at(dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{"one/.pi/hooks/a.lua", "home/.pi/agent/hooks/own.lua"} {
		if err := os.WriteFile(at(file), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"two/src/a.lua": "one/.pi/hooks/a.lua", "two/all": "one/.pi/hooks", "home/.pi/agent/hooks/a.lua": "one/.pi/hooks/a.lua", "agent": "home/.pi/agent"} {
		if err := os.Symlink(at(to), at(link)); err != nil {
			t.Skip(err)
		}
	}
	for _, tt := range []struct{ path, project, file string }{
		{"one/.pi/hooks/a.lua", "one", "one/.pi/hooks/a.lua"},
		{"one/.pi/none.lua", "one", "one/.pi/none.lua"},
		{"one/.pi/hooks/in/.pi/hooks/x.lua", "one/.pi/hooks/in", "one/.pi/hooks/in/.pi/hooks/x.lua"},
		{"one/a.lua", "", ""},
		{"two/src/a.lua", "one", "one/.pi/hooks/a.lua"},
		{"two/all/a.lua", "one", "one/.pi/hooks/a.lua"},
		{"two/all/none.lua", "one", "one/.pi/hooks/none.lua"},
		{"home/.pi/hooks/x.lua", "home", "home/.pi/hooks/x.lua"},
		{"home/.pi/agent/hooks/own.lua", "", ""},
		{"agent/hooks/own.lua", "", ""},
		{"home/.pi/agent/hooks/a.lua", "", ""}, // the user's own link
		{"home/.pi/agent/.pi/hooks/x.lua", "home/.pi/agent", "home/.pi/agent/.pi/hooks/x.lua"},
	} {
		project, file, ok := ProjectOf(at(tt.path), at("home/.pi/agent"))
		if ok != (tt.project != "") || ok && (project != at(tt.project) || file != at(tt.file)) {
			t.Errorf("%s: %q, %q, %v; want %q, %q", tt.path, project, file, ok, tt.project, tt.file)
		}
	}
}
