package cli

import (
	"cmp"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"pi/agent/command"
	"pi/agent/llm"
	"pi/cli/app"
	"pi/cli/config"
	"pi/cli/mcpfile"
	"pi/cli/providers"
	"pi/docs"
	"pi/luahooks/event"
	"pi/luahooks/examples"
	"pi/luahooks/text"
	"pi/luahooks/trust"
	"pi/session/folder"

	"github.com/spf13/cobra"
)

// What the values of flags and arguments can be. A Tab only looks: it reads files, and runs, asks and
// writes nothing (see [app.Look]).

// values completes with what find returns of the working directory. typed is what the word
// begins with; what does not is left out here.
func values(o *app.Options, find func(p *app.Place, typed string) []cobra.Completion) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		cwd, err := os.Getwd()
		if err != nil {
			return nil, justThese
		}
		o.Env.Stderr = io.Discard
		p, err := app.Look(*o, cwd)
		if err != nil {
			return nil, justThese
		}
		return beginning(find(p, typed), typed), justThese
	}
}

// justThese has the shell offer nothing else, in this order.
const justThese = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder

// beginning returns the words that begin as typed.
func beginning(words []cobra.Completion, typed string) []cobra.Completion {
	return slices.DeleteFunc(words, func(w cobra.Completion) bool { return !strings.HasPrefix(w, typed) })
}

// flagValues says what completes the value of a flag of c.
func flagValues(c *cobra.Command, name string, values cobra.CompletionFunc) {
	if err := c.RegisterFlagCompletionFunc(name, values); err != nil {
		panic("cli: " + err.Error()) // there is no such flag
	}
}

// among completes with words that need no explanation.
func among(words func() []string) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return beginning(words(), typed), justThese
	}
}

// files and folders leave a word to the shell.
func files(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveDefault
}

func folders(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}

// firstOnly is for a command whose further arguments are not completed.
func firstOnly(first cobra.CompletionFunc) cobra.CompletionFunc { return argumentsBy(first) }

// argumentsBy completes each argument by its place.
func argumentsBy(all ...cobra.CompletionFunc) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) >= len(all) {
			return nil, justThese
		}
		return all[len(args)](cmd, args, typed)
	}
}

// orFiles leaves a word to the shell, as a file, that none of those begins with.
func orFiles(those cobra.CompletionFunc) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		words, d := those(cmd, args, typed)
		if len(words) == 0 {
			d &^= cobra.ShellCompDirectiveNoFileComp
		}
		return words, d
	}
}

// listOf completes the last of several words with commas between, each maybe behind + or -.
func listOf(one cobra.CompletionFunc) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		behind := strings.LastIndexByte(typed, ',') + 1
		if rest := typed[behind:]; rest != "" && (rest[0] == '+' || rest[0] == '-') {
			behind++
		}
		words, d := one(cmd, args, typed[behind:])
		for i, word := range words {
			words[i] = typed[:behind] + word
		}
		return words, d | cobra.ShellCompDirectiveNoSpace
	}
}

// sessionValues completes with the newest sessions of this directory, else of all: the beginnings of
// their ids that tell them apart.
func sessionValues(o *app.Options) cobra.CompletionFunc {
	return values(o, func(p *app.Place, typed string) (words []cobra.Completion) {
		root := p.Sessions().Root
		if root == "" {
			return nil
		}
		found := folder.Glance(root, p.Cwd, typed, mostSessions)
		if len(found) == 0 {
			found = folder.Glance(root, "", typed, mostSessions)
		}
		short := map[string]int{}
		for _, i := range found {
			short[command.ShortID(i.ID)]++
		}
		for _, i := range found {
			id := command.ShortID(i.ID)
			if short[id] > 1 || len(typed) > len(id) {
				id = i.ID
			}
			words = append(words, cobra.CompletionWithDesc(id, written(i)+"  "+command.Title(i)))
		}
		return words
	})
}

// mostSessions is how many sessions are offered; the beginning of an id finds the others.
const mostSessions = 100

// modelValues completes with the models that can be used, else with those of the whole catalogue, by
// their references or ids, and behind the colon with their thinking levels.
func modelValues(o *app.Options) cobra.CompletionFunc {
	return values(o, func(p *app.Place, typed string) []cobra.Completion {
		models := providers.New(p.Config, p.Keys, p.Catalogue.Models)
		models.Register(llm.ProviderSpec{Name: "demo", Models: llm.Listed(app.TourModel())})
		for _, some := range []func() []*llm.Model{models.Available, models.All} {
			all := some()
			for _, name := range []func(*llm.Model) string{(*llm.Model).Ref, func(m *llm.Model) string { return m.ID }} {
				if words := modelWords(all, name, typed); len(words) > 0 {
					return words
				}
			}
		}
		return nil
	})
}

// modelWords are the models whose names begin as typed; where typed is one of the names and a colon, its
// thinking levels.
func modelWords(all []*llm.Model, name func(*llm.Model) string, typed string) (words []cobra.Completion) {
	for _, m := range all {
		ref := name(m)
		if strings.HasPrefix(ref, typed) {
			words = append(words, cobra.CompletionWithDesc(ref, describeModel(m)))
		}
		if strings.HasPrefix(typed, ref+":") {
			for _, level := range m.Levels {
				words = append(words, cobra.CompletionWithDesc(ref+":"+level, "thinking"))
			}
		}
	}
	return words
}

// describeModel says of a model what one chooses it by.
func describeModel(m *llm.Model) string {
	about := cmp.Or(m.Name, m.ID)
	if window := command.TokenCount(m.ContextWindow); window != "" {
		about += ", " + window
	}
	if m.Cost != nil {
		about += ", " + priceText(m.Cost.Published())
	}
	return about
}

// providerValues completes with the providers, and where the key of each is.
func providerValues(o *app.Options) cobra.CompletionFunc {
	return values(o, func(p *app.Place, _ string) (words []cobra.Completion) {
		states := providers.States(p.Config, p.Keys)
		for _, s := range providers.New(p.Config, p.Keys, p.Catalogue.Models).Providers() {
			about := "key in " + states[s.Name].From
			switch {
			case states[s.Name].Missing != "":
				about = "needs " + states[s.Name].Missing
			case states[s.Name].From == "":
				about = "needs no key"
			}
			words = append(words, cobra.CompletionWithDesc(s.Name, about))
		}
		return words
	})
}

// sources are the hooks that are there, whether or not they may run.
func sources(p *app.Place) []trust.Source {
	found := p.Places().Discover(p.Guard)
	return slices.Concat(found.Sources, found.Untrusted, found.Disabled)
}

// hookValues completes with the hooks by their names; with ofProject, only this project's.
func hookValues(o *app.Options, ofProject bool) cobra.CompletionFunc {
	return values(o, func(p *app.Place, _ string) (words []cobra.Completion) {
		for _, s := range sources(p) {
			if s.Err == nil && (!ofProject || s.Scope == trust.ScopeProject) {
				words = append(words, cobra.CompletionWithDesc(s.Name, config.InProject(p.Cwd, config.Tilde(s.Path))))
			}
		}
		return words
	})
}

// hookAndSessions completes a hook, and behind it sessions; each may be a file.
func hookAndSessions(o *app.Options) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) == 0 {
			return orFiles(hookValues(o, false))(cmd, args, typed)
		}
		return orFiles(sessionValues(o))(cmd, args, typed)
	}
}

// approvable completes with what `pi hooks approve` can be about: hooks and agents of this project.
func approvable(o *app.Options) cobra.CompletionFunc {
	hooks := hookValues(o, true)
	agents := values(o, func(p *app.Place, _ string) (words []cobra.Completion) {
		for _, dir := range []string{".pi", ".claude"} {
			found, _ := filepath.Glob(filepath.Join(dir, "agents", "*.md")) // the error is that of a bad pattern
			for _, path := range found {
				words = append(words, cobra.CompletionWithDesc(path, "an agent"))
			}
		}
		return words
	})
	return func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		one, d := hooks(cmd, args, typed)
		other, _ := agents(cmd, args, typed)
		return append(one, other...), d
	}
}

// registeredWords completes with what pick finds in the texts of hooks: they are not run.
func registeredWords(p *app.Place, pick func(text.Registrations) []string) (words []cobra.Completion) {
	for _, s := range sources(p) {
		if s.Err != nil {
			continue
		}
		found, _ := text.Registered(p.Guard.Read(s.Path).Code) // of what is no Lua nothing is found
		for _, name := range pick(found) {
			words = append(words, cobra.CompletionWithDesc(name, "hook "+s.Name))
		}
	}
	return words
}

// modeValues completes with the modes that hooks offer, as far as their texts say so.
func modeValues(o *app.Options) cobra.CompletionFunc {
	return values(o, func(p *app.Place, _ string) []cobra.Completion {
		words := registeredWords(p, func(r text.Registrations) []string { return r.Modes })
		return append(words, cobra.CompletionWithDesc("default", "no mode of a hook"))
	})
}

// toolValues completes with the tools of the program and those of hooks.
func toolValues(o *app.Options) cobra.CompletionFunc {
	return listOf(values(o, func(p *app.Place, _ string) (words []cobra.Completion) {
		there := p.Registered("")
		for _, name := range slices.Sorted(maps.Keys(there.Tools)) {
			words = append(words, cobra.CompletionWithDesc(name, there.Tools[name]))
		}
		return words
	}))
}

// packageValues completes with the packages that were added, and the examples among the hooks.
func packageValues(o *app.Options) cobra.CompletionFunc {
	return values(o, func(p *app.Place, _ string) (words []cobra.Completion) {
		lock, _ := readLock(p) // without it the sources are not known
		for _, name := range p.Packages().Names() {
			e := lock.Packages[name]
			words = append(words, cobra.CompletionWithDesc(name, cmp.Or(e.Source, "a package")))
		}
		added, _ := addedExamples(p)
		for _, e := range added {
			words = append(words, cobra.CompletionWithDesc(e.Name, e.Description))
		}
		return words
	})
}

// exampleValues completes with the examples, with prefix in front of their names.
func exampleValues(prefix string) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		all, err := examples.All()
		if err != nil {
			return nil, justThese
		}
		var words []cobra.Completion
		for _, e := range all {
			words = append(words, cobra.CompletionWithDesc(prefix+e.Name, e.About()))
		}
		return beginning(words, typed), justThese
	}
}

// draftValues completes with the drafts of hooks.
func draftValues(o *app.Options) cobra.CompletionFunc {
	return values(o, func(p *app.Place, _ string) []cobra.Completion { return p.Places().Drafts() })
}

// serverValues completes with the MCP servers that are configured. Nothing that their entries name is
// filled in.
func serverValues(o *app.Options) cobra.CompletionFunc {
	return values(o, func(p *app.Place, _ string) (words []cobra.Completion) {
		for _, path := range append([]string{mcpfile.UserFile(p.AgentDir)}, mcpfile.ProjectFiles(p.Cwd)...) {
			data, err := mcpfile.Read(path)
			if err != nil {
				continue
			}
			file := mcpfile.Parse(data, mcpfile.Origin{Path: path, Getenv: func(string) string { return "" }})
			for _, s := range file.Servers {
				words = append(words, cobra.CompletionWithDesc(s.Name, config.Tilde(path)))
			}
		}
		return words
	})
}

// settingValues completes with the keys of settings, and behind one with what it can be.
func settingValues(o *app.Options) cobra.CompletionFunc {
	keys := values(o, func(p *app.Place, _ string) (words []cobra.Completion) {
		for _, s := range p.Config.Settings() {
			words = append(words, cobra.CompletionWithDesc(s.Key, s.Meaning))
		}
		return words
	})
	return func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		choices := values(o, func(p *app.Place, _ string) []cobra.Completion {
			settings := p.Config.Settings()
			i := slices.IndexFunc(settings, func(s config.Setting) bool { return s.Key == args[0] })
			if i < 0 {
				return nil
			}
			return slices.Clone(settings[i].Choices)
		})
		if len(args) == 1 && args[0] == "model" {
			choices = modelValues(o)
		}
		return argumentsBy(keys, choices)(cmd, args, typed)
	}
}

// guideValues completes with the guides inside of the program.
func guideValues(_ *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	guides, err := docs.Guides()
	if err != nil {
		return nil, justThese
	}
	var words []cobra.Completion
	for _, g := range guides {
		words = append(words, cobra.CompletionWithDesc(g.Name, g.Title))
	}
	return beginning(words, typed), justThese
}

// headingValues completes with the headings of the guide that is the first argument.
func headingValues(_ *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) == 0 {
		return nil, justThese
	}
	g, err := docs.Find(args[0])
	if err != nil {
		return nil, justThese
	}
	var words []cobra.Completion
	for _, s := range g.Sections() {
		words = append(words, s.Title)
	}
	return beginning(words, typed), justThese
}

// eventValues completes with the events that hooks can listen to.
func eventValues() (words []string) {
	for _, e := range event.Infos() {
		words = append(words, e.Name)
	}
	return words
}

// attachable completes a prompt that begins with @: a file or folder that goes along.
func attachable(_ *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	path, ok := strings.CutPrefix(typed, "@")
	if !ok {
		return nil, justThese
	}
	dir, base := filepath.Split(path)
	entries, err := os.ReadDir(cmp.Or(dir, "."))
	if err != nil {
		return nil, justThese
	}
	var words []cobra.Completion
	directive := justThese
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), base) || base == "" && strings.HasPrefix(e.Name(), ".") || strings.ContainsAny(e.Name(), " \t") {
			continue
		}
		word := "@" + dir + e.Name()
		if e.IsDir() {
			word += string(filepath.Separator)
			directive |= cobra.ShellCompDirectiveNoSpace
		}
		words = append(words, word)
	}
	return words, directive
}
