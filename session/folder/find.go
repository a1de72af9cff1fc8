package folder

import (
	"errors"
	"fmt"
	"strings"
)

// NotFoundError says that no session has an id that begins with Prefix, or that
// there is no file of that path.
type NotFoundError struct{ Prefix string }

func (e *NotFoundError) Error() string {
	if strings.ContainsAny(e.Prefix, `/\`) || strings.HasSuffix(e.Prefix, ".jsonl") {
		return fmt.Sprintf("there is no session file %q", e.Prefix)
	}
	return fmt.Sprintf("no session begins with %q", e.Prefix)
}

// AmbiguousError says that several sessions do: those at Paths, the one written
// last first.
type AmbiguousError struct {
	Prefix string
	Paths  []string
}

func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("%d sessions begin with %q", len(e.Paths), e.Prefix)
}

// Find returns the path of the session under root whose id is prefix, or else
// the only one whose id begins with it. The error is a *[NotFoundError], joined
// with what could not be read, or an *[AmbiguousError].
func Find(root, prefix string) (string, error) {
	var exact, begin []string
	var problems []error
	for f, err := range withHeaders(root, "") {
		switch {
		case err != nil:
			problems = append(problems, err)
		case f.header.ID == prefix:
			exact = append(exact, f.path)
		case strings.HasPrefix(f.header.ID, prefix):
			begin = append(begin, f.path)
		}
	}
	paths := exact
	if len(paths) == 0 && prefix != "" {
		paths = begin
	}
	switch len(paths) {
	case 0:
		return "", errors.Join(append([]error{&NotFoundError{Prefix: prefix}}, problems...)...)
	case 1:
		return paths[0], nil
	}
	return "", &AmbiguousError{Prefix: prefix, Paths: paths}
}
