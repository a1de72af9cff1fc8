package definitions

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"

	"pi/agent/llm"
	"pi/internal/frontmatter"
	"pi/internal/printable"
	"pi/internal/suggest"
)

const (
	mostBytes       = 256 << 10 // of a file
	mostName        = 32        // characters
	mostDescription = 1024
)

// The fields of a definition, by their names.
const (
	fieldName        = "name"
	fieldDescription = "description"
	fieldTools       = "tools"
	fieldModel       = "model"
	fieldThinking    = "thinking"
	fieldTurns       = "max_turns"
	fieldCost        = "max_cost"
)

// Of Claude Code, what means something here.
const (
	foreignWithout = "disallowedTools"
	foreignTurns   = "maxTurns"
	foreignInherit = "inherit" // as a model: that of the agent above
)

// fieldNames are the fields that a definition may have.
func fieldNames() []string {
	return []string{fieldName, fieldDescription, fieldTools, fieldModel, fieldThinking, fieldTurns, fieldCost}
}

// withoutEffect are fields of Claude Code that would change what an agent does.
func withoutEffect() []string {
	return []string{"permissionMode", "mcpServers", "hooks", "skills", "memory", "isolation", "background", "effort", "initialPrompt"}
}

// ignored are fields that change how an agent looks, and what people note beside it.
func ignored() []string {
	return []string{"color", "license", "version", "author", "tags", "metadata", "compatibility", "category"}
}

// reader reads one file.
type reader struct {
	file     File
	doc      frontmatter.Document
	checks   Checks
	problems []frontmatter.Problem
	err      error // the first that keeps it from being used
}

// read returns the definition in a file, and what is wrong with it. It has a name in any case.
func read(f File, checks Checks) (Definition, []frontmatter.Problem) {
	d := Definition{Name: nameOf(f.Path), Path: f.Path, Shown: f.Shown, From: f.From}
	if !isName(d.Name) { // a field may say another one; until then it is told which file this is
		d.Name = printable.Cut(printable.Line(d.Name), mostName)
	}
	if f.Err != nil {
		d.Err = f.Err
		return d, nil
	}
	if len(f.Text) > mostBytes {
		d.Err = frontmatter.Problem{Path: f.Shown, Text: fmt.Sprintf("it has more than %s", printable.Bytes(mostBytes))}
		return d, nil
	}
	r := reader{file: f, checks: checks, doc: frontmatter.Parse(strings.ToValidUTF8(f.Text, "\uFFFD"))}
	r.readHead(&d)
	if found := printable.HiddenIn(f.Text); found != "" {
		r.warn(0, "%s", found)
	}
	d.Role = strings.TrimSpace(r.doc.Body)
	d.Err = r.err
	return d, r.problems
}

func (r *reader) warn(line int, format string, args ...any) {
	r.problems = append(r.problems, frontmatter.Problem{Path: r.file.Shown, Line: line, Text: fmt.Sprintf(format, args...)})
}

// refuse notes what keeps the definition from being used.
func (r *reader) refuse(field, format string, args ...any) {
	at, _ := r.doc.Field(field)
	if r.err == nil {
		r.err = frontmatter.Problem{Path: r.file.Shown, Line: max(at.Line, 1), Text: field + ": " + fmt.Sprintf(format, args...)}
	}
}

// readHead fills d with what the fields say.
func (r *reader) readHead(d *Definition) {
	r.checkDamage()
	r.checkFields()
	r.readName(d)
	d.Description = printable.Line(r.doc.Text(fieldDescription))
	if at, _ := r.doc.Field(fieldDescription); len([]rune(d.Description)) > mostDescription {
		r.warn(at.Line, "the description is cut: it has more than %d characters", mostDescription)
		d.Description = printable.Cut(d.Description, mostDescription)
	}
	d.Description = cmp.Or(d.Description, firstLine(r.doc.Body))
	r.readTools(d)
	r.readModel(d)
	if d.Thinking = r.doc.Text(fieldThinking); d.Thinking != "" {
		if err := llm.CheckThinking(d.Thinking); err != nil {
			r.refuse(fieldThinking, "%v", err)
		}
	}
	r.readLimits(d)
}

// checkDamage warns of what cannot be read of the fields. Where that may have been a limit, the
// definition is not used: without it the agent could do more than its author meant.
func (r *reader) checkDamage() {
	if len(r.doc.Problems) == 0 {
		return
	}
	lines := strings.Split(strings.TrimPrefix(r.file.Text, "\uFEFF"), "\n")
	for _, p := range r.doc.Problems {
		r.warn(p.Line, "%s", p.Text)
		if r.err == nil && (len(r.doc.Fields) == 0 || r.isOfLimit(p.Line, lines[min(p.Line, len(lines))-1])) {
			r.err = frontmatter.Problem{Path: r.file.Shown, Line: p.Line, Text: p.Text + "; what this bounds is not known, so the agent is not used"}
		}
	}
}

// isOfLimit reports whether a line of the file begins a field that bounds what an agent may do,
// or belongs to the value of one.
func (r *reader) isOfLimit(line int, text string) bool {
	limits := []string{fieldTools, foreignWithout, fieldTurns, foreignTurns, fieldCost}
	text = strings.ToLower(strings.TrimSpace(text))
	for _, name := range limits {
		if strings.HasPrefix(text, strings.ToLower(name)) {
			return true
		}
	}
	behind := sort.Search(len(r.doc.Fields), func(i int) bool { return r.doc.Fields[i].Line > line })
	return behind > 0 && slices.Contains(limits, r.doc.Fields[behind-1].Name)
}

// checkFields warns of fields that mean nothing.
func (r *reader) checkFields() {
	for _, f := range r.doc.Fields {
		switch {
		case slices.Contains(fieldNames(), f.Name), slices.Contains(ignored(), f.Name), f.Name == foreignWithout, f.Name == foreignTurns:
		case slices.Contains(withoutEffect(), f.Name):
			r.warn(f.Line, "%s has no effect here", f.Name)
		default:
			r.warn(f.Line, "an agent has no field %q%s", f.Name, suggest.Hint(f.Name, fieldNames()))
		}
	}
}

// readName takes the name of the field, else that of the file.
func (r *reader) readName(d *Definition) {
	name := r.doc.Text(fieldName)
	switch {
	case name == "" && isName(d.Name):
	case name == "":
		r.refuse(fieldName, "%q is no name for an agent: %s", d.Name, namesAre)
	case isName(name):
		d.Name = name
	default:
		r.refuse(fieldName, "%q is no name for an agent: %s", printable.Cut(printable.Line(name), mostName), namesAre)
	}
}

const namesAre = "letters, digits, - and _, at most 32"

// isName reports whether an agent may be called so: it stands in a prompt, a list and a row.
func isName(name string) bool {
	if name == "" || len(name) > mostName || name[0] == '-' {
		return false
	}
	for _, c := range name {
		if c != '-' && c != '_' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			return false
		}
	}
	return true
}

// readModel takes the model, which has to be there.
func (r *reader) readModel(d *Definition) {
	d.Model = r.doc.Text(fieldModel)
	if d.Model == foreignInherit {
		d.Model = ""
	}
	if d.Model == "" || r.checks.Model == nil {
		return
	}
	if err := r.checks.Model(d.Model); err != nil {
		r.refuse(fieldModel, "%v", err)
	}
}

// readLimits takes the limits. One that cannot be read is not none.
func (r *reader) readLimits(d *Definition) {
	for _, name := range []string{foreignTurns, fieldTurns} {
		f, ok := r.doc.Field(name)
		if !ok {
			continue
		}
		n, err := strconv.Atoi(f.Text)
		if err != nil || n < 1 {
			r.refuse(name, "%q is no number of turns, 1 or more", printable.Line(f.Raw))
		}
		d.MaxTurns = n
	}
	if f, ok := r.doc.Field(fieldCost); ok {
		cost, err := readCost(f.Text)
		if err != nil {
			r.refuse(fieldCost, "%q is no number of dollars above 0", printable.Line(f.Raw))
		}
		d.MaxCost = cost
	}
}

var errNoCost = errors.New("no cost")

func readCost(text string) (float64, error) {
	cost, err := strconv.ParseFloat(strings.TrimPrefix(text, "$"), 64)
	if err != nil || !(cost > 0 && cost < 1e9) {
		return 0, errNoCost
	}
	return cost, nil
}

// firstLine returns the first line of a text that says something, short enough for a list.
func firstLine(text string) string {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(line), "#")); line != "" {
			return printable.FirstLine(line, 60)
		}
	}
	return ""
}
