package hooktest

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"
)

// afterSave is how long after a change the tests run again: an editor may save in pieces, and
// several files.
const afterSave = 100 * time.Millisecond

// Watch calls run, and again whenever Lua at paths was saved, until ctx ends. Saved means any
// change in the folders of the tests and below them, or beside a file that run has called used
// with, from any goroutine, such as a hook in another folder.
func Watch(ctx context.Context, paths []string, run func(used func(path string))) error {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return fmt.Errorf("watch: %w", err)
	}
	defer w.Close()
	for _, path := range paths {
		if err := follow(w, path); err != nil {
			return fmt.Errorf("watch %s: %w", path, err)
		}
	}
	due := time.NewTimer(0) // the first time is now
	defer due.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-due.C:
			run(func(path string) {
				dir := filepath.Dir(path)
				_ = w.Add(dir)
				_ = w.Add(filepath.Join(dir, "lib")) // there may be no modules
			})
		case e := <-w.Events:
			if e.Has(fsnotify.Create) {
				_ = follow(w, e.Name) // a new folder, or nothing to follow
			}
			if strings.HasSuffix(e.Name, ".lua") && !e.Has(fsnotify.Chmod) {
				due.Reset(afterSave)
			}
		case <-w.Errors: // events were lost
			due.Reset(afterSave)
		}
	}
}

// follow watches the folder of a file, or a folder with those in it.
func follow(w *fsnotify.Watcher, path string) error {
	return filepath.WalkDir(path, func(at string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir():
			return w.Add(at)
		case at == path:
			return w.Add(filepath.Dir(at))
		}
		return nil
	})
}
