package cli

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"pi/cli/app"
	"pi/cli/config"
	"pi/cli/packages"
	"pi/internal/printable"
	"pi/internal/safefile"
	"pi/luahooks/text"
	"pi/luahooks/trust"
)

// readTexts adds to each hook what its text says that it does, and what is wrong with it. A
// hook whose file cannot be read or parsed has none: its error says so.
func readTexts(p *app.Place, hooks []checkedHook) error {
	c, err := text.NewChecker()
	if err != nil {
		return err
	}
	for i := range hooks {
		h := &hooks[i]
		if h.State == "skipped" {
			continue
		}
		code, err := safefile.Read(h.Path, trust.MaxHook)
		if err != nil {
			continue
		}
		if h.Text, err = c.File(config.InProject(p.Cwd, h.Path), code, modulesBeside(p, h.Path)); err != nil {
			continue
		}
		known := func(found text.Place) bool { return strings.Contains(h.Error, found.String()) }
		h.Text.Problems = slices.DeleteFunc(h.Text.Problems, known)
	}
	forgiveModules(hooks)
	return nil
}

// forgiveModules drops what is said of hooks that register nothing where another hook requires
// them, or something was registered all the same.
func forgiveModules(hooks []checkedHook) {
	modules := map[string]bool{}
	for _, h := range hooks {
		if h.Text != nil {
			for _, file := range h.Text.Modules {
				modules[file] = true
			}
		}
	}
	for _, h := range hooks {
		if h.Text != nil && (modules[h.Text.File] || len(h.Events)+len(h.Commands)+len(h.Tools)+len(h.Others) > 0) {
			h.Text.Warnings = slices.DeleteFunc(h.Text.Warnings, func(p text.Place) bool { return strings.HasPrefix(p.What, text.RegistersNothing) })
		}
	}
}

// modulesBeside returns the function that reads the modules beside a hook, and those of its package.
func modulesBeside(p *app.Place, path string) func(name string) (string, []byte, bool) {
	dirs := []string{filepath.Dir(path), filepath.Dir(realPath(path))}
	root, pack, inPackage := packages.Around(filepath.Dir(path))
	return func(name string) (string, []byte, bool) {
		dirs := dirs
		if own, isOwn := strings.CutPrefix(name, pack+"."); inPackage && isOwn {
			name, dirs = own, []string{root}
		}
		for _, dir := range slices.Compact(dirs) {
			for _, file := range trust.ModuleFiles(name) {
				if code, err := safefile.Read(filepath.Join(dir, file), trust.MaxHook); err == nil {
					return config.InProject(p.Cwd, filepath.Join(dir, file)), code, true
				}
			}
		}
		return "", nil, false
	}
}

// printText prints what the text of a hook says, below its line: all of it, or what is wrong
// alone.
func printText(r *text.Report, all bool) {
	if r == nil {
		return
	}
	if all {
		places := func(found []text.Place) []string { return placesIn(r.File, found) }
		printTextLine("listens", places(r.Listens))
		printTextLine("calls", r.Calls)
		printTextLine("reads", places(r.Reads))
		printTextLine("writes", places(r.Writes))
		printTextLine("runs", places(r.Runs))
		printTextLine("connects", places(r.Connects))
		printTextLine("unread", places(r.Unread))
	}
	for _, found := range r.Problems {
		printTextLine("problem", []string{found.String()})
	}
	for _, found := range r.Warnings {
		printTextLine("warning", []string{found.String()})
	}
}

func printTextLine(what string, list []string) {
	if len(list) > 0 {
		fmt.Printf("%-9s %-9s %s\n", "", what, printable.VisibleLine(strings.Join(list, ", ")))
	}
}

// placesIn lists what is found, each once with its lines; those of other files than that of the
// hook name it.
func placesIn(file string, found []text.Place) (list []string) {
	lines := map[string][]string{}
	var order []string
	for _, f := range found {
		if lines[f.What] == nil {
			order = append(order, f.What)
		}
		line := fmt.Sprint(f.Line)
		if f.File != file {
			line = filepath.Base(f.File) + ":" + line
		}
		lines[f.What] = append(lines[f.What], line)
	}
	for _, what := range order {
		list = append(list, fmt.Sprintf("%s (%s)", what, strings.Join(lines[what], " ")))
	}
	return list
}
