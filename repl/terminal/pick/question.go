package pick

import (
	"fmt"
	"strings"

	"pi/internal/cells"
	"pi/internal/printable"
	"pi/repl/terminal"
)

// Question is what a dialog asks.
type Question struct {
	Title   string // it may have several lines
	Message string // what there is to know for an answer, such as a command; shown below
	Hook    string // the hook that asks; "" if the program does
	Palette terminal.Palette
}

// question draws a [Question] above the row in which it is answered. What has no room can
// be scrolled to, since a person has to read what they agree to.
type question struct {
	heading
	message string
	from    int // the first row that is shown below that of the title
	page    int // how many are
	last    int // the greatest from
}

func newQuestion(q Question) question {
	return question{heading: newHeading(q.Title, "", q.Hook, q.Palette), message: strings.Trim(printable.Text(q.Message), "\n")}
}

// text draws the question in at most height rows: the first row of the title, and as much
// as fits of the rest.
func (q *question) text(width, height int) (rows []string) {
	if height <= 0 {
		return nil
	}
	body := q.heading.rows(width, 1<<16)
	if q.message != "" {
		body = append(body, cutRows(cells.Wrap(q.message, width), width, 1<<16)...)
	}
	if len(body) <= height {
		q.from, q.last, q.page = 0, 0, height
		return body
	}
	if height == 1 {
		return q.heading.rows(width, 1)
	}
	q.page = max(1, height-2) // and the row that says what is missing
	q.last = len(body) - 1 - q.page
	q.from = max(0, min(q.from, q.last))
	rows = append(body[:1:1], body[1+q.from:1+q.from+q.page]...)
	if height > 2 {
		rows = append(rows, q.Paint("dim", cells.Cut(missing(q.from, q.last-q.from), width)))
	}
	return rows
}

// missing says how many rows are out of sight.
func missing(above, below int) string {
	switch {
	case above == 0:
		return fmt.Sprintf("… %d more · PgDn", below)
	case below == 0:
		return fmt.Sprintf("… %d before · PgUp", above)
	}
	return fmt.Sprintf("… %d before, %d more · PgUp/PgDn", above, below)
}

// scroll moves what is shown of the question. It reports false for a key that does not.
func (q *question) scroll(key string) bool {
	switch key {
	case "up":
		q.from--
	case "down":
		q.from++
	case "pageup":
		q.from -= q.page
	case "pagedown":
		q.from += q.page
	default:
		return false
	}
	q.from = max(0, min(q.from, q.last))
	return true
}
