package catalogue

import (
	"os"
	"slices"
	"strings"
	"testing"

	"pi/agent/llm"
)

func TestWhatIsPackedIsWhatPeopleRead(t *testing.T) {
	text, err := os.ReadFile("models.txt")
	if err != nil {
		t.Fatal(err)
	}
	head, rest, _ := strings.Cut(string(text), "\n")
	if !strings.HasPrefix(head, "# generated") {
		t.Errorf("models.txt begins with %q", head)
	}
	end := 0
	for i := range table {
		p := &table[i]
		want := "= " + p.Name + "\n" + p.record()
		if !strings.HasPrefix(rest, want) {
			t.Fatalf("models.bin and models.txt differ at %s; go generate ./agent/provider/catalogue writes both", p.Name)
		}
		rest = rest[len(want):]
		end = max(end, p.at+p.size)
	}
	if rest != "" || end != len(records) {
		t.Errorf("%d bytes of models.txt and %d of models.bin belong to nobody", len(rest), len(records)-end)
	}
}

func FuzzDecode(f *testing.F) {
	for _, p := range table[:3] {
		line, _, _ := strings.Cut(p.record(), "\n")
		f.Add(line)
	}
	f.Add("")
	f.Add("id\t\t\t\t\t?")
	f.Add("id\t\t\t\t\t?\t1/2/3/4;100:2/3/4/5;50:1/1/1/1;x;:;200:")
	f.Add("id\tname\t-1\tx\ti\t0/:;9\t1//?/NaN/5\tapi\thttps://x\tmore")
	names := llm.ThinkingLevels()
	f.Fuzz(func(t *testing.T, line string) {
		m := llm.Model{API: "a", BaseURL: "b"}
		decode(&m, line, names)
		if m.API == "" || m.BaseURL == "" || len(m.Input) == 0 || m.Name != m.ID && !strings.Contains(line, m.Name) {
			t.Errorf("%q is %+v", line, m)
		}
		if m.Levels != nil && !m.Reasoning || slices.ContainsFunc(m.Levels, func(l string) bool { return !slices.Contains(names, l) }) {
			t.Errorf("%q thinks %q", line, m.Levels)
		}
		for c := m.Cost; c != nil && c.Above != nil; c = &c.Above.Price {
			if next := c.Above.Price.Above; c.Above.Tokens <= 0 || next != nil && next.Tokens <= c.Above.Tokens {
				t.Errorf("%q: the steps are not in order", line)
			}
		}
		if c := m.Cost; c != nil && slices.ContainsFunc([]float64{c.Input, c.Output, c.CacheRead, c.CacheWrite}, func(v float64) bool { return v != -1 && !(v >= 0) }) {
			t.Errorf("%q costs %+v", line, *c)
		}
	})
}
