package cli

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"pi/agent/llm"
	"pi/agent/provider"
	"pi/agent/provider/catalogue"
	"pi/cli/app"
	"pi/cli/providers"
	"pi/internal/printable"

	"github.com/spf13/cobra"
)

// modelsFlags are those of pi models.
type modelsFlags struct{ json, all, discover bool }

func modelsCommand(o *app.Options) *cobra.Command {
	var f modelsFlags
	c := &cobra.Command{
		Use: "models [SEARCH]…", Short: "List the models that can be used",
		ValidArgsFunction: modelValues(o),
		Long: `List the models of the providers that there is a key for, or that need none.
With words, those that every word fits; where none can be used, the others that
fit. Nothing is asked of any server unless --discover says so, and no hook is
run: /model also has the models of hooks.

The exit status is 1 if no model fits.`,
		RunE: func(cmd *cobra.Command, words []string) error { return listModels(cmd.Context(), *o, f, words) },
	}
	c.Flags().BoolVar(&f.all, "all", false, "every model of the catalogue, also without a key")
	c.Flags().BoolVar(&f.json, "json", false, "as JSON")
	c.Flags().BoolVar(&f.discover, "discover", false, "also ask the servers of the settings and of this machine what they have")
	c.AddCommand(modelsUpdate(o))
	return c
}

// listModels prints the models that the words and flags ask for. It fails if no model
// fits; notes about what is left out go to standard error.
func listModels(ctx context.Context, o app.Options, f modelsFlags, words []string) error {
	p, err := here(o)
	if err != nil {
		return err
	}
	tell(providers.Problems(p.Config, p.Keys)...)
	models := providers.New(p.Config, p.Keys, p.Catalogue.Models)
	models.Register(llm.ProviderSpec{Name: "demo", Models: llm.Listed(app.TourModel())})
	if f.discover {
		if err := provider.CheckProxies(os.Getenv); err != nil {
			return app.UsageError{Err: err}
		}
		tell(unanswered(models.Discover(ctx, discoverTime))...)
	}
	states := providers.States(p.Config, p.Keys)
	var all []listedModel
	for _, m := range models.All() {
		all = append(all, newListed(m, states[m.Provider]))
	}
	found := search(all, words)
	shown := found
	if !f.all {
		shown = usable(found, len(words) > 0)
	}
	if f.json {
		err = printJSON(shown)
	} else {
		err = printModels(os.Stdout, shown)
	}
	if err == nil && len(shown) == 0 {
		err = app.ErrReported
	}
	if len(words) == 0 && !f.all && !f.json && !f.discover {
		tell(providers.Unused(p.Config, p.Keys)...)
		tell(ageOf(p.Catalogue.Date(), time.Now())...)
	}
	tell(notShown(words, all, found, shown)...)
	if problem := p.Catalogue.Problem(); problem != nil {
		tell("pi: " + problem.Error())
	}
	return err
}

// ageOf returns a line for the user about a list of models that is old.
func ageOf(list, now time.Time) []string {
	const day, old = 24 * time.Hour, 60
	days := int(now.Sub(list) / day)
	if days <= old {
		return nil
	}
	return []string{fmt.Sprintf("the list of models is %d days old; pi models update fetches a newer one", days)}
}

// discoverTime is how long servers may take to say what they have: the ports of
// this machine answer at once or never.
const discoverTime = 3 * time.Second

// unanswered turns the errors of asking servers for their models into lines for the
// user, with the next step below each. A local server of the catalogue, such as Ollama,
// that refused the connection at its usual port is probably not installed: all of those
// share one line at the end.
func unanswered(problems []error) []string {
	var lines, silent []string
	for _, err := range problems {
		known := catalogue.Provider{}
		pe, ok := errors.AsType[*llm.ProviderError](err)
		if ok {
			known, _ = catalogue.Find(pe.Provider)
		}
		if known.Local && errors.Is(err, syscall.ECONNREFUSED) && strings.Contains(err.Error(), portOf(known.BaseURL)) {
			silent = append(silent, known.Name+" "+portOf(known.BaseURL))
			continue
		}
		lines = append(lines, err.Error())
		if ok && pe.NextStep != "" {
			lines = append(lines, "    "+pe.NextStep)
		}
	}
	if len(silent) > 0 {
		slices.Sort(silent)
		lines = append(lines, "nothing answers at the usual ports of this machine: "+strings.Join(silent, ", "))
	}
	return lines
}

// portOf returns the port of a URL with its colon, such as ":8080".
func portOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return ":" + u.Port()
}

// usable returns the models that can be used. If there are none and others is true, it
// returns all.
func usable(models []listedModel, others bool) []listedModel {
	can := []listedModel{} // in JSON a list also when it is empty
	for _, m := range models {
		if m.Usable {
			can = append(can, m)
		}
	}
	if len(can) == 0 && others {
		return models
	}
	return can
}

// notShown returns lines for the user about models that are not listed, and how to have
// them listed. all are the models there are, found those that the words fit, shown those
// that were printed.
func notShown(words []string, all, found, shown []listedModel) []string {
	var lines []string
	if len(shown) == 0 {
		return []string{fmt.Sprintf("no model matches %q; pi models --all lists every one", strings.Join(words, " "))}
	}
	if !slices.ContainsFunc(all, func(m listedModel) bool { return m.Usable && m.API != "lua" }) {
		lines = append(lines, "no key is set: export the variable of a provider, such as ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY,",
			"or describe a server in config.toml. "+app.TourModel().Ref()+", a script inside pi, needs none.")
	}
	if more := len(found) - len(shown); more > 0 {
		lines = append(lines, printable.Count(more, "more model")+" of providers without a key; --all lists them")
	}
	return lines
}
