package api

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pi/agent"
)

// press gives keys to a component by their names, and returns which it used.
func (m *mind) press(names ...string) (used string) {
	for _, name := range names {
		if m.custom.HandleInput(agent.Key{Name: name}) {
			used += name + " "
		}
	}
	return strings.TrimSpace(used)
}

func (m *mind) paste(text string) bool {
	return m.custom.HandleInput(agent.Key{Name: "paste", Text: text})
}

func TestAFieldOfSeveralRowsBreaksLines(t *testing.T) {
	l, m, _ := newMind(t)
	l.want("nil", `seen = {}
		field = api.field{ rows = 3, prompt = "> ", text = "a", placeholder = "anything",
			on_change = function(text, handle) seen[#seen + 1] = text .. tostring(handle.cursor ~= nil) end,
			on_submit = function(text) sent = text end }
		handle = api.custom(field)`)
	if got := m.press("ctrl+j", "b", "up", "x", "up", "f5", "shift+enter", "left"); got != "ctrl+j b up x shift+enter left" {
		t.Errorf("used are %s", got)
	}
	l.want(`["a\ntrue","a\nbtrue","ax\nbtrue","ax\n\nbtrue"]`, `return seen`)
	m.press("c", "ctrl+j", "d", "enter")
	l.want("axc\nd\nb", `return sent:gsub("\n\n", "\n")`)
	l.want("nil", `field.set_text("1\n2\n3\n4")`)
	if d := m.custom.Render(20, 10); !slices.Equal(d.Lines, []string{"  2", "  3", "  4"}) || d.Cursor == nil || *d.Cursor != (agent.Position{Row: 2, Column: 3}) {
		t.Errorf("drawn %q with %+v", d.Lines, d.Cursor)
	}
	l.want("true", `return field.set_text("")`)
	if d := m.custom.Render(20, 10); len(d.Lines) != 1 || !strings.HasPrefix(d.Lines[0], "> <dim>anything") || d.Cursor.Column != 2 {
		t.Errorf("empty it is %q with %+v", d.Lines, d.Cursor)
	}
	l.want("nil", `handle.close()`)
}

func TestAFieldOfOneRowHasAPromptAndTellsOfChanges(t *testing.T) {
	l, m, _ := newMind(t)
	l.want("nil", `n = 0 api.custom(api.field{ prompt = "name: ", on_change = function(text) n, last = n + 1, text end })`)
	m.press("a", "left", "ctrl+j", "f5", "b")
	l.want("2ba", `return n .. last`)
	if d := m.custom.Render(20, 1); !slices.Equal(d.Lines, []string{"name: ba"}) || d.Cursor.Column != 7 {
		t.Errorf("drawn %q with %+v", d.Lines, d.Cursor)
	}
	if d := m.custom.Render(8, 1); !slices.Equal(d.Lines, []string{"ba"}) || d.Cursor.Column != 1 {
		t.Errorf("where there is no room for the prompt %q with %+v", d.Lines, d.Cursor)
	}
}

func TestAFieldHasRoomForOneMiB(t *testing.T) {
	full := strings.Repeat("日", (1<<20)/3) + "x"
	for _, rows := range []string{"1", "5"} {
		l, m, _ := newMind(t)
		l.want("nil", `field = api.field{ rows = `+rows+`, on_change = function() changed = (changed or 0) + 1 end } api.custom(field)`)
		l.want("a field has room for 1 MiB", `local ok, message = field.set_text(("x"):rep(2^20 + 1)) return message`)
		l.want(`error: field: option "text": a field has room for 1 MiB`, `api.field{ text = ("x"):rep(2^20 + 1) }`)
		if !m.paste(full) {
			t.Error("a paste of 1 MiB is not used")
		}
		l.want("1048576 1", `return #field.text() .. " " .. changed`)
		if !m.paste("y") || !m.custom.HandleInput(agent.Key{Name: "z"}) {
			t.Error("what has no room goes to others")
		}
		l.want("1048576 1", `return #field.text() .. " " .. changed`)
		if !slices.Contains(m.notices, "a field has room for 1 MiB") {
			t.Errorf("the user is told %q", m.notices)
		}
	}
}

func TestAFieldTakesBackNoMoreThanItHasRoomFor(t *testing.T) {
	l, m, _ := newMind(t)
	l.want("nil", `field = api.field{ text = ("日"):rep(200000) } api.custom(field)`)
	m.press("ctrl+u", "ctrl+y", "ctrl+y") // what was killed, twice
	l.want("600000", `return #field.text()`)
}

func TestAFieldRefusesWrongOptions(t *testing.T) {
	l, _, _ := newMind(t)
	l.want(`error: field: option "rows" must be a positive number`, `api.field{ rows = 0 }`)
	l.want(`error: "on_chang"`, `api.field{ on_chang = print }`)
}

func TestAListIsChosenFrom(t *testing.T) {
	l, m, _ := newMind(t)
	l.want("nil", `seen, thing = {}, {}
		list = api.list{ items = { "one", { value = 2, label = "two", description = "a number" }, { value = thing, label = "three" } },
			filter = true, selected = 2, rows = 2,
			on_change = function(value, handle) seen[#seen + 1] = tostring(value == thing and "thing" or value) .. tostring(handle.cursor ~= nil) end,
			on_select = function(value, handle) picked = value handle.close() end }
		api.custom(list)`)
	l.want("2", `return list.selected()`)
	d := m.custom.Render(30, 10)
	if len(d.Lines) != 3 || !strings.Contains(d.Lines[2], "two") || d.Cursor == nil || d.Cursor.Row != 0 {
		t.Errorf("drawn %q with %+v", d.Lines, d.Cursor)
	}
	if got := m.press("down", "up", "up", "t", "h", "f5", "tab", "esc"); got != "down up up t h" {
		t.Errorf("used are %s", got)
	}
	l.want(`["thingtrue","2true","onetrue","2true","thingtrue"]`, `return seen`)
	l.want("th", `return list.text()`)
	m.press("x")
	l.want("nilthx", `return tostring(list.selected()) .. list.text()`)
	m.press("enter") // nothing is selected
	l.want("nil", `return picked`)
	m.press("backspace", "enter")
	l.want("true", `return picked == thing`)
	<-m.done
}

func TestAListKeepsWhatIsSelectedWhenItsItemsAreReplaced(t *testing.T) {
	l, m, _ := newMind(t)
	l.want("nil", `list = api.list{ items = { "a", "b", "c" }, selected = "b", on_cancel = function(handle) handle.close("left") end }
		handle = api.custom(list)`)
	l.want("b", `list.set_items{ "new", "a", "b" } return list.selected()`)
	l.want("new", `list.select("new") return list.selected()`)
	l.want("a", `list.set_items{ "a", "a" } return list.selected()`)
	if got := m.press("x", "down", "esc"); got != "down esc" { // it does not filter
		t.Errorf("used are %s", got)
	}
	<-m.done
	l.want("nil", `list.set_items{} return list.selected()`)
}

// Lines of a program are often the same: that takes no longer than if they are not.
func TestAListHasRoomForManyItemsOfOneValue(t *testing.T) {
	l, m, _ := newMind(t)
	began := time.Now()
	l.want("same", `items = {} for i = 1, 10000 do items[i] = { value = "same", label = "line " .. i } end
		list = api.list{ items = items } api.custom(list) list.set_items(items) return list.selected()`)
	if took := time.Since(began); took > 20*time.Second { // of minutes
		t.Errorf("it took %v", took)
	}
	m.press("down", "down")
	if d := m.custom.Render(30, 3); !strings.Contains(d.Lines[2], "▸ line 3") {
		t.Errorf("drawn %q", d.Lines)
	}
}

func TestAListWithoutFunctionsClosesWithTheValue(t *testing.T) {
	l, m, _ := newMind(t)
	l.want("nil", `api.custom(api.list{ items = { "a", "b" } })`)
	if got := m.press("esc", "down", "enter"); got != "down enter" {
		t.Errorf("used are %s", got)
	}
	<-m.done
	l.want("error: the handle of a component expected, got nil", `api.list{ items = { "a" } }.handle_input("enter")`)
}

func TestAListRefusesWhatIsWrong(t *testing.T) {
	l, _, _ := newMind(t)
	l.want(`error: list: option "items" is missing`, `api.list{}`)
	l.want(`error: list: option "rows" must be a positive number`, `api.list{ items = {}, rows = 0 }`)
	l.want(`error: list: items are a list, not a table without one`, `api.list{ items = { a = 1 } }`)
	l.want(`error: list: option "selected": no item has the value "tow", did you mean "two"?`, `api.list{ items = { "one", "two" }, selected = "tow" }`)
	l.want(`error: select: no item has the value 7`, `api.list{ items = { "one", "two" } }.select(7)`)
	l.want(`error: list: option 2 must be a string or {value, label, description}, not a boolean`, `api.list{ items = { "a", true } }`)
	l.want(`error: list: a list has room for 10000 items, not 10001`, `local t = {} for i = 1, 10001 do t[i] = i end api.list{ items = t }`)
	l.want(`error: set_items: a list has room for 10000 items, not 10001`, `local t = {} for i = 1, 10001 do t[i] = i end api.list{ items = {} }.set_items(t)`)
	l.want(`error: has no field "item"`, `return api.list{ items = {} }.item`)
}
