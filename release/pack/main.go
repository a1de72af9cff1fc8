// Pack writes a folder as an archive, and prints the sums of the files in a folder as sha256sum does:
//
//	pack SECONDS FOLDER ARCHIVE.tar.gz|ARCHIVE.zip
//	pack -sums FOLDER
//
// The bytes of the archive depend on the files alone, not on who packs them, when, and with which tar: everything in it
// has the time that is given, in seconds since 1970, and belongs to owner 0. Names are in their order; folders, and
// files that can be run, have the mode 755, all others 644.
package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "pack:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	switch {
	case len(args) == 2 && args[0] == "-sums":
		return printSums(args[1])
	case len(args) == 3:
		seconds, err := strconv.ParseInt(args[0], 10, 64)
		if err != nil {
			return fmt.Errorf("the time: %w", err)
		}
		return pack(time.Unix(seconds, 0).UTC(), args[1], args[2])
	}
	return errors.New("give a time, a folder and an archive, or -sums and a folder")
}

// printSums prints a line for each file of a folder, in the order of the names.
func printSums(folder string) error {
	files, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	for _, f := range files {
		text, err := os.ReadFile(filepath.Join(folder, f.Name()))
		if err != nil {
			return err
		}
		fmt.Printf("%x  %s\n", sha256.Sum256(text), f.Name())
	}
	return nil
}

func pack(when time.Time, folder, name string) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer f.Close()
	into, err := newArchive(f, name, when)
	if err != nil {
		return err
	}
	if err := addFolder(into, folder); err != nil {
		return fmt.Errorf("pack %s: %w", folder, err)
	}
	if err := errors.Join(into.Close(), f.Close()); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}

// archive takes one file after the other.
type archive interface {
	// add begins a file or, if the name ends in a slash, a folder; what is in the file is then written to the writer.
	add(name string, mode fs.FileMode, size int64) (io.Writer, error)
	io.Closer
}

// newArchive returns an archive of the kind that name ends in.
func newArchive(w io.Writer, name string, when time.Time) (archive, error) {
	switch {
	case strings.HasSuffix(name, ".tar.gz"):
		compressed, err := gzip.NewWriterLevel(w, gzip.BestCompression)
		return tarball{tar.NewWriter(compressed), compressed, when}, err
	case strings.HasSuffix(name, ".zip"):
		return zipped{zip.NewWriter(w), when}, nil
	}
	return nil, fmt.Errorf("%s ends neither in .tar.gz nor in .zip", name)
}

// addFolder adds a folder under its own name, with all that is in it, in the order of the names.
func addFolder(a archive, folder string) error {
	return filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		inside, err := filepath.Rel(filepath.Dir(folder), path)
		if err != nil {
			return err
		}
		name := filepath.ToSlash(inside)
		if d.IsDir() {
			_, err := a.add(name+"/", 0o755|fs.ModeDir, 0)
			return err
		}
		return addFile(a, name, path)
	})
}

func addFile(a archive, name, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	stat, err := f.Stat()
	if err != nil {
		return err
	}
	mode := fs.FileMode(0o644)
	if stat.Mode()&0o100 != 0 {
		mode = 0o755
	}
	w, err := a.add(name, mode, stat.Size())
	if err == nil {
		_, err = io.Copy(w, f)
	}
	return err
}

type tarball struct {
	*tar.Writer
	compressed *gzip.Writer
	when       time.Time
}

func (t tarball) add(name string, mode fs.FileMode, size int64) (io.Writer, error) {
	h := &tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: int64(mode.Perm()), Size: size, ModTime: t.when, Format: tar.FormatUSTAR}
	if mode.IsDir() {
		h.Typeflag = tar.TypeDir
	}
	return t.Writer, t.WriteHeader(h)
}

func (t tarball) Close() error { return errors.Join(t.Writer.Close(), t.compressed.Close()) }

type zipped struct {
	*zip.Writer
	when time.Time
}

func (z zipped) add(name string, mode fs.FileMode, _ int64) (io.Writer, error) {
	h := &zip.FileHeader{Name: name, Modified: z.when, Method: zip.Deflate}
	h.SetMode(mode)
	return z.CreateHeader(h)
}
