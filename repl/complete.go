package repl

import "pi/repl/terminal"

func (r *REPL) complete()                       {}
func (r *REPL) completeSoon(terminal.Key) after { return nil }

type search struct{}

func newSearch(l *line, p terminal.Palette) overlay { return search{} }
func (search) Key(terminal.Key) bool                { return false }
func (search) Render(width, height int) []string    { return nil }
func (search) Done() bool                           { return true }
