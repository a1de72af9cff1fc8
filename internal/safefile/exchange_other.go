//go:build !linux && !darwin

package safefile

// exchange says that names cannot be swapped here in one step.
func exchange(string, string) error { return errNoExchange }
