package api

import (
	"fmt"
	"slices"
	"strings"

	"pi/internal/pick"
	"pi/internal/suggest"
	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

const (
	mostItems  = 10_000 // of a list
	usualItems = 10     // are in view
)

// list is ctx.ui.list{items, rows?, filter?, selected?, on_select?, on_change?, on_cancel?}: a
// component for ctx.ui.custom, or a part of one, in which the user chooses as in ctx.ui.select.
// Besides render, handle_input and cursor it has selected(), select(value), text() and
// set_items(items).
//
// Enter calls on_select(value, handle); without that it closes the component with the value.
// Esc calls on_cancel(handle); without that it is not used. A key that selects another item
// calls on_change(value, handle), where value is nil if nothing is left.
func (c *components) list(L *lua.LState) int {
	l := &list{home: c, rows: usualItems}
	var items *lua.LTable
	var selected lua.LValue
	luavm.Unpack(L, 1, "list", luavm.Opt("items", &items).Required(), luavm.Opt("rows", &l.rows), luavm.Opt("filter", &l.filters), luavm.Opt("selected", &selected),
		luavm.Opt("on_select", &l.choose), luavm.Opt("on_change", &l.change), luavm.Opt("on_cancel", &l.cancel))
	if l.rows < 1 {
		luavm.Raise(L, "list: option \"rows\" must be a positive number")
	}
	rows := l.read(L, "list", items)
	initial := ""
	if selected != nil && selected != lua.LNil {
		initial = l.idOf(L, "list: option \"selected\"", selected)
	}
	l.shown = pick.NewList(rows, initial, l.filters)

	t, more := luavm.NewRecord(L, 3), luavm.NewRecord(L, 4)
	c.add(t, part{"render": l.render, "handle_input": l.input})
	luavm.Set(t, "cursor", lua.LBool(l.filters))
	c.behind(L, t, "a list", more, part{"selected": l.selected, "select": l.selectItem, "text": l.shown.Filter, "set_items": l.setItems})
	L.Push(t)
	return 1
}

// list is a list in which a user chooses, used only while the VM is held.
type list struct {
	home                   *components
	shown                  *pick.List
	values                 map[string]lua.LValue // by the IDs of the rows
	rows                   int                   // that are in view, at most
	filters                bool                  // what is typed does, in a row above them
	choose, change, cancel *lua.LFunction        // each may be nil
}

// read makes the rows of items, in place of those before, for a function.
func (l *list) read(L *lua.LState, function string, items *lua.LTable) []pick.Row {
	if !isList(items) {
		luavm.Raise(L, "%s: items are a list, not a table without one", function)
	}
	n, err := luavm.ListLen(L, items)
	must(L, function, err)
	if n > mostItems {
		luavm.Raise(L, "%s: a list has room for %d items, not %d", function, mostItems, n)
	}
	all := choicesOf(L, function, items)
	l.values = make(map[string]lua.LValue, len(all.list))
	rows, times := make([]pick.Row, len(all.list)), map[string]int{}
	for i, c := range all.list {
		id := itemID(all.values[i])
		if times[id]++; times[id] > 1 { // two of one value are two items
			id = fmt.Sprintf("%d %s", times[id], id)
		}
		l.values[id] = all.values[i]
		rows[i] = pick.Row{ID: id, Columns: strings.Split(c.Label, "\t"), Description: c.Description}
	}
	return rows
}

// itemID names an item by its value, so that it stays selected when the items are replaced.
func itemID(value lua.LValue) string { return value.Type().String() + " " + value.String() }

// idOf is the ID of the item with a value; without one it raises.
func (l *list) idOf(L *lua.LState, what string, value lua.LValue) string {
	id := itemID(value)
	if l.values[id] == nil {
		var texts []string
		for _, v := range l.values {
			if s, ok := v.(lua.LString); ok {
				texts = append(texts, string(s))
			}
		}
		slices.Sort(texts)
		luavm.Raise(L, "%s: no item has the value %s%s", what, shownValue(value), suggest.Hint(value.String(), texts))
	}
	return id
}

// setItems is list.set_items(items): what is typed stays, and the selected item by its value.
func (l *list) setItems(L *lua.LState) int {
	l.shown.SetRows(l.read(L, "set_items", L.CheckTable(1)))
	return 0
}

// selected is list.selected(): the value of the item that Enter would choose, or nil.
func (l *list) selected(L *lua.LState) int {
	L.Push(l.value())
	return 1
}

func (l *list) value() lua.LValue {
	if row, ok := l.shown.Selected(); ok {
		return l.values[row.ID]
	}
	return lua.LNil
}

// selectItem is list.select(value). An item that is filtered away is not selected.
func (l *list) selectItem(L *lua.LState) int {
	l.shown.Select(l.idOf(L, "select", L.CheckAny(1)))
	return 0
}

// render is list.render(width, handle?, height?): the rows, below the one in which is typed.
func (l *list) render(L *lua.LState) int {
	width, most := max(1, int(L.CheckNumber(1))), l.rows
	if height := L.OptInt(3, 0); height > 0 {
		if l.filters {
			height--
		}
		most = max(1, min(most, height))
	}
	paint := l.home.theme.paint
	l.shown.SetPalette(pick.Palette{On: paint("dim", "x") != "x", With: paint})
	rows, row, column := l.shown.Render(width, most)
	if row >= 0 {
		rows[row] = marked(rows[row], column)
	}
	L.Push(luavm.NewList(L, len(rows), func(i int) lua.LValue { return lua.LString(rows[i]) }))
	return 1
}

// input is list.handle_input(key, handle, opts?): false for a key that the list has no use for.
func (l *list) input(L *lua.LState) int {
	key, handle := keyArgument(L), L.Get(2)
	used := true
	switch {
	case key.Release:
	case key.Name == "enter":
		l.chosen(L, handle)
	case key.Name == "esc":
		if used = l.cancel != nil; used {
			callLua(L, l.cancel, handle)
		}
	default:
		before, _ := l.shown.Selected()
		used = l.shown.Key(key)
		if now, _ := l.shown.Selected(); l.change != nil && now.ID != before.ID {
			callLua(L, l.change, l.value(), handle)
		}
	}
	L.Push(lua.LBool(used))
	return 1
}

// chosen gives the selected item to on_select or, without that, closes the component with it.
// Where nothing is selected it does nothing.
func (l *list) chosen(L *lua.LState, handle lua.LValue) {
	switch value := l.value(); {
	case value == lua.LNil:
	case l.choose != nil:
		callLua(L, l.choose, value, handle)
	default:
		closeWith(L, handle, value)
	}
}
