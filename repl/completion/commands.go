package completion

import (
	"slices"
	"strings"

	"pi/agent/command"
)

// command completes the name of a command or an argument of one.
func (c *Completer) command(before string) Result {
	if !strings.HasPrefix(before, "/") || c.Commands == nil {
		return Result{}
	}
	end := strings.IndexFunc(before, isBlank)
	if end < 0 {
		return c.commandNames(before)
	}
	for _, known := range c.Commands() {
		if known.Name == before[1:end] || slices.Contains(known.Aliases, before[1:end]) {
			return arguments(known, before, end)
		}
	}
	return Result{}
}

// commandNames completes a name, or an alias if it was begun. What has a second slash or a
// dot is a path, and no command.
func (c *Completer) commandNames(before string) Result {
	typed := before[1:]
	if strings.ContainsAny(typed, "/.") {
		return Result{}
	}
	var items, aliases []Item
	for _, known := range c.Commands() {
		items = append(items, Item{Value: "/" + known.Name, Description: known.Help, Append: " "})
		for _, alias := range known.Aliases {
			if typed != "" && strings.HasPrefix(alias, strings.ToLower(typed)) {
				aliases = append(aliases, Item{Value: "/" + alias, Description: "/" + known.Name + ": " + known.Help, Append: " "})
			}
		}
	}
	return Result{Start: 0, End: len(before), Typed: before, Items: rank(append(items, aliases...), "/", typed)}
}

// arguments completes an argument. A candidate may replace all arguments or the last word
// of them. The command is also asked for what the last word can be at all, since it may
// know only beginnings, and what is typed may be from the middle.
func arguments(known command.Command, before string, end int) Result {
	if known.Complete == nil {
		return Result{}
	}
	start := end + len(before[end:]) - len(strings.TrimLeftFunc(before[end:], isBlank))
	args := before[start:]
	last := lastWord(args)
	candidates := known.Complete(args)
	if head := args[:last]; head != args {
		candidates = append(slices.Clone(candidates), known.Complete(head)...)
	}
	var whole, word []Item
	seen := map[string]bool{}
	for _, candidate := range candidates {
		if candidate == "" || seen[candidate] {
			continue
		}
		seen[candidate] = true
		whole = append(whole, argument(candidate))
		if last > 0 {
			word = append(word, argument(candidate))
		}
	}
	items := rank(whole, "", args)
	for _, item := range rank(word, "", args[last:]) {
		if !slices.Contains(items, item) {
			item.Value, item.Label = args[:last]+item.Value, item.Text()
			items = append(items, item)
		}
	}
	items = uniqueItems(items)
	for i, item := range items {
		if known.Describe != nil {
			items[i].Description = known.Describe(item.Text())
		}
	}
	return Result{Start: start, End: len(before), Typed: args[last:], Items: items}
}

// argument is the item of a candidate. One that ends in a blank or a slash says itself
// what follows.
func argument(candidate string) Item {
	if strings.HasSuffix(candidate, " ") || strings.HasSuffix(candidate, "/") {
		return Item{Value: candidate, Label: strings.TrimRight(candidate, " ")}
	}
	return Item{Value: candidate, Append: " "}
}

// uniqueItems drops items with a value that one before them has, and those beyond the most
// there may be.
func uniqueItems(items []Item) []Item {
	seen := map[string]bool{}
	unique := items[:0]
	for _, item := range items {
		if !seen[item.Value] {
			seen[item.Value] = true
			unique = append(unique, item)
		}
	}
	return unique[:min(len(unique), most)]
}
