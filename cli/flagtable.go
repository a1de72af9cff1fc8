package cli

import (
	"fmt"
	"slices"
	"strings"

	"pi/agent/llm"
	"pi/cli/app"
	"pi/internal/suggest"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// The flags of a run stand in one table, of which everything that tells of them is made: --help
// and `pi flags`, pi(1), docs/flags.md (`go test ./cli -update` writes it), and what a shell
// completes. A further flag is a further row. What a subcommand has of its own, flags and
// arguments, stands in its cobra.Command, with the same consequences.

// flagSection is a chapter of the table.
type flagSection struct {
	title, about string
	flags        []flagRow
}

// flagRow is one flag.
type flagRow struct {
	name, short string
	also        []string // its further names, with their dashes
	to          any      // where its value goes: *bool, *string, *[]string, or a pflag.Value; nil: nowhere
	// text says what it does, in one line. A word in backquotes is what its value is called in
	// lists of flags; without one the flag is a switch.
	text   string
	more   string               // what the manual and docs/flags.md tell besides, in Markdown
	values cobra.CompletionFunc // what its value can be; nil: any text
	commas bool                 // the value of a list is several, with commas between
	// optional is for a value that may be left out.
	optional bool
	seldom   bool // --help leaves it to `pi flags`, so that it is one screen
	all      bool // subcommands have it too
}

// flagTable returns the flags of a run, which fill o and showVersion.
func flagTable(o *app.Options, showVersion *bool) []flagSection {
	return []flagSection{
		{title: "How pi speaks", flags: []flagRow{
			{name: "print", short: "p", to: &o.Print, text: "print the answer and leave; also when standard input is no terminal",
				more: "A terminal at standard error shows meanwhile what goes on."},
			{name: "mode", to: &o.Mode, values: among(app.Modes), text: "speak to a program in this `MODE`: " + strings.Join(app.Modes(), ", "),
				more: "`text` is `-p`; `json`: all that happens as records, one on each line; `rpc`: a program drives pi by commands on standard input ([RPC](rpc.md)); `acp`: an editor does, by the Agent Client Protocol ([editors](editors.md))."},
			{name: "output-schema", to: &o.Schema, text: "with -p and --mode json: the answer is JSON, in one line, that fits the JSON Schema in this `FILE`",
				more: "The schema is of an object. The model answers by a tool `final_answer` that has it, whatever other tools there are, and hooks see the call; it is not made to. Words in its place, or what does not fit, are one of three tries; then the status is 1, the reason stands on standard error, and standard output is empty. With `--mode json` the answer is `result.details` of the `tool_execution_end` of that tool."},
			{name: "no-client-files", to: &o.OwnFiles, seldom: true, text: "with --mode acp: read and write files on the disk, not through the editor"},
			{name: "color", to: choiceFlag{&o.Color, app.ColorChoices()}, values: among(app.ColorChoices), all: true, text: "`WHEN` lists and the terminal have colours: auto, always or never",
				more: "Without it the variables decide: with `NO_COLOR` nothing has colours, with `FORCE_COLOR` a list has them in a file or pipe too. The answer of `-p` and JSON never have."},
			{name: "plain", to: &o.Plain, all: true, text: "no colours, whatever else says so, and nothing but lines in the terminal"},
			{name: "version", short: "v", to: showVersion, text: "print the version and leave"},
		}},
		{title: "Model", flags: []flagRow{
			{name: "model", short: "m", to: &o.Model, values: modelValues(o), text: "the `MODEL` to ask: provider/id, an id or words of one, with :level for thinking"},
			{name: "provider", to: &o.Provider, values: providerValues(o), seldom: true, text: "the provider of the model, by `NAME`",
				more: "Without `--model` its default one, or that of the session if it is of this provider."},
			{name: "models", to: &o.Models, values: listOf(modelValues(o)), seldom: true, text: "what Ctrl+P goes through, `PATTERNS` with commas between", more: "An example: `anthropic/*,openai/gpt-6*:high`."},
			{name: "thinking", to: &o.Thinking, values: among(llm.ThinkingLevels), text: "think at this `LEVEL`: off, minimal, low, medium, high, xhigh or max"},
			{name: "mode-name", to: &o.ModeName, values: modeValues(o), text: "begin in this `MODE` of a hook; default for none",
				more: "It does not count which [mode](hooks.md#a-mode) the session was left in."},
			{name: "api-key", to: &o.APIKey, seldom: true, text: "use this `KEY` for the provider of the model, for this run"},
			{name: "login", to: &o.Login, seldom: true, text: "sign in to a provider in this terminal, or keep its key, and leave; editors start it"},
		}},
		{title: "Session", flags: sessionFlagRows(o)},
		{title: "Limits", flags: limitFlagRows(o)},
		{title: "Tools", flags: []flagRow{
			{name: "tools", short: "t", to: &o.Tools.Named, commas: true, values: toolValues(o), text: "the only tools, `NAMES` with commas between, those of hooks among them; or +NAME and -NAME",
				more: "`*` in a name fits anything; `+grep,-bash` changes the default."},
			{name: "exclude-tools", also: []string{"-xt"}, to: &o.Tools.Excluded, commas: true, values: toolValues(o), seldom: true, text: "not these tools, `NAMES` with commas between",
				more: "It does not count who brings them; what is not there is said."},
			{name: "no-tools", also: []string{"-nt"}, to: &o.Tools.None, text: "no tools, not even those of hooks"},
			{name: "no-builtin-tools", also: []string{"-nbt"}, to: &o.Tools.NoBuiltIn, seldom: true, text: "no tools but those of hooks, and those that --tools names"},
		}},
		{title: "Texts", flags: []flagRow{
			{name: "system-prompt", to: &o.Texts.SystemPrompt, seldom: true, text: "replace the system prompt by this `TEXT`"},
			{name: "append-system-prompt", to: &o.Texts.AppendPrompt, values: files, seldom: true, text: "add this `TEXT`, or what is in this file, to the system prompt; repeatable"},
			{name: "no-context-files", also: []string{"-nc"}, to: &o.Texts.NoContext, seldom: true, text: "read no AGENTS.md and CLAUDE.md"},
			{name: "skill", to: &o.Texts.Skills, seldom: true, text: "load one more skill, a `FILE` or folder; repeatable", more: "It comes before others of its name."},
			{name: "no-skills", also: []string{"-ns"}, to: &o.Texts.NoSkills, seldom: true, text: "no skills but those of --skill"},
			{name: "prompt-template", to: &o.Texts.Templates, seldom: true, text: "load one more prompt template, a `FILE` or folder; repeatable"},
			{name: "no-prompt-templates", also: []string{"-np"}, to: &o.Texts.NoTemplates, seldom: true, text: "no prompt templates but those of --prompt-template, and those inside the program"},
		}},
		{title: "Hooks", flags: []flagRow{
			{name: "hook", short: "e", also: []string{"--extension"}, to: &o.Hooks.Files, text: "load one more hook `FILE`; repeatable"},
			{name: "no-hooks", also: []string{"-ne", "--no-extensions"}, to: &o.Hooks.None, text: "load no hooks but those of --hook, and no skills or templates",
				more: "Skills and templates that flags name are loaded all the same."},
			{name: "approve", short: "a", also: []string{"--trust-project"}, to: &o.Hooks.Approve, text: "run this project's hooks and MCP servers in this run, and use its agents"},
			{name: "no-approve", also: []string{"-na"}, to: &o.Hooks.NoApprove, seldom: true, text: "do not run this project's hooks and MCP servers", more: "Nor are its agents, skills and templates used."},
			{name: "require-hooks", to: &o.Hooks.Require, seldom: true, text: "end with status 7 if a hook, an agent or an MCP server of this project is not approved"},
			{name: "no-mcp", to: &o.NoMCP, seldom: true, text: "no MCP servers but those that an editor hands over"},
		}},
		{title: "Accepted, without an effect", about: `Programs pass these that were made for others of this kind: ` + "`pi`" + ` has no themes, fetches nothing when it starts,
and says all there is to say. So may the variables PI_OFFLINE, PI_SKIP_VERSION_CHECK and PI_TELEMETRY be set.
`, flags: []flagRow{
			{name: "offline", seldom: true, text: nothing, more: "There: nothing is fetched at the start."},
			{name: "verbose", seldom: true, text: nothing, more: "There: the start says more."},
			{name: "theme", to: &[]string{}, seldom: true, text: nothing + ", with a `PATH`", more: "There: a theme is loaded."},
			{name: "use-theme", to: new(string), seldom: true, text: nothing + ", with a `NAME`", more: "There: a theme is used."},
			{name: "no-themes", seldom: true, text: nothing, more: "There: no themes are loaded."},
			{name: "tui-mode", to: new(string), seldom: true, text: nothing + ", with a `MODE`", more: "There: how the terminal is used."},
		}},
	}
}

// choiceFlag is a word out of some.
type choiceFlag struct {
	to    *string
	among []string
}

func (choiceFlag) String() string { return "" }
func (choiceFlag) Type() string   { return "choice" }

// Set stores a word, if it is one of them.
func (c choiceFlag) Set(value string) error {
	if !slices.Contains(c.among, value) {
		return fmt.Errorf("there is %s%s", strings.Join(c.among, ", "), suggest.Hint(value, c.among))
	}
	*c.to = value
	return nil
}

// nothing is what flags do that are only there because programs pass them.
const nothing = "accepted, changes nothing"

// addFlags gives root the flags of the table.
func addFlags(root *cobra.Command, table []flagSection) {
	root.Flags().SortFlags = false
	for _, section := range table {
		for _, row := range section.flags {
			addFlag(root, row)
		}
	}
}

// addFlag gives root the flag of a row.
func addFlag(root *cobra.Command, row flagRow) {
	f, text := root.Flags(), row.text
	if row.all {
		f = root.PersistentFlags()
	}
	if len(row.also) > 0 {
		text += " (" + strings.Join(row.also, ", ") + ")"
	}
	switch to := row.to.(type) {
	case nil:
		f.BoolP(row.name, row.short, false, text)
	case *bool:
		f.BoolVarP(to, row.name, row.short, *to, text)
	case *string:
		f.StringVarP(to, row.name, row.short, *to, text)
	case *[]string:
		if row.commas {
			f.StringSliceVarP(to, row.name, row.short, nil, text)
		} else {
			f.StringArrayVarP(to, row.name, row.short, nil, text)
		}
	case pflag.Value:
		f.VarP(to, row.name, row.short, text)
	default:
		panic(fmt.Sprintf("cli: the flag --%s has a %T for its value", row.name, to))
	}
	flag := f.Lookup(row.name)
	flag.Hidden = row.seldom
	if row.optional {
		flag.NoOptDefVal = bareValue
	}
	if row.values != nil {
		flagValues(root, row.name, row.values)
	}
}

// furtherNames maps the further names of flags to their first, all with their dashes.
func furtherNames(table []flagSection) map[string]string {
	first := map[string]string{}
	for _, section := range table {
		for _, row := range section.flags {
			for _, name := range row.also {
				first[name] = "--" + row.name
			}
		}
	}
	return first
}

// describeFlags writes the table in Markdown: a chapter for each section, a row for each flag.
func describeFlags(table []flagSection) string {
	var b strings.Builder
	for i, section := range table {
		if i > 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "## %s\n\n", section.title)
		if section.about != "" {
			b.WriteString(section.about + "\n")
		}
		b.WriteString("| flag | what it does |\n|---|---|\n")
		for _, row := range section.flags {
			fmt.Fprintf(&b, "| %s | %s |\n", strings.Join(row.names(), ", "), row.about())
		}
	}
	return b.String()
}

// names returns the names of the flag as code, with what its value is called behind the longest.
func (row flagRow) names() (names []string) {
	if row.short != "" {
		names = append(names, "`-"+row.short+"`")
	}
	long := "--" + row.name
	if _, value := row.told(); value != "" {
		long += " " + value
	}
	names = append(names, "`"+long+"`")
	for _, other := range row.also {
		names = append(names, "`"+other+"`")
	}
	return names
}

// told returns the text without the backquotes, and what the value is called, "" for a switch.
func (row flagRow) told() (text, value string) {
	before, rest, _ := strings.Cut(row.text, "`")
	value, after, ok := strings.Cut(rest, "`")
	if !ok {
		return row.text, ""
	}
	return before + value + after, value
}

// about is all that is told of the flag.
func (row flagRow) about() string {
	if row.more == "" {
		return row.text
	}
	return row.text + ". " + row.more
}
