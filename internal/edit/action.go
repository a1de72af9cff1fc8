package edit

import (
	"maps"
	"slices"
)

// action is something that a key does to the text. It reports whether it did anything.
type action struct {
	kind kind
	run  func(*Buffer) bool
}

// actions are all by their names.
func actions() map[string]action {
	all := map[string]action{
		"up":       {kindVertical, func(b *Buffer) bool { return b.vertical(-1) }},
		"down":     {kindVertical, func(b *Buffer) bool { return b.vertical(1) }},
		"yank":     {kindYank, (*Buffer).yank},
		"yank_pop": {kindYank, (*Buffer).yankPop},
		"undo":     {kindOther, (*Buffer).undoStep},
		"redo":     {kindOther, (*Buffer).redoStep},
		"newline": {kindOther, func(b *Buffer) bool {
			b.edit(kindOther, b.cursor, b.cursor, []element{lineEnd()})
			return true
		}},
		"transpose": {kindOther, (*Buffer).transpose},
		"backspace": {kindBackspace, func(b *Buffer) bool { return b.delete(kindBackspace, (*Buffer).previous) }},
		"delete":    {kindDelete, func(b *Buffer) bool { return b.delete(kindDelete, (*Buffer).next) }},
	}
	for name, to := range map[string]func(*Buffer) place{ // which move the cursor, and where to
		"left":       (*Buffer).previous,
		"right":      (*Buffer).next,
		"word_left":  (*Buffer).wordStart,
		"word_right": (*Buffer).wordEnd,
		"row_start":  (*Buffer).rowStart,
		"row_end":    (*Buffer).rowEnd,
		"text_start": func(*Buffer) place { return place{} },
		"text_end":   func(b *Buffer) place { return b.text.end() },
	} {
		all[name] = action{kindOther, func(b *Buffer) bool { return b.move(to(b)) }}
	}
	for name, to := range killed() {
		all[name] = action{kindKill, func(b *Buffer) bool { return b.kill(to(b)) }}
	}
	return all
}

// Actions are the names that Do knows, in alphabetical order.
func Actions() []string { return slices.Sorted(maps.Keys(actions())) }

// Do runs an action by its name. It reports false if nothing came of that: there is no
// such action, the cursor cannot go further, nothing is there to remove. So "up" is false
// in the first row, and a caller may go to the history then.
//
//	left right word_left word_right    by elements, by words
//	row_start row_end                  of the text between two line ends; where the cursor is
//	                                   there already, of the whole text
//	text_start text_end                of the whole text
//	up down                            by rows as they were drawn, keeping the column
//	backspace delete                   one element before, behind the cursor
//	delete_word_back delete_word       to where word_left and word_right go
//	delete_blank_back                  to the blank before the cursor, as Ctrl+W in a shell
//	kill_row_start kill_row_end        to where the row begins or ends; there, the line end
//	yank                               what was removed by the last actions that delete words
//	                                   or kill, which are joined if they follow each other
//	yank_pop                           after yank: what was removed before that, instead
//	transpose                          the elements before and behind the cursor change places
//	newline undo redo
func (b *Buffer) Do(name string) bool {
	a, ok := b.actions[name]
	if !ok {
		return false
	}
	if a.kind != b.last || a.kind == kindOther {
		b.goal = -1
	}
	done := a.run(b)
	b.last = a.kind
	if done {
		b.recalled = false
	}
	return done
}

// Keys are the usual keys of the actions, by their names in a terminal.
func Keys() map[string]string {
	return map[string]string{
		"left": "left", "ctrl+b": "left", "right": "right", "ctrl+f": "right",
		"ctrl+left": "word_left", "alt+left": "word_left", "alt+b": "word_left",
		"ctrl+right": "word_right", "alt+right": "word_right", "alt+f": "word_right",
		"home": "row_start", "ctrl+a": "row_start", "end": "row_end", "ctrl+e": "row_end",
		"ctrl+home": "text_start", "alt+<": "text_start", "ctrl+end": "text_end", "alt+>": "text_end",
		"up": "up", "down": "down",
		"backspace": "backspace", "shift+backspace": "backspace", "ctrl+h": "backspace", "delete": "delete", "ctrl+d": "delete",
		"alt+backspace": "delete_word_back", "ctrl+backspace": "delete_word_back", "ctrl+w": "delete_blank_back",
		"alt+d": "delete_word", "ctrl+delete": "delete_word", "alt+delete": "delete_word",
		"ctrl+u": "kill_row_start", "ctrl+k": "kill_row_end", "ctrl+y": "yank", "alt+y": "yank_pop",
		"ctrl+_": "undo", "alt+r": "redo",
	}
}
