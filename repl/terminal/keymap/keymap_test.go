package keymap

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"

	"pi/internal/edit"
)

func TestTheUsualTableIsAsDesigned(t *testing.T) {
	m, warnings := Parse(nil)
	if len(warnings) > 0 {
		t.Errorf("the usual keys are at odds: %q", warnings)
	}
	for action, keys := range map[string]string{
		"send": "enter", "newline": "ctrl+j shift+enter", "follow_up": "alt+enter", "interrupt": "esc", "clear": "ctrl+c",
		"quit": "ctrl+d", "suspend": "ctrl+z", "cycle_model": "ctrl+p", "cycle_model_back": "ctrl+shift+p", "pick_model": "alt+m", "redraw": "ctrl+l",
		"cycle_mode": "shift+tab", "cycle_thinking": "alt+t", "show_thinking": "ctrl+t", "editor": "ctrl+g", "expand": "ctrl+o",
		"paste_image": "ctrl+v", "history_search": "ctrl+r", "undo": "ctrl+_", "row_start": "home ctrl+a",
	} {
		if got := m.Keys(action); !slices.Equal(got, strings.Fields(keys)) {
			t.Errorf("%s has %q, want %q", action, got, keys)
		}
	}
	for _, chord := range []string{"alt+up", "ctrl+x up"} {
		if got := m.Action(chord); got != "take_back" {
			t.Errorf("%s is %q", chord, got)
		}
	}
	if m.Action("esc esc") != "tree" || m.Action("ctrl+d") != "quit" || m.Action("delete") != "delete" || m.Action("a") != "" {
		t.Error("the table has wrong keys")
	}
}

func TestEveryActionIsDoneBySomebody(t *testing.T) {
	for _, a := range Actions() {
		if a.Edits != slices.Contains(edit.Actions(), a.Name) || a.Meaning == "" {
			t.Errorf("%+v", a)
		}
	}
	names := (&parser{all: Actions()}).names()
	for _, name := range edit.Actions() {
		if !slices.Contains(names, name) {
			t.Errorf("the action %s of the text can have no key", name)
		}
	}
}

func TestUsualKeysAreNamedAsTheTerminalNamesThem(t *testing.T) {
	for _, a := range Actions() {
		for _, chord := range a.Keys {
			if got, err := ParseChord(chord); got != chord || err != nil {
				t.Errorf("%s: %q is written %q, %v", a.Name, chord, got, err)
			}
			for _, key := range strings.Fields(chord) {
				if KeyName(key) != key {
					t.Errorf("%s: the terminal names %q %q", a.Name, key, KeyName(key))
				}
			}
		}
	}
}

func TestParseChord(t *testing.T) {
	for in, want := range map[string]string{
		"Ctrl+X": "ctrl+x", "shift+ctrl+P": "ctrl+shift+p", "Control+x  UP": "ctrl+x up", "option+Return": "alt+enter", "F5": "f5",
		"ctrl+x a": "ctrl+x a", "ctrl++": "ctrl++", "ctrl+x +": "ctrl+x +", "alt+,": "alt+,", "ctrl+é": "ctrl+é", "esc ESCAPE": "esc esc",
		"PgUp": "pageup", "ctrl+m": "enter", "ctrl+i": "tab", "ctrl+[": "esc", "ctrl+/": "ctrl+_", "ctrl+shift+-": "ctrl+_",
		"ctrl+space": "ctrl+space", "meta+del": "alt+delete", "alt+A": "alt+a", "Cmd+shift+K": "super+shift+k", "f13": "f13",
	} {
		if got, err := ParseChord(in); got != want || err != nil {
			t.Errorf("%q: got %q, %v; want %q", in, got, err, want)
		}
	}
	for in, want := range map[string]string{
		"": "is no key", "ctrl+x a b": "is no key", "a": "types a character", "shift+a": "types a character", "space": "types a character",
		"ctlr+x": `did you mean "ctrl"?`, "ctrl+entr": `did you mean "enter"?`, "hyper+x": "before + is ctrl, alt, shift or super", "f25": "there is no key",
		"esc x": "cannot be told from alt+x", "paste": "there is no key", "+": "types a character", "ctrl+": "there is no key", "\xff": "there is no key",
	} {
		if got, err := ParseChord(in); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %q, %v; want an error with %q", in, got, err, want)
		}
	}
}

func TestSettingsChangeTheTable(t *testing.T) {
	for _, c := range []struct {
		name     string
		table    map[string][]string
		keys     map[string]string // by action, joined by commas
		warnings []string          // a part of each
	}{
		{"another key", map[string][]string{"editor": {"F5", "Ctrl+X e"}}, map[string]string{"editor": "f5,ctrl+x e", "take_back": "alt+up,ctrl+x up"}, nil},
		{"no key", map[string][]string{"expand": {}, "editor": {""}}, map[string]string{"expand": "", "editor": ""}, nil},
		{"two actions change places", map[string][]string{"expand": {"ctrl+g"}, "editor": {"ctrl+o"}}, map[string]string{"expand": "ctrl+g", "editor": "ctrl+o"}, nil},
		{"unknown action", map[string][]string{"edtor": {"f5"}}, nil, []string{`edtor is no action, did you mean "editor"?`}},
		{"unknown key", map[string][]string{"editor": {"ctrl+entr"}}, map[string]string{"editor": "ctrl+g"}, []string{`did you mean "enter"?`}},
		{"one of two keys is unknown", map[string][]string{"editor": {"f99", "f5"}}, map[string]string{"editor": "f5"}, []string{"f99"}},
		{"bound twice", map[string][]string{"editor": {"f5"}, "expand": {"f5"}}, map[string]string{"editor": "ctrl+g", "expand": "ctrl+o"},
			[]string{"f5 is bound to both expand and editor; expand stays ctrl+o, editor stays ctrl+g"}},
		{"bound twice, one has another", map[string][]string{"editor": {"f5", "f6"}, "expand": {"f5"}}, map[string]string{"editor": "f6", "expand": "ctrl+o"},
			[]string{"f5 is bound to both"}},
		{"the usual key of another", map[string][]string{"editor": {"ctrl+o"}}, map[string]string{"editor": "ctrl+g", "expand": "ctrl+o"},
			[]string{"ctrl+o is bound to both expand and editor"}},
		{"a chord of a bound key", map[string][]string{"editor": {"ctrl+o e"}}, map[string]string{"editor": "ctrl+g"},
			[]string{"ctrl+o is bound to expand and ctrl+o e to editor, and one begins the other"}},
		{"a key of the text", map[string][]string{"editor": {"ctrl+a"}}, map[string]string{"editor": "ctrl+a", "row_start": "home"}, nil},
		{"the only key of the text", map[string][]string{"editor": {"ctrl+y"}}, map[string]string{"editor": "ctrl+g", "yank": "ctrl+y"},
			[]string{"ctrl+y is bound to both editor and yank"}},
		{"what falls back meets another", map[string][]string{"editor": {"f5"}, "expand": {"f5"}, "pick_model": {"ctrl+g"}},
			map[string]string{"editor": "ctrl+g", "expand": "ctrl+o", "pick_model": "alt+m"}, []string{"f5", "ctrl+g is bound to both pick_model and editor"}},
		{"send without a key", map[string][]string{"send": {}}, map[string]string{"send": "enter"}, []string{"send needs a key; it stays enter"}},
		{"Enter for a new row", map[string][]string{"send": {"alt+enter"}, "newline": {"enter"}, "follow_up": {"f2"}}, map[string]string{"send": "alt+enter", "newline": "enter"}, nil},
		{"the same key twice", map[string][]string{"editor": {"f5", "F5"}}, map[string]string{"editor": "f5"}, nil},
		{"the tree elsewhere", map[string][]string{"tree": {"alt+z"}}, map[string]string{"tree": "alt+z", "interrupt": "esc"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, warnings := Parse(c.table)
			for action, want := range c.keys {
				if got := strings.Join(m.Keys(action), ","); got != want {
					t.Errorf("%s has %q, want %q", action, got, want)
				}
			}
			if len(warnings) != len(c.warnings) {
				t.Fatalf("warnings %q, want %d", warnings, len(c.warnings))
			}
			for i, want := range c.warnings {
				if !strings.Contains(warnings[i], want) {
					t.Errorf("warning %q, want %q", warnings[i], want)
				}
			}
		})
	}
}

func TestReader(t *testing.T) {
	hooks := []string{"alt+k", "Ctrl+X k", "ctrl+o", "ctrl+q q", "ctrl+q shift+s", "a"}
	for _, c := range []struct {
		keys string // a trailing ! says that the line is empty and at rest
		want string // of the last key
	}{
		{"enter", "send"}, {"ctrl+m", "send"}, {"a", "unbound"}, {"ctrl+x", "waiting"}, {"ctrl+x up", "take_back"}, {"ctrl+x q", "refused"},
		{"ctrl+x esc", "refused"}, {"ctrl+x q enter", "send"}, {"ctrl+x ctrl+x", "refused"}, {"alt+k", "hook alt+k"}, {"ctrl+x k", "hook ctrl+x k"},
		{"ctrl+o", "expand"}, {"ctrl+q", "waiting"}, {"ctrl+q q", "hook ctrl+q q"}, {"esc", "interrupt"}, {"esc esc", "interrupt"},
		{"esc! esc!", "tree"}, {"esc! esc", "interrupt"}, {"esc esc!", "interrupt"}, {"esc! esc! esc!", "interrupt"}, {"esc! a! esc!", "interrupt"},
		{"esc! ctrl+[!", "tree"}, {"paste", "unbound"}, {"alt+B", "unbound"}, {"alt+b", "word_left"}, {"ctrl+shift+-", "undo"}, {"A", "unbound"}, {"shift+a", "unbound"}, {"ctrl+q S", "hook ctrl+q shift+s"},
	} {
		r := NewReader(Default(), func() []string { return hooks })
		got := ""
		for _, key := range strings.Fields(c.keys) {
			result := r.Next(strings.TrimSuffix(key, "!"), strings.HasSuffix(key, "!"))
			switch result.State {
			case Unbound:
				got = "unbound"
			case Waiting:
				got = "waiting"
			case Refused:
				got = "refused"
			case Bound:
				got = result.Action
				if result.Shortcut != "" {
					got = "hook " + result.Shortcut
				}
			}
		}
		if got != c.want {
			t.Errorf("%s: got %s, want %s", c.keys, got, c.want)
		}
	}
}

func TestAHookMayHaveEscEsc(t *testing.T) {
	r := NewReader(Default(), func() []string { return []string{"Esc Esc"} })
	r.Next("esc", true)
	if got := r.Next("esc", true); got.Shortcut != "esc esc" {
		t.Errorf("got %+v", got)
	}
}

func TestForgetGivesAChordUp(t *testing.T) {
	r := NewReader(Default(), nil)
	r.Next("ctrl+x", false)
	if r.Pending() != "Ctrl+X" {
		t.Errorf("pending is %q", r.Pending())
	}
	r.Forget()
	if got := r.Next("up", false); got.Action != "up" || r.Pending() != "" {
		t.Errorf("got %+v", got)
	}
}

func TestReservedIsWhatTheTableBinds(t *testing.T) {
	m, _ := Parse(map[string][]string{"editor": {"f5"}})
	for chord, want := range map[string]bool{
		"ctrl+c": true, "Enter": true, "ctrl+m": true, "alt+b": true, "F5": true, "ctrl+x": true, "ctrl+x up": true, "a": true, "nonsense": true, "shift+b": true,
		"ctrl+c x": true, "esc": true, "ctrl+g": false, "ctrl+x k": false, "esc esc": false, "alt+k": false, "f6": false,
	} {
		if got := m.Reserved(chord); got != want {
			t.Errorf("%s: got %v", chord, got)
		}
	}
}

func TestRowsAreTheTableInForce(t *testing.T) {
	m, _ := Parse(map[string][]string{"editor": {"f5"}, "expand": {}})
	rows := m.Rows([]Shortcut{{"alt+k", "open notes", "notes"}, {"ctrl+c", "mine", "bad"}, {"esc esc", "rewind", "rewind"}})
	for _, want := range []Row{
		{"editor", "F5", "edit the line in $VISUAL, $EDITOR or vi", ""},
		{"take_back", "Alt+Up, Ctrl+X Up", "put the last queued message back into the line", ""},
		{"expand", "", "show the last folded output whole; again: the one before", ""},
		{"tree", "", "the tree of the session, in an empty line at rest", ""},
		{"", "Alt+K", "open notes", "notes"},
		{"", "Ctrl+C", "mine (without effect: the key is taken)", "bad"},
		{"", "Esc Esc", "rewind", "rewind"},
	} {
		if !slices.Contains(rows, want) {
			t.Errorf("no row %+v", want)
		}
	}
	if got := m.Label("editor"); got != "F5" {
		t.Errorf("the key of editor is shown as %q", got)
	}
}

func TestTheExamplesOfTheSettingsAreRight(t *testing.T) {
	file, err := os.ReadFile("../../../config.example.toml")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(file), "\n[keys]\n")
	section, _, _ = strings.Cut(section, "\n\n")
	var examples map[string]any
	if _, err := toml.Decode(strings.ReplaceAll("\n"+section, "\n#", "\n"), &examples); err != nil || len(examples) == 0 {
		t.Fatalf("%d examples, %v", len(examples), err)
	}
	for action, keys := range examples {
		chords := []string{}
		switch keys := keys.(type) {
		case string:
			chords = strings.Split(keys, ", ")
		case []any:
			for _, key := range keys {
				chords = append(chords, key.(string))
			}
		}
		if _, warnings := Parse(map[string][]string{action: chords}); len(warnings) > 0 {
			t.Errorf("%s = %v: %q", action, keys, warnings)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("editor", "f5, ctrl+x e", "expand", "ctrl+g")
	f.Add("send", "", "clear", "esc")
	f.Add("undo", "ctrl+/", "up", "ctrl+_ x")
	f.Fuzz(func(t *testing.T, a, keysA, b, keysB string) {
		m, _ := Parse(map[string][]string{a: strings.Split(keysA, ", "), b: strings.Split(keysB, ", ")})
		var bound []string
		for _, action := range m.actions {
			if len(action.Keys) == 0 && slices.Contains(required(), action.Name) {
				t.Errorf("%s has no key", action.Name)
			}
			for _, key := range action.Keys {
				if again, err := ParseChord(key); again != key || err != nil {
					t.Errorf("%s has %q, which is read as %q, %v", action.Name, key, again, err)
				}
				if i := slices.IndexFunc(bound, func(other string) bool { return clash(key, other) }); i >= 0 {
					t.Errorf("%q and %q are both bound", key, bound[i])
				}
				if m.Action(key) != action.Name {
					t.Errorf("%s is %s, want %s", key, m.Action(key), action.Name)
				}
				bound = append(bound, key)
			}
		}
	})
}
