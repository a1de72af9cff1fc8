package repl

import (
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"
	"time"

	"pi/agent"
	"pi/internal/pick"
	"pi/repl/terminal"
)

func TestTheZoneHasAThirdOfTheWindowAndWhatHooksShowOrSixRows(t *testing.T) {
	for _, c := range []struct {
		height, want int
		panel        bool
		ofHooks      int
	}{{30, 10, false, 0}, {24, 8, false, 0}, {12, 6, false, 0}, {5, 5, false, 0}, {1, 1, false, 0}, {30, 28, true, 0}, {8, 6, true, 3}, {2, 1, true, 0},
		{36, 14, false, 2}, {36, 18, false, 10}, {8, 6, false, 10}, {4, 4, false, 10}} {
		if got := zoneRows(c.height, c.panel, c.ofHooks); got != c.want {
			t.Errorf("of %d rows (panel %v, %d of hooks): %d, want %d", c.height, c.panel, c.ofHooks, got, c.want)
		}
	}
}

func TestWhatMattersLeastGivesWayFirst(t *testing.T) {
	all := func() []section {
		return []section{
			{rank: rankHeader, rows: []string{"header 1", "header 2"}, fromEnd: true},
			{rank: rankBlock, rows: []string{"block 1", "block 2"}},
			{rank: rankOutput, rows: []string{"output 1", "output 2"}},
			{rank: rankLive, rows: []string{"busy"}, least: 1},
			{rank: rankQueue, rows: []string{"queue"}},
			{rank: rankWidget, rows: []string{"widget 1", "widget 2"}, fromEnd: true},
			{rank: rankStatus, rows: []string{"status"}},
			{rank: rankLive, rows: []string{"line"}, least: 1},
			{rank: rankWidget, rows: []string{"below"}},
			{rank: rankFooter, rows: []string{"footer"}, fromEnd: true},
		}
	}
	for limit, want := range map[int]string{
		20: "header 1,header 2,block 1,block 2,output 1,output 2,busy,queue,widget 1,widget 2,status,line,below,footer",
		12: "header 1,header 2,block 1,block 2,output 1,output 2,busy,queue,widget 1,status,line,footer",
		11: "header 1,header 2,block 1,block 2,output 1,output 2,busy,queue,status,line,footer",
		9:  "block 1,block 2,output 1,output 2,busy,queue,status,line,footer",
		7:  "block 2,output 1,output 2,busy,queue,status,line",
		5:  "output 2,busy,queue,status,line",
		4:  "busy,queue,status,line",
		3:  "busy,status,line",
		2:  "busy,line",
		1:  "busy,line", // never these
	} {
		sections := all()
		fit(sections, limit)
		var rows []string
		for _, s := range sections {
			rows = append(rows, s.rows...)
		}
		if got := strings.Join(rows, ","); got != want {
			t.Errorf("%d rows: %s, want %s", limit, got, want)
		}
	}
}

// Whatever is going on, the zone fits, no row is too wide, and the cursor is in it.
func TestTheZoneFitsIntoEveryWindow(t *testing.T) {
	random := rand.New(rand.NewSource(1))
	lines := func(n int) (all []string) {
		for i := range random.Intn(n + 1) {
			all = append(all, fmt.Sprintf("row %d %s", i, strings.Repeat("日本 ", random.Intn(20))))
		}
		return all
	}
	for range 400 {
		columns, rows := 2+random.Intn(100), 2+random.Intn(40)
		x := newStage(columns)
		x.status.model, x.status.full, x.status.part = "test/one:off", "34% of 200k", 0.34
		for _, place := range []agent.Place{agent.Above, agent.Below, agent.Header, agent.Footer} {
			x.widgets.set(place, "w", widget{lines: lines(5)})
		}
		if random.Intn(2) == 0 {
			x.activity.begin(&task{began: x.at.Add(-3 * time.Second)})
		}
		for i := range random.Intn(4) {
			x.queue = append(x.queue, queuedRow{"after this tool", strings.Repeat("wait ", i*9), "Alt+Up"})
			x.shows(begun(fmt.Sprint(i), "bash", `{"command":"sleep 60; sleep 60; sleep 60"}`))
			x.calls.update(fmt.Sprint(i), agent.TextResult(numbered(random.Intn(9))))
		}
		x.shows(text(strings.Join(lines(9), " ")))
		x.line.set(strings.Join(lines(9), "\n"))
		z := x.zone(columns, rows)
		if len(z.Rows) > rows || len(z.Rows) > max(6, rows/2) {
			t.Fatalf("%d rows in a window of %d:\n%s", len(z.Rows), rows, strings.Join(z.Rows, "\n"))
		}
		if z.NoCursor || z.Row >= len(z.Rows) || z.Column > columns {
			t.Fatalf("the cursor is in row %d, column %d of %d, %d columns", z.Row, z.Column, len(z.Rows), columns)
		}
		for _, row := range z.Rows {
			if widthOf(row) > columns {
				t.Fatalf("%q is wider than %d", row, columns)
			}
		}
	}
}

func TestTheCursorIsWhereTheLineIs(t *testing.T) {
	x := newStage(40)
	x.status.model = "m"
	x.widgets.set(agent.Below, "w", widget{lines: []string{"below"}})
	x.line.set("日本")
	z := x.zone(40, 24)
	if want := []string{"m", "> 日本", "below"}; !slices.Equal(z.Rows, want) || z.Row != 1 || z.Column != 6 {
		t.Errorf("%q with the cursor at %d, %d", z.Rows, z.Row, z.Column)
	}
	x.activity.begin(&task{began: x.at})
	if z = x.zone(40, 24); z.Rows[z.Row] != "steer> 日本" || z.Column != 11 {
		t.Errorf("%q with the cursor at %d, %d", z.Rows, z.Row, z.Column)
	}
}

// Of a text that has more rows than are shown, the first and the last say so.
func TestRowsThatAreNotShownAreMarked(t *testing.T) {
	for _, c := range []struct {
		most, up int
		want     []string
	}{
		{4, 0, []string{"> a", "  b", "  c", "  d"}},
		{3, 0, []string{"↑ b", "  c", "  d"}},
		{2, 1, []string{"↑ c", "  d"}},
		{2, 2, []string{"↑ b", "↓ c"}},
		{2, 3, []string{"> a", "↓ b"}},
		{1, 0, []string{"↑ d"}},
		{1, 2, []string{"↕ b"}},
		{1, 3, []string{"> a"}},
	} {
		l := newLine(keyTable{}, nil)
		l.buffer.Insert("a\nb\nc\nd")
		l.render(20, 10, c.most, "> ")
		for range c.up {
			l.buffer.Do("up")
			l.render(20, 10, c.most, "> ")
		}
		if rows, _, _ := l.render(20, 10, c.most, "> "); !slices.Equal(rows, c.want) {
			t.Errorf("%d rows, %d up: %q, want %q", c.most, c.up, rows, c.want)
		}
	}
}

func TestQueuedMessagesSayWhenTheyAreDelivered(t *testing.T) {
	x := newStage(60)
	x.queue = []queuedRow{{"next", "zero", ""}, {"after this tool", "one two", ""}, {"at the end", "three", ""}, {"at the end", strings.Repeat("long ", 20), "F4"}}
	want := []string{"  ↳ after this tool: one two", "  ↳ at the end: three", "  ↳ at the end: long long long long long …  F4 takes it back"}
	if got := x.queueRows(60); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if got := x.queueRows(20)[2]; got != "  ↳ at the end: lon…" {
		t.Errorf("%q", got)
	}
	x.open(pick.NewConfirm(pick.Question{Title: "Sure?"}, false), true, nil)
	if got := strings.Join(x.queueRows(60), "\n"); strings.Contains(got, "takes it back") {
		t.Errorf("a question has the keys, and the queue says %q", got)
	}
}

func TestABlankRowStandsAboveTheStatusInAHighWindow(t *testing.T) {
	for height, want := range map[int]string{29: "test/one,> ", 30: ",test/one,> ", 60: ",test/one,> "} {
		x := newStage(60)
		x.status.model = "test/one"
		if got := strings.Join(x.zone(60, height).Rows, ","); got != want {
			t.Errorf("%d rows: %q, want %q", height, got, want)
		}
	}
	x := newStage(60)
	x.status.model = "test/one"
	x.line.set(strings.Join(strings.Fields(strings.Repeat("row ", 9)), "\n"))
	if rows := x.zone(60, 30).Rows; len(rows) != 10 || rows[0] != "test/one" {
		t.Errorf("where there is no room for it: %q", rows)
	}
}

func TestWhatAKeyHasDoneIsInTheZoneForAMoment(t *testing.T) {
	x := newStage(60)
	x.mention("model: now test/one")
	for _, c := range []struct {
		after time.Duration
		want  int
	}{{0, 1}, {mentionTime - 1, 1}, {mentionTime, 0}} {
		if rows := x.notices.mention.rows(terminal.Palette{}, 60, x.at.Add(c.after)); len(rows) != c.want {
			t.Errorf("after %v: %q", c.after, rows)
		}
	}
	if len(x.pending) != 0 {
		t.Errorf("the transcript has %q", x.pending)
	}
}

func TestAWidgetHasNotTooManyRows(t *testing.T) {
	var w widgets
	w.set(agent.Above, "b", widget{lines: []string{"second"}})
	w.set(agent.Above, "a", widget{lines: append([]string{"first \x1b[2J"}, make([]string, 100)...)})
	rows := w.rows(terminal.Palette{}, 10, agent.Above)
	if len(rows) != widgetLines+1 || rows[0] != "first " || rows[widgetLines] != "second" {
		t.Errorf("%q", rows)
	}
	w.set(agent.Above, "a", widget{})
	if rows := w.rows(terminal.Palette{}, 10, agent.Above); len(rows) != 1 {
		t.Errorf("%q", rows)
	}
}

func TestOfAPlanOnlySoMuchIsShown(t *testing.T) {
	p := newStage(80).palette
	var long plan
	for i := range 20 {
		long = append(long, agent.PlanItem{Content: fmt.Sprintf("step %d\x1b[2J\nof many", i), Status: "pending"})
	}
	long[0].Status = "completed"
	rows := long.rows(p, 14)
	if len(rows) != 10 || rows[0] != "plan 1/20" || rows[1] != "  ○ step 1 of…" || rows[9] != "  … 11 more" {
		t.Errorf("%q", rows)
	}
	for i := range long {
		long[i].Status = "completed"
	}
	if rows := long.rows(p, 80); rows != nil {
		t.Errorf("when all is done: %q", rows)
	}
}
