package provider_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"

	"pi/internal/testing/wiretest"
)

// seed is what the random cuts come from.
const seed = 20260601

// TestRecordings decodes every recording, whole and however it is cut, and
// repeats every recorded conversation. The table says of what.
func TestRecordings(t *testing.T) {
	folders := wiretest.All(t)
	table := newTable(folders)
	everyCut := !raceEnabled // which would take minutes; .ci/run has all of it without the race detector
	t.Run("decode", func(t *testing.T) {
		for i := range folders {
			f := &folders[i]
			t.Run(f.ID, func(t *testing.T) {
				t.Parallel()
				table.record(f, decode(t, f, table, everyCut))
			})
		}
	})
	t.Run("repeat", func(t *testing.T) {
		for _, c := range conversations(folders) {
			t.Run(c[0].ID, func(t *testing.T) {
				table.record(c[0], repeat(t, c, table))
			})
		}
	})
	t.Logf("%d recordings\n%s", len(folders), table)
}

// decode returns what holds for a recording.
func decode(t *testing.T, f *wiretest.Folder, table *table, everyCut bool) row {
	api := client(t, f.API)
	r := row{}
	misses, rules := f.Judge(f.Whole(api))
	for _, miss := range misses {
		t.Error(miss)
		r.misses++
	}
	table.judged(f, rules)
	r.whole = 1 - min(1, r.misses)
	r.try(t, f.Served(api))
	if everyCut {
		r.bytewise = r.try(t, f.Bytewise(api))
		r.cut = r.try(t, f.Pieces(api, seed)) * r.try(t, f.Halves(api)) * r.try(t, f.Events())
	}
	return r
}

// row is a line of the table: how many exchanges there are, how many of them
// hold what, and what does not hold.
type row struct {
	exchanges, whole, bytewise, cut int
	requestless                     int // whose request nobody kept
	conversations                   int
	turns, repeated                 int // requests behind the first one, and those that were as recorded
	thoughts, kept                  int // that went back as recorded, and that only our client sent back
	misses                          int
}

// try is 1 if nothing is wrong.
func (r *row) try(t *testing.T, err error) int {
	t.Helper()
	if err != nil {
		t.Error(err)
		r.misses++
		return 0
	}
	return 1
}

func (r *row) add(o row) {
	r.exchanges += o.exchanges
	r.whole += o.whole
	r.bytewise += o.bytewise
	r.cut += o.cut
	r.requestless += o.requestless
	r.conversations += o.conversations
	r.turns += o.turns
	r.repeated += o.repeated
	r.thoughts += o.thoughts
	r.kept += o.kept
	r.misses += o.misses
}

// table counts by API and provider.
type table struct {
	mu    sync.Mutex
	rows  map[[2]string]*row
	rules map[string][]string // which recordings were judged by a rule
}

func newTable(folders []wiretest.Folder) *table {
	t := &table{rows: map[[2]string]*row{}, rules: map[string][]string{}}
	for i := range folders {
		r := row{exchanges: 1}
		if folders[i].Request == nil {
			r.requestless = 1
		}
		t.record(&folders[i], r)
	}
	for _, c := range conversations(folders) {
		t.record(c[0], row{conversations: 1, turns: len(c) - 1})
	}
	return t
}

func (t *table) record(f *wiretest.Folder, r row) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, key := range [][2]string{{f.API, f.Provider}, {f.API, "all"}, {"all", ""}} {
		if t.rows[key] == nil {
			t.rows[key] = &row{}
		}
		t.rows[key].add(r)
	}
}

func (t *table) judged(f *wiretest.Folder, rules []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, rule := range rules {
		t.rules[rule] = append(t.rules[rule], f.ID)
	}
}

func (t *table) String() string {
	var keys [][2]string
	for key := range t.rows {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b [2]string) int { return strings.Compare(sortKey(a), sortKey(b)) })
	var s strings.Builder
	w := tabwriter.NewWriter(&s, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "API\tprovider\texchanges\twhole\tbytewise\tcut\tno request\tconversations\tnext requests\trepeated\tthoughts back\tmore than recorded\tmisses\t")
	for _, key := range keys {
		r := t.rows[key]
		fmt.Fprintf(w, "%s\t%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t\n", key[0], key[1],
			r.exchanges, r.whole, r.bytewise, r.cut, r.requestless, r.conversations, r.turns, r.repeated, r.thoughts, r.kept, r.misses)
	}
	w.Flush()
	s.WriteString("not as reported, by rule:\n")
	for _, rule := range slices.Sorted(maps.Keys(t.rules)) {
		fmt.Fprintf(&s, "  %s: %d\n", rule, len(t.rules[rule]))
	}
	return s.String()
}

// sortKey puts sums behind what they are the sum of.
func sortKey(key [2]string) string {
	return strings.Join(strings.Fields(strings.ReplaceAll(" "+key[0]+" "+key[1]+" ", " all ", " ~ ")), " ")
}
