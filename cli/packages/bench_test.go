package packages

import (
	"fmt"
	"testing"
)

// BenchmarkAdd is a package of 20 files on its way from a repository on this machine until it is in force, without
// the start of the program.
func BenchmarkAdd(b *testing.B) {
	files := map[string]string{}
	for i := range 20 {
		files[fmt.Sprintf("hooks/h%02d.lua", i)] = fmt.Sprintf("pi.on(\"tool_call\", function() return nil end) -- %d\n", i)
	}
	r := newRepo(b)
	r.commit(files)
	source, err := ParseSource(r.bare, "/", LookAt)
	must(b, err)
	for b.Loop() {
		s := storeIn(b, b.TempDir())
		got, err := Fetcher{}.Fetch(b.Context(), source)
		must(b, err)
		p, err := New(got)
		must(b, err)
		p.List(There{})
		must(b, s.put(p))
	}
}
