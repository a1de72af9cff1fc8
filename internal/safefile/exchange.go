package safefile

import (
	"errors"
	"os"
)

// errNoExchange says that two names cannot be swapped in one step.
var errNoExchange = errors.New("names cannot be exchanged here")

// Exchange puts the file or folder next at path, and what was there at next. At no moment is there
// nothing at path where the system can swap names; elsewhere it is for a moment at next+".old".
// Who finds that later brings it to an end.
func Exchange(next, path string) error {
	err := exchange(next, path)
	if errors.Is(err, errNoExchange) {
		return exchangeInSteps(next, path)
	}
	return err
}

// exchangeInSteps is Exchange where names cannot be swapped in one step.
func exchangeInSteps(next, path string) error {
	aside := next + ".old"
	if err := os.Rename(path, aside); err != nil {
		return err
	}
	if err := os.Rename(next, path); err != nil {
		return errors.Join(err, os.Rename(aside, path))
	}
	return os.Rename(aside, next)
}
