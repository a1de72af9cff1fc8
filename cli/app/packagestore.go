package app

import (
	"context"
	"fmt"

	"pi/agent/tool"
	"pi/cli/packages"
	"pi/internal/printable"
)

// Packages are those of the agent directory.
func (p *Place) Packages() packages.Store {
	return packages.Store{AgentDir: p.AgentDir, Guard: p.Guard}
}

// Fetcher gets packages.
func (p *Place) Fetcher() packages.Fetcher { return packages.Fetcher{Watcher: p.Watcher} }

// Registered is what is registered without a package, and whose it is: tools and commands of the program, and of
// the hooks that a session here would load, as far as their text says so.
func (p *Place) Registered(without string) packages.There {
	there := packages.There{Tools: map[string]string{"mcp": "pi"}, Commands: map[string]string{"init": "pi", "review": "pi"}}
	for _, t := range tool.All(tool.Options{}) {
		there.Tools[t.Spec().Name] = "pi"
	}
	for _, name := range ReservedCommands() {
		there.Commands[name] = "pi"
	}
	for _, s := range p.Places().Discover(p.Guard).Sources {
		if s.Err == nil && s.Package != without {
			there.Add("hook "+printable.VisibleLine(s.Name), p.Guard.Read(s.Path).Code)
		}
	}
	return there
}

// AskShown asks a question about what was shown, to which Enter means No, as does the answer of nobody.
func (p User) AskShown(ctx context.Context, shown, question string) bool {
	fmt.Fprint(p.Out, shown)
	return p.confirm(ctx, question)
}
