package text

import (
	"slices"
	"strings"

	"pi/internal/suggest"
	"pi/stdlib/annotated"
	"pi/stdlib/compat"
)

// system is a module for hooks of another program, as types. What its functions take is not
// checked: that is for the module to say.
type system struct {
	module   string
	about    compat.About
	ctx      *annotated.Type
	handlers map[string]*annotated.Func // how handlers are called, by their event
}

// systems are the modules for hooks of other programs, and what finds them.
type systems struct {
	byModule map[string]*system
	byOn     map[*annotated.Func]*system  // by the function that listens
	results  map[string]string            // the event of ours that a class is the result of
	absent   map[string]map[string]string // names without a counterpart with what is used instead, by class
	ported   map[*annotated.Func]bool     // functions of the modules
}

func newSystems() *systems {
	return &systems{map[string]*system{}, map[*annotated.Func]*system{}, map[string]string{}, map[string]map[string]string{}, map[*annotated.Func]bool{}}
}

// add adds the types of all modules to those that are known.
func (all *systems) add(c *Checker) error {
	for _, module := range compat.Names() {
		about, err := compat.Describe(module)
		if err != nil {
			return err
		}
		all.addOne(c, module, about)
	}
	return nil
}

func (all *systems) addOne(c *Checker, module string, about compat.About) {
	sys := &system{module: module, about: about, ctx: named(module + ".Context"), handlers: map[string]*annotated.Func{}}
	object := &annotated.Class{Name: module, Parent: "pi", Members: all.object(c, module, about)}
	ui := &annotated.Class{Name: module + ".UI", Parent: "pi.UI", Members: all.changed(c, "pi.UI", about.UI)}
	ctx := &annotated.Class{Name: module + ".Context", Parent: "pi.CommandContext", Members: all.changed(c, "pi.CommandContext", about.Context)}
	ctx.Members = append([]*annotated.Member{{Name: "ui", Type: named(ui.Name)}}, ctx.Members...)
	complete := &annotated.Func{Name: "llm.complete", Variadic: true}
	ai := &annotated.Class{Name: module + ".AI", Open: true, Members: []*annotated.Member{{Name: "complete", Type: calling(complete)}}}
	classes := []*annotated.Class{object, ui, ctx, ai}
	for _, e := range about.Events {
		event, result := portedEvent(c, module, e)
		handler := &annotated.Func{Params: []annotated.Param{{Name: "event", Type: named(event.Name)}, {Name: "ctx", Type: sys.ctx}}}
		if result != nil {
			handler.Returns = []*annotated.Type{named(result.Name)}
			all.results[result.Name] = e.Ours
			classes = append(classes, result)
		}
		sys.handlers[e.Name] = handler
		classes = append(classes, event)
	}
	for _, event := range eventsOf(c) {
		if ours := handlerOf(c, event); sys.handlers[event] == nil && about.NoEvents[event] == "" && len(ours.Params) > 1 {
			passing := &annotated.Func{Params: slices.Clone(ours.Params), Returns: ours.Returns} // as it is
			passing.Params[1].Type = sys.ctx
			sys.handlers[event] = passing
		}
	}
	all.absent[object.Name], all.absent[ctx.Name], all.absent[ui.Name] = about.NoMembers, about.NoContext, about.NoUI
	c.types = c.types.With(classes...)
	all.byModule[module] = sys
	all.byOn[c.types.Find(object, "on").Type.Fn] = sys
	main := &annotated.Func{Params: []annotated.Param{{Name: "pi", Type: named(module)}}}
	c.mains[main] = true
	c.types.Find(object, "hook").Type.Fn.Params = []annotated.Param{{Type: calling(main)}}
}

func named(class string) *annotated.Type {
	return &annotated.Type{Kind: annotated.Named, Name: class}
}

func calling(fn *annotated.Func) *annotated.Type {
	return &annotated.Type{Kind: annotated.Function, Name: fn.Name, Fn: fn}
}

// object lists what the object of a module has, with functions that take anything.
func (all *systems) object(c *Checker, module string, about compat.About) (members []*annotated.Member) {
	written := "pi."
	if module == "pi.compat.marvin" {
		written = "marvin."
	}
	for _, name := range about.Members {
		m := &annotated.Member{Name: name, Type: &annotated.Type{}}
		known := c.types.Find(c.types.Class(module), name)
		switch {
		case name == "ai":
			m.Type = named(module + ".AI")
		case known != nil && known.Type.Kind == annotated.Function && known.Type.Fn != nil:
			fn := &annotated.Func{Name: written + name, Variadic: true, Returns: known.Type.Fn.Returns}
			all.ported[fn] = true
			m.Type = calling(fn)
		}
		members = append(members, m)
	}
	return members
}

// changed lists what a module has in the place of a table of ours: a function that ours has too
// is called as ours and takes anything, of others nothing is known.
func (all *systems) changed(c *Checker, class string, names []string) (members []*annotated.Member) {
	for _, name := range names {
		m := &annotated.Member{Name: name, Type: &annotated.Type{}}
		ours := c.types.Find(c.types.Class(class), name)
		if ours != nil && ours.Type.Kind == annotated.Function && ours.Type.Fn != nil {
			fn := &annotated.Func{Name: ours.Type.Fn.Name, Variadic: true}
			all.ported[fn] = true
			m.Type = calling(fn)
		}
		members = append(members, m)
	}
	return members
}

// portedEvent makes the class of an event of a module, and that of its result; nil: nothing is
// known of that. Which fields have another shape than ours the module does not tell, so of none
// more is known than its name.
func portedEvent(c *Checker, module string, e compat.Event) (event, result *annotated.Class) {
	ours, answer := c.types.Event(e.Ours)
	event = &annotated.Class{Name: module + "." + e.Name + "Event", Open: ours == nil || c.types.IsOpen(ours)}
	event.Members = append(event.Members, &annotated.Member{Name: "type", Type: &annotated.Type{Kind: annotated.Literal, Name: e.Name}})
	for _, name := range slices.Concat(e.Fields, c.types.Names(ours)) {
		event.Members = append(event.Members, &annotated.Member{Name: name, Optional: true, Type: &annotated.Type{}})
	}
	if answer == nil || len(e.Results) == 0 {
		return event, nil
	}
	result = &annotated.Class{Name: module + "." + e.Name + "Result", Open: c.types.IsOpen(answer)}
	for _, name := range slices.Concat(e.Results, c.types.Names(answer)) {
		if c.types.Find(result, name) == nil {
			result.Members = append(result.Members, &annotated.Member{Name: name, Optional: true, Type: &annotated.Type{}})
		}
	}
	return event, result
}

// handler is how the handlers of an event of a module are called; problem is said of an event that
// it does not have.
func (sys *system) handler(w *walk, event string) (fn *annotated.Func, problem string) {
	if fn := sys.handlers[event]; fn != nil {
		return fn, ""
	}
	if instead := sys.about.NoEvents[event]; instead != "" {
		return nil, "on: " + sys.module + " has no event " + event + "; " + instead
	}
	if strings.Contains(event, ":") {
		return nil, ""
	}
	var known []string
	for _, e := range sys.about.Events {
		known = append(known, e.Name)
	}
	if hint := suggest.Hint(event, known); hint != "" {
		return nil, "on: unknown event \"" + event + "\"" + hint
	}
	return nil, "on: " + UnknownEvent(event, eventsOf(w.check), w.check.names.Modules("event", event))
}

// ours is what an event of a module is called here.
func (sys *system) ours(event string) string {
	for _, e := range sys.about.Events {
		if e.Name == event {
			return e.Ours
		}
	}
	return event
}
