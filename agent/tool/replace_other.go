//go:build !unix

package tool

import (
	"io/fs"
	"os"
)

func keepOwner(*os.Root, string, fs.FileInfo) {}

func busy(error) bool { return false }
