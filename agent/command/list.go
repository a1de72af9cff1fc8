package command

import (
	"context"

	"pi/agent"
)

// Lister is a UI with a list that the user goes through with arrows, and that can change
// while it is open. Other UIs have only the questions of [agent.UI].
type Lister interface {
	// OpenList shows a list until it is closed or the user leaves it. Dialogs in the
	// context that it returns stand above the list. The list is nil where only lines can
	// be read, at this moment or ever.
	OpenList(ctx context.Context, v ListView) (context.Context, List)
	// EditText asks for a row of text, of which there is some already. ok is false if the
	// user left; an empty text is an answer.
	EditText(ctx context.Context, title, text string) (edited string, ok bool, err error)
}

// List is a list that is shown. Show may be called by any goroutine, also when the list is
// closed.
type List interface {
	// Show replaces title, keys and rows. What the user typed stays, and so do the
	// selected row and what they folded.
	Show(v ListView)
	// Next waits for what the user does. Until it is called again, the list takes no
	// further key.
	Next() (Pressed, error)
	Close()
}

// ListView is a list as it is at first.
type ListView struct {
	Title, Right string // Right stands behind the title where there is room
	Enter        string // what Enter does
	Initial      string // the ID of the row that is selected; "" is the first one
	Keys         []ListKey
	Rows         []Row
}

// ListKey is something besides Enter that a key does in a list.
type ListKey struct {
	Key   string // by its name, such as "delete"
	Label string // for the user; "" if it is not told
}

// Pressed is what a user did in a list. The zero value means that they left it.
type Pressed struct {
	Key string // "enter", or that of a ListKey
	Row string // the ID of the selected row; "" if there is none
}

// Row is a row of a list.
type Row struct {
	ID          string
	Columns     []string // where there is no room, those to the right are dropped first
	Description string   // shown behind the columns, or below the list
	Search      string   // what the row is found by besides what is shown; each line for itself
	Sought      string   // an id: who types its beginning finds the row, and sees it
	Dim         bool     // the row matters less than others

	// Of a tree: how deep the row is indented, and the row that it is folded into, which
	// comes before it.
	Depth  int
	Parent string
	Folded bool // at first, the rows that have this one as their parent are not shown
}

// OpenList opens a list if the UI has such, see [Lister].
func OpenList(ctx context.Context, ui agent.UI, v ListView) (context.Context, List) {
	if l, ok := ui.(Lister); ok && ui.HasUI() {
		return l.OpenList(ctx, v)
	}
	return ctx, nil
}
