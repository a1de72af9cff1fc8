package examples

import (
	"bytes"
	"compress/flate"
	"encoding/json"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write examples.bin")

// filesOf reads the examples of the project.
func filesOf(t *testing.T) (all []Example) {
	t.Helper()
	files, err := filepath.Glob("../../examples/*.lua")
	if err != nil || len(files) == 0 {
		t.Fatal("no examples", err)
	}
	read := func(path string) string {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	for _, file := range files { // tests of several examples have no hook
		if hook := strings.TrimSuffix(file, ".lua"); !strings.HasSuffix(hook, "_test") {
			all = append(all, Example{filepath.Base(hook), read(file), read(hook + "_test.lua")})
		}
	}
	return all
}

// pack is what examples.bin is of these examples.
func pack(t *testing.T, all []Example) []byte {
	t.Helper()
	var packed bytes.Buffer
	w, err := flate.NewWriter(&packed, flate.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(all); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return packed.Bytes()
}

func TestThePackHasTheExamples(t *testing.T) {
	t.Parallel()
	want := filesOf(t)
	if *update {
		if err := os.WriteFile("examples.bin", pack(t, want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	all, err := All()
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != len(want) {
		t.Fatalf("%d are packed, and there are %d; `go generate ./luahooks/examples` packs them", len(all), len(want))
	}
	for i, e := range all {
		if e != want[i] {
			t.Errorf("%s is packed as it was earlier; `go generate ./luahooks/examples` packs it", want[i].Name)
		}
	}
}

// Another version of Go may pack in another way, so that only what comes out is compared above.
func TestTheSameExamplesArePackedIntoTheSameBytes(t *testing.T) {
	t.Parallel()
	all := filesOf(t)
	first, second := pack(t, all), pack(t, all)
	if !bytes.Equal(first, second) {
		t.Error("two packs differ")
	}
	if text, err := io.ReadAll(flate.NewReader(bytes.NewReader(first))); err != nil || !json.Valid(text) {
		t.Errorf("not unpacked: %v", err)
	}
	if most := 120 << 10; len(packed) > most {
		t.Errorf("the pack has %d bytes, more than %d", len(packed), most)
	}
}

func TestEveryExampleSaysInASentenceWhatItDoes(t *testing.T) {
	t.Parallel()
	for _, e := range filesOf(t) {
		about := e.About()
		if len(about) < 30 || len(about) > 160 || strings.HasSuffix(about, ".") || !strings.Contains(e.Hook, "pi hooks add example:"+e.Name) {
			t.Errorf("%s: the head has a title, a colon, a sentence of 30 to 160 bytes, and how to add it; this is %q", e.Name, about)
		}
	}
}

func TestAnExampleIsFoundByItsName(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"modes", "modes.lua", "example:modes"} {
		if e, err := Find(name); err != nil || e.Name != "modes" || !strings.Contains(e.Test, "t.case") {
			t.Errorf("%s: %q, %v", name, e.Name, err)
		}
	}
	for name, want := range map[string]string{"mode": `no example "mode", did you mean "modes"?`, "../modes": "no example", "": `no example ""`} {
		if _, err := Find(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTheHeadOfAnExampleIsRead(t *testing.T) {
	t.Parallel()
	for head, want := range map[string][3]string{
		"-- Title: does it. And more.\n-- More.\n--\n-- Rest: no.\n\nlocal x": {"does it", "", ""},
		"-- Title: does e.g. this, v1.2\n-- of it.\nx()":                      {"does e.g. this, v1.2 of it", "", ""},
		"-- Title: x.\n--\n-- Needs: `gopls`, or\n-- `clangd`.\n--\n-- End.":  {"x", "`gopls`, or `clangd`", "gopls clangd"},
		"local x = 1 -- Title: no":                                            {"", "", ""},
		"":                                                                    {"", "", ""},
	} {
		e := Example{Hook: head}
		if got := [3]string{e.About(), e.Needs(), strings.Join(e.Programs(), " ")}; got != want {
			t.Errorf("%q: %q, want %q", head, got, want)
		}
	}
}
