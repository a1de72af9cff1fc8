package session

import (
	"os"
	"strings"
	"testing"
)

// The mark of an agent's session stands in its header, and a copy that a user makes of it is
// the user's.
func TestTheSessionOfAnAgentIsMarked(t *testing.T) {
	dir := t.TempDir()
	mark := AgentMark{Name: "a \"b\"", Depth: 2}
	s := New(Options{Dir: dir, Cwd: "/x", Parent: "/p.jsonl", Agent: mark})
	say(t, s, "look")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(s.File())
	if err != nil || !strings.Contains(string(raw), `"parentSession":"/p.jsonl","agent":{"name":"a \"b\"","depth":2}}`+"\n") {
		t.Fatalf("%s, %v", raw, err)
	}
	r, err := Open(s.File(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if got := r.Header().Agent; got != mark {
		t.Errorf("%+v, want %+v", got, mark)
	}
	c, err := r.CopyPath(r.Leaf(), Options{Dir: dir, Cwd: "/x"})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if c.Header().Agent.IsSet() || c.Header().ParentSession != s.File() {
		t.Errorf("the copy has %+v", c.Header())
	}
}

func TestAMarkThatIsNotOursIsNone(t *testing.T) {
	for text, want := range map[string]AgentMark{
		`{"name":"x","depth":1}`: {"x", 1}, `{"name":"","depth":3,"more":1}`: {"", 3},
		`"reviewer"`: {}, `{"name":"x"}`: {}, `{"depth":1}`: {}, `{"name":1,"depth":1}`: {}, `{"name":"x","depth":0}`: {}, `{"name":"x","depth":-1}`: {},
		`{"name":"x","depth":1e99}`: {}, `null`: {}, `[]`: {},
	} {
		h, reason := parseHeader([]byte(`{"type":"session","version":3,"id":"a","agent":` + text + `}`))
		if h.Agent != want || reason != "" {
			t.Errorf("%s is %+v, %s", text, h.Agent, reason)
		}
	}
}
