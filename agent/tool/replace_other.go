//go:build !unix

package tool

import (
	"io/fs"
	"os"
)

func copyOwner(*os.Root, string, fs.FileInfo) {}

func isBusy(error) bool { return false }
