package tool

import (
	"errors"
	"fmt"
	"strings"

	"pi/internal/printable"
)

// missing is the error for a text that is not in body. It shows the place that was
// probably meant, and the first line that differs.
func missing(body, old string) error {
	have, want := plainLines(strings.TrimSuffix(body, "\n")), plainLines(strings.Trim(old, "\n"))
	at, equal := bestWindow(have, want)
	if equal == 0 {
		return nearestLine(have, want)
	}
	for i, w := range want {
		switch {
		case at+i >= len(have):
			return fmt.Errorf("oldText is not there; lines %d-%d match its beginning, but there the file ends", at+1, len(have))
		case have[at+i] != w:
			return fmt.Errorf("oldText is not there; nearest is line %d: %s of it match, but line %d of the file is\n  %s\nand oldText has\n  %s\nread the file again and copy the text as it stands",
				at+1, printable.Count(equal, "line"), at+i+1, short(have[at+i]), short(w))
		}
	}
	return fmt.Errorf("oldText is not there; nearest is line %d, which differs only in line breaks or in spaces within lines; read the file again", at+1)
}

// nearestLine is the error for a text of which no line is in the file as it is. It
// shows the line that is most like the longest one of the text, if any is like it.
func nearestLine(have, want []string) error {
	key := longest(want)
	best, at := 0.5, -1
	for i, h := range have {
		if s := similarity(strings.TrimSpace(h), key); s > best {
			best, at = s, i
		}
	}
	if at < 0 {
		return errors.New("oldText is not there, nor anything like it; read the file to see what is")
	}
	return fmt.Errorf("oldText is not there; nearest is line %d:\n  %s\nread the file again and copy the text as it stands", at+1, short(have[at]))
}

// bestWindow finds where most lines of want are equal to those of have, whatever their
// indentation is: at is the line of have at which want would begin, equal how many
// lines are. It is 0 if none is.
func bestWindow(have, want []string) (at, equal int) {
	index := map[string][]int{}
	for i, w := range want {
		if w := strings.TrimSpace(w); w != "" {
			index[w] = append(index[w], i)
		}
	}
	votes := map[int]int{}
	for i, h := range have {
		for _, j := range index[strings.TrimSpace(h)] {
			if i < j {
				continue
			}
			votes[i-j]++
			if n := votes[i-j]; n > equal || n == equal && i-j < at {
				at, equal = i-j, n
			}
		}
	}
	return at, equal
}

// plainLines are the lines of a text, with plain quotes, dashes and spaces and without
// blanks at their ends.
func plainLines(s string) []string {
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(fold(lines[i]), " \t\r")
	}
	return lines
}

// longest is the longest of the lines, without blanks around it.
func longest(lines []string) string {
	best := ""
	for _, l := range lines {
		if l := strings.TrimSpace(l); len(l) > len(best) {
			best = l
		}
	}
	return best
}

// short cuts a line that an error shows, if it is long.
func short(line string) string {
	const most = 200
	if len(line) <= most {
		return line
	}
	return line[:cutBefore(line, most)] + " …"
}
