//go:build !linux && !darwin && !windows

package cli

import "errors"

// freeSpace is not known here.
func freeSpace(string) (int64, error) { return 0, errors.ErrUnsupported }

// checkWritable cannot tell here without writing.
func checkWritable(string) error { return nil }
