package command

import "errors"

// HintOf is the next step that err knows for the person: what the outermost error of its
// chain says that has a method Hint() string. It is "" where nobody knows one; what is
// to be done otherwise, with the means of one front end, that front end adds.
func HintOf(err error) string {
	var hinted interface{ Hint() string }
	if errors.As(err, &hinted) {
		return hinted.Hint()
	}
	return ""
}
