package packages

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"pi/internal/process"
)

// Fetched is what a source has at one time.
type Fetched struct {
	Source Source
	Files  Tree
	// Commit and Named say of a repository what was fetched, and whether the reference is a tag, a
	// branch, a commit, or "" for HEAD.
	Commit, Named string
}

// What a reference of a repository names.
const (
	NamesTag    = "tag"
	NamesBranch = "branch"
	NamesCommit = "commit"
)

// Limits of one fetch, which a slow or endless server meets.
const (
	maxFetch  = 64 << 20 // bytes
	fetchTime = 2 * time.Minute
)

// Fetcher gets what sources have. Nothing that it gets is run.
type Fetcher struct {
	// Watcher ends git if this program is killed; nil: nobody does.
	Watcher *process.Watcher

	maxFetch int64         // 0: the usual one
	time     time.Duration // 0: the usual one
}

// Fetch reads all files that a source has now. It refuses a source with a file that a package must not have.
func (f Fetcher) Fetch(ctx context.Context, s Source) (Fetched, error) {
	var err error
	got := Fetched{Source: s}
	switch s.Kind {
	case Folder:
		got.Files, err = ReadFolder(s.Address)
	case File:
		got.Files, err = readHook(s)
	case Git:
		return f.fetchGit(ctx, s)
	default:
		return got, fmt.Errorf("read %s: it is no package", s)
	}
	if err != nil {
		return Fetched{}, fmt.Errorf("read %s: %w", s, err)
	}
	return got, nil
}

// fetchGit reads the files of a repository at its reference.
func (f Fetcher) fetchGit(ctx context.Context, s Source) (got Fetched, err error) {
	err = f.inRepository(ctx, s, func(ctx context.Context, r *repository) error {
		named, full, err := r.resolve(ctx, s)
		if err != nil {
			return err
		}
		commit, err := r.fetch(ctx, s, full)
		if err != nil {
			return err
		}
		got = Fetched{Source: s, Commit: commit, Named: named}
		got.Files, err = r.files(ctx, commit)
		return err
	})
	if err != nil {
		return Fetched{}, err
	}
	return got, nil
}

// inRepository calls work with an empty repository, which is gone when it returns. Work has the time of a
// fetch.
func (f Fetcher) inRepository(ctx context.Context, s Source, work func(context.Context, *repository) error) error {
	limit := fetchTime
	if f.time > 0 {
		limit = f.time
	}
	late := fmt.Errorf("fetch %s: it took longer than %s, so it was ended", s, limit)
	ctx, cancel := context.WithTimeoutCause(ctx, limit, late)
	defer cancel()
	dir, err := os.MkdirTemp("", "pi-fetch-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	r, err := newRepository(filepath.Join(dir, "git"), s, f)
	if err != nil {
		return fmt.Errorf("fetch %s: %w", s, err)
	}
	err = work(ctx, r)
	if cause := context.Cause(ctx); err != nil && cause != nil {
		err = cause
	}
	return err
}
