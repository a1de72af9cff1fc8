package command

import "errors"

// HintOf returns the next step for the user that err knows: that of the outermost
// wrapped error with a method Hint() string; "" if there is none. Hints that name the
// means of one front end are added by that front end.
func HintOf(err error) string {
	var hinted interface{ Hint() string }
	if errors.As(err, &hinted) {
		return hinted.Hint()
	}
	return ""
}
