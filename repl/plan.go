package repl

import (
	"fmt"

	"pi/agent"
	"pi/internal/cells"
	"pi/internal/printable"
	"pi/repl/terminal"
)

// planRows is how many open steps of a plan are shown.
const planRows = 8

// plan is the steps that a hook has shown last.
type plan []agent.PlanItem

// rows are what is open of the plan, below how much of it is done; none if nothing is open.
func (x plan) rows(p terminal.Palette, columns int) (rows []string) {
	var open []string
	for _, item := range x {
		text := printable.Line(item.Content)
		switch item.Status {
		case "completed":
		case "in_progress":
			open = append(open, p.Paint("accent", cells.Cut("  ▸ "+text, columns)))
		default:
			open = append(open, p.Paint("dim", cells.Cut("  ○ "+text, columns)))
		}
	}
	if len(open) == 0 {
		return nil
	}
	rows = append(rows, p.Paint("dim", cells.Cut(fmt.Sprintf("plan %d/%d", len(x)-len(open), len(x)), columns)))
	if more := len(open) - planRows; more > 0 {
		open = append(open[:planRows:planRows], p.Paint("dim", cells.Cut(fmt.Sprintf("  … %d more", more), columns)))
	}
	return append(rows, open...)
}
