package repl

import "pi/repl/terminal"

func (r *REPL) complete() {}

func (r *REPL) completeSoon(terminal.Key) after { return nil }
