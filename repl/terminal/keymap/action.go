package keymap

import (
	"slices"

	"pi/internal/edit"
)

// Action is something that a key can be bound to.
type Action struct {
	Name    string
	Keys    []string // the usual ones, as ParseChord writes them
	Meaning string   // for /hotkeys
	Edits   bool     // it is one of [edit.Buffer.Do]
}

// Actions are all actions: first those of the program, then those of the text.
func Actions() []Action {
	var all []Action
	for _, a := range programActions() {
		a.Edits = slices.Contains(edit.Actions(), a.Name)
		all = append(all, a)
	}
	return append(all, editActions(all)...)
}

func programActions() []Action {
	return []Action{
		{Name: "send", Keys: []string{"enter"}, Meaning: "send the line; while the agent works: after the running tools"},
		{Name: "newline", Keys: []string{"ctrl+j", "shift+enter"}, Meaning: "a new row; so does \\ at the end of the line, and Enter"},
		{Name: "follow_up", Keys: []string{"alt+enter"}, Meaning: "send the line when the agent has finished"},
		{Name: "take_back", Keys: []string{"alt+up", "ctrl+x up"}, Meaning: "put the last queued message back into the line"},
		{Name: "interrupt", Keys: []string{"esc"}, Meaning: "stop the work; close a menu, a search, a question"},
		{Name: "clear", Keys: []string{"ctrl+c"}, Meaning: "stop the work; at rest clear the line; twice in an empty line: quit"},
		{Name: "quit", Keys: []string{"ctrl+d"}, Meaning: "quit, in an empty line; else remove the next character"},
		{Name: "suspend", Keys: []string{"ctrl+z"}, Meaning: "stop the program; fg goes on"},
		{Name: "complete", Keys: []string{"tab"}, Meaning: "complete a command, its argument, an @path, a path after !"},
		{Name: "history_search", Keys: []string{"ctrl+r"}, Meaning: "search what was typed before"},
		{Name: "cycle_model", Keys: []string{"ctrl+p"}, Meaning: "the next model"},
		{Name: "cycle_model_back", Keys: []string{"ctrl+shift+p"}, Meaning: "the model before"},
		{Name: "redraw", Keys: []string{"ctrl+l"}, Meaning: "draw anew what another program has written over"},
		{Name: "pick_model", Keys: []string{"alt+m"}, Meaning: "choose a model"},
		{Name: "cycle_mode", Keys: []string{"shift+tab"}, Meaning: "the next mode; without modes the next thinking level"},
		{Name: "cycle_thinking", Keys: []string{"alt+t"}, Meaning: "the next thinking level"},
		{Name: "show_thinking", Keys: []string{"ctrl+t"}, Meaning: "show or hide thinking"},
		{Name: "expand", Keys: []string{"ctrl+o"}, Meaning: "show the last folded output whole; again: the one before"},
		{Name: "editor", Keys: []string{"ctrl+g"}, Meaning: "edit the line in $VISUAL, $EDITOR or vi"},
		{Name: "paste_image", Keys: []string{"ctrl+v"}, Meaning: "attach the image of the clipboard"},
		{Name: "tree", Keys: []string{escEsc}, Meaning: "the tree of the session, in an empty line at rest"},
		{Name: "undo", Keys: []string{"ctrl+_"}, Meaning: "undo in the line; brings a cleared line back"},
		{Name: "redo", Keys: []string{"alt+r"}, Meaning: "redo what was undone"},
	}
}

// editActions are the actions of the text that are not among the others, with those of
// their usual keys that the others leave them.
func editActions(others []Action) (all []Action) {
	taken := map[string]bool{}
	for _, a := range others {
		for _, key := range a.Keys {
			taken[key] = true
		}
	}
	for _, m := range editMeanings() {
		a := Action{Name: m[0], Meaning: m[1], Edits: true}
		for key, name := range edit.Keys() {
			if name == a.Name && !taken[key] {
				a.Keys = append(a.Keys, key)
			}
		}
		slices.SortFunc(a.Keys, shorterFirst)
		all = append(all, a)
	}
	return all
}

// editMeanings are actions of the text with what they do, in the order of /hotkeys.
func editMeanings() [][2]string {
	return [][2]string{
		{"left", "one character back"},
		{"right", "one character on"},
		{"word_left", "one word back"},
		{"word_right", "one word on"},
		{"up", "one row up; in the first row: what was typed before"},
		{"down", "one row down; in the last row: what was typed after"},
		{"row_start", "to the start of the row; again: of the text"},
		{"row_end", "to the end of the row; again: of the text"},
		{"text_start", "to the start of the text"},
		{"text_end", "to the end of the text"},
		{"backspace", "remove the character before the cursor"},
		{"delete", "remove the character at the cursor"},
		{"delete_word_back", "remove the word before the cursor"},
		{"delete_word", "remove the word behind the cursor"},
		{"delete_blank_back", "remove what is between the cursor and the blank before it"},
		{"kill_row_start", "remove the row up to the cursor"},
		{"kill_row_end", "remove the row from the cursor on"},
		{"yank", "put back what was last removed so"},
		{"yank_pop", "after that: what was removed before it, instead"},
		{"transpose", "exchange two characters"},
	}
}
