package trust

import (
	"testing"
	"time"
)

func TestFilesOfAProjectThatChangeWithinMomentsChangeAtOnce(t *testing.T) {
	t.Parallel()
	code := Version{Sum: "new", Code: []byte("x")}
	p, q := change{path: "p", scope: ScopeProject, is: code}, change{path: "q", scope: ScopeProject, is: code}
	old := change{path: "o", scope: ScopeProject, is: Version{Sum: "approved", Code: []byte("o")}}
	mine, gone := change{path: "m", scope: ScopeGlobal, is: code}, change{path: "g", scope: ScopeProject}
	type look struct {
		after   time.Duration
		changes []change
	}
	looks := func(l ...look) []look { return l }
	for name, c := range map[string]struct {
		looks []look
		crowd bool // at the last of them
	}{
		"one":                            {looks(look{0, []change{p}}), false},
		"two in one look":                {looks(look{0, []change{p, q}}), true},
		"a look in between":              {looks(look{0, []change{p}}, look{atOnce - 1, []change{q}}), true},
		"the same again":                 {looks(look{0, []change{p}}, look{1, []change{p}}), false},
		"the other much later":           {looks(look{0, []change{p}}, look{atOnce, []change{q}}), false},
		"and then one alone":             {looks(look{0, []change{p, q}}, look{atOnce, []change{p}}), false},
		"one that is approved":           {looks(look{0, []change{old, p}}), false},
		"one of the agent directory":     {looks(look{0, []change{p}}, look{1, []change{mine}}), false},
		"one of each":                    {looks(look{0, []change{mine, p}}), false},
		"one that is gone":               {looks(look{0, []change{gone, p}}), false},
		"with a look that finds nothing": {looks(look{0, []change{p}}, look{1, nil}, look{1, []change{q}}), true},
	} {
		g, now, crowd := NewForRun(""), time.Now(), false
		g.approved["o"] = "approved"
		for _, l := range c.looks {
			now = now.Add(l.after)
			crowd = g.crowded(l.changes, now)
		}
		if crowd != c.crowd {
			t.Errorf("%s: %v", name, crowd)
		}
	}
}
