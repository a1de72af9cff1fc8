package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"strings"
	"time"

	"pi/cli/app"
	"pi/cli/config"
	"pi/cli/hooktest"
	"pi/cli/packages"
	"pi/internal/printable"
	"pi/luahooks/trust"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// answers are how a user agrees to packages without being asked.
type answers struct {
	yes    bool
	sum    string // of what was listed
	dryRun bool
	json   bool
}

func (a *answers) flags(c *cobra.Command) {
	c.Flags().BoolVar(&a.yes, "yes", false, "without a question; where no user is at a terminal, with --sum")
	c.Flags().StringVar(&a.sum, "sum", "", "only if the package has this `HASH`, which the list ends with")
	c.Flags().BoolVar(&a.dryRun, "dry-run", false, "list it, check it, say what is missing, and change nothing")
	c.Flags().BoolVar(&a.json, "json", false, "the list of --dry-run as JSON")
}

// check returns what is wrong with the flags for so many packages.
func (a *answers) check(command string, count int) error {
	switch {
	case a.json && !a.dryRun:
		return app.UsageError{Err: fmt.Errorf("%s: --json goes with --dry-run", command)}
	case a.json && count != 1:
		return app.UsageError{Err: fmt.Errorf("%s: --json is the list of one package", command)}
	case a.sum != "" && count != 1:
		return app.UsageError{Err: fmt.Errorf("%s: --sum is that of one package", command)}
	case a.sum != "" && !isSum(a.sum):
		return app.UsageError{Err: fmt.Errorf("%s: --sum %s: 64 hexadecimal digits are expected, as the list ends with", command, printable.Short(printable.VisibleLine(a.sum)))}
	}
	return nil
}

func isSum(s string) bool { return len(s) == 64 && strings.Trim(s, "0123456789abcdef") == "" }

// offering is one package on its way in.
type offering struct {
	cmd     *cobra.Command
	place   *app.Place
	answers *answers
	store   packages.Store

	pack    *packages.Package
	said    []string // of its source, for the user
	was     *packages.Entry
	changes []packages.Change // to what is there; nil where there is none
	edited  bool              // what is there is not what came from the source
}

// beginPackages returns why packages cannot be changed now, and brings to its end what was broken off.
func beginPackages(p *app.Place, a *answers) (packages.Store, error) {
	if p.CatchInterrupts != nil {
		p.CatchInterrupts() // what was fetched, and the folders of tests, are removed
	}
	store := p.Packages()
	if a.dryRun {
		return store, nil
	}
	if err := p.Guard.MayChangePackages(); err != nil {
		return store, err
	}
	return store, store.Recover()
}

// addPackages adds the packages of sources, or other versions of those that are there.
func addPackages(cmd *cobra.Command, p *app.Place, sources []packages.Source, a *answers) error {
	if len(sources) == 0 {
		return nil
	}
	store, err := beginPackages(p, a)
	if err != nil {
		return err
	}
	var offers []*offering
	for _, s := range sources { // all are fetched before the tests of one take the environment away
		pack, err := fetchPackage(cmd.Context(), p, s)
		if err != nil {
			return err
		}
		offers = append(offers, &offering{cmd: cmd, place: p, answers: a, store: store, pack: pack})
	}
	for _, o := range offers {
		if err := o.add(); err != nil {
			return err
		}
	}
	return nil
}

// add offers a package that is to be added, unless it is there already, or something else is in its place.
func (o *offering) add() error {
	lock, err := readLock(o.place)
	if err != nil {
		return err
	}
	s, name, dir := o.pack.Source, o.pack.Name, o.store.Dir(o.pack.Name)
	was, isLocked := lock.Packages[name]
	switch isOther := was.Kind != s.Kind || was.Source != s.Address; {
	case !isLocked && len(o.place.Guard.ApprovedPackage(dir)) > 0: // somebody took the lock away
		o.compare(was)
	case !isLocked && isFolder(dir) && !o.answers.dryRun:
		return fmt.Errorf("%s is there, and nobody approved it; move it to another place first", printable.VisibleLine(config.Tilde(dir)))
	case !isLocked:
	case isOther && !o.answers.dryRun:
		return fmt.Errorf("there is a package %s already, from %s; to have this one instead, `pi hooks remove %[1]s` first", name, printable.VisibleLine(was.Source))
	case isOther:
		o.said = append(o.said, "there is a package "+name+" already, from "+was.Source)
		o.compare(was)
	default:
		if o.compare(was); o.isCurrent() && !o.answers.dryRun {
			fmt.Fprintf(o.cmd.OutOrStdout(), "%s is there already, as %s has it\n", name, printable.VisibleLine(s.String()))
			return nil
		}
	}
	return o.offer()
}

// readLock reads the lock that is in force.
func readLock(p *app.Place) (packages.Lock, error) {
	lock, err := packages.ParseLock(p.Guard.ReadLock())
	if err != nil {
		return lock, fmt.Errorf("read %s: %w", trust.LockFile, err)
	}
	return lock, nil
}

// fetchPackage fetches what a source has now and finds out what package it is.
func fetchPackage(ctx context.Context, p *app.Place, s packages.Source) (*packages.Package, error) {
	got, err := p.Fetcher().Fetch(ctx, s)
	if err != nil {
		return nil, err
	}
	pack, err := packages.New(got)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", printable.VisibleLine(s.String()), err)
	}
	return pack, nil
}

// compare notes what there is of the package, and how what came differs from it.
func (o *offering) compare(was packages.Entry) {
	o.was = &was
	on, err := packages.ReadFolder(o.store.Dir(o.pack.Name))
	o.edited = err != nil || !maps.Equal(on.Sums(), was.Files)
	o.changes = packages.Changes(on, o.pack.Files)
}

// isCurrent reports whether the package is in force as it came.
func (o *offering) isCurrent() bool {
	return o.was != nil && len(o.changes) == 0 && maps.Equal(o.place.Guard.ApprovedPackage(o.store.Dir(o.pack.Name)), o.pack.Files.Sums())
}

// offer shows the package, asks, runs its tests, and puts it in force.
func (o *offering) offer() error {
	listing := o.list()
	if o.answers.dryRun && o.answers.json {
		return printJSON(listing)
	}
	out := o.cmd.OutOrStdout()
	listing.print(out)
	if o.answers.dryRun {
		return o.check()
	}
	if len(listing.Missing) > 0 {
		return fmt.Errorf("package %s needs %s, which %s not there: add that first", o.pack.Name, strings.Join(listing.Missing, ", "), isOrAre(len(listing.Missing)))
	}
	if broken := o.pack.Broken(); len(broken) > 0 {
		return fmt.Errorf("package %s: %s; nothing was taken", o.pack.Name, printable.VisibleLine(strings.Join(broken, "; ")))
	}
	if agreed, err := o.ask(); err != nil || !agreed {
		return err
	}
	staged, err := o.store.Stage(o.pack)
	if err != nil {
		return err
	}
	defer staged.Close()
	if ok, err := o.test(staged); err != nil || !ok {
		return err
	}
	if err := staged.Commit(); err != nil {
		return err
	}
	o.tellInForce(out)
	return nil
}

func isOrAre(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

// ask has the user agree to what was listed. The error is why nobody can be asked, or that something else came
// than was listed before.
func (o *offering) ask() (bool, error) {
	sum := o.pack.Sum()
	if o.answers.sum != "" && o.answers.sum != sum {
		return false, fmt.Errorf("package %s is not what was listed: its sum is %s, not %s; nothing was taken", o.pack.Name, sum, o.answers.sum)
	}
	attended := term.IsTerminal(int(os.Stdin.Fd()))
	switch {
	case o.answers.yes && (attended || o.answers.sum != ""):
		return true, nil
	case !attended:
		return false, fmt.Errorf("nothing was taken, for nobody can be asked here; to take what is listed: pi hooks %s %s --yes --sum %s", o.cmd.Name(), o.word(), sum)
	}
	question := "Add the package " + o.pack.Name + "?"
	if o.was != nil {
		question = "Take this version of " + o.pack.Name + "?"
	}
	if app.Terminal().AskShown(o.cmd.Context(), "A hook is a program: it sees every prompt and may run anything.\n", question) {
		return true, nil
	}
	fmt.Fprintln(o.cmd.OutOrStdout(), "nothing was taken")
	return false, nil
}

// word is how the package is named behind the command.
func (o *offering) word() string {
	if o.cmd.Name() == "update" {
		return o.pack.Name
	}
	return printable.VisibleLine(o.pack.Source.String())
}

// test runs the tests of a package that a user agreed to, before it is in force. If one fails the user is
// asked again.
func (o *offering) test(staged *packages.Staged) (bool, error) {
	if !o.pack.HasTests() {
		return true, nil
	}
	out := o.cmd.OutOrStdout()
	report := hooktest.Report{Out: &inPackage{out: out, dir: staged.Dir + string(os.PathSeparator)}}
	hooktest.Isolate()
	began := time.Now()
	summary, err := hooktest.Run(o.cmd.Context(), hooktest.Options{Paths: []string{staged.Dir}, Print: report.Print, Done: report.Done, Watcher: o.place.Watcher})
	if err != nil {
		return false, fmt.Errorf("run the tests of package %s: %w", o.pack.Name, err)
	}
	report.End(summary, time.Since(began))
	if summary.Failed == 0 {
		return true, nil
	}
	if !term.IsTerminal(int(os.Stdin.Fd())) {
		return false, fmt.Errorf("tests of package %s fail, and nobody can be asked here, so nothing was taken; at a terminal you are asked whether to take it all the same", o.pack.Name)
	}
	if app.Terminal().AskShown(o.cmd.Context(), "", "Tests of "+o.pack.Name+" fail. Take it all the same?") {
		return true, nil
	}
	fmt.Fprintln(out, "nothing was taken")
	return false, nil
}

// inPackage writes the report of tests with paths as they are in the package.
type inPackage struct {
	out io.Writer
	dir string
}

func (w *inPackage) Write(text []byte) (int, error) {
	_, err := w.out.Write(bytes.ReplaceAll(text, []byte(w.dir), nil))
	return len(text), err
}

// tellInForce says what is in force now.
func (o *offering) tellInForce(out io.Writer) {
	verb := "added"
	if o.was != nil {
		verb = "updated"
	}
	var names []string
	for _, hook := range o.pack.Hooks() {
		names = append(names, packages.HookName(o.pack.Name, hook))
	}
	effect := "in force, in sessions that run too"
	if len(names) > 0 {
		effect += ": " + strings.Join(names, ", ")
	}
	fmt.Fprintf(out, "%s: %s; %s\n", verb, o.pack.Name, effect)
}
