package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"pi/agent"
	"pi/agent/attach"
	"pi/agent/prompts"
	"pi/internal/frontmatter"
	"pi/internal/printable"
	"pi/session/compaction"
	"pi/session/message"
)

// Prompts makes commands of skills and prompt templates. It may be used by any goroutine
// once its fields are set.
type Prompts struct {
	Library *prompts.Library
	UI      agent.UI
	Cwd     string
	// Attach finds what goes along with the arguments that a user typed. The text of a
	// template or a skill names no files: it may be a project's.
	Attach func(text string) attach.Found

	// Reserved reports whether a name is that of a command of any front end, so that a
	// template has it nowhere. nil: none is.
	Reserved func(name string) bool

	// More are further commands that become prompts, such as those of servers; nil: there are
	// none. Named returns one by a name that More may not know yet, if it can be one of these.
	More  func() []Command
	Named func(name string) (Command, bool)

	taken func(name string) bool // by another command; nil before there is a set

	mu   sync.Mutex
	told map[string]bool // problems
}

// skillPrefix is before the name of a skill in a command.
const skillPrefix = "skill:"

// Commands returns a command for each template and each skill that there is now. A
// template does not get the name of another command.
func (p *Prompts) Commands() []Command {
	templates, _ := p.templates()
	skills, _ := p.Library.Skills()
	all := make([]Command, 0, len(templates)+len(skills))
	for _, t := range templates {
		all = append(all, Command{Name: t.Name, Args: t.Hint, Help: t.Description, Origin: origin(t), From: provenance(t.Path, t.From),
			Run: func(ctx context.Context, args string) (Outcome, error) {
				if t.Path == "" && t.Name == "init" {
					if may, err := p.mayInit(ctx); !may || err != nil {
						return Outcome{Status: "AGENTS.md stays as it is"}, err
					}
				}
				text, err := t.Text(prompts.Arguments{Raw: args, Words: Words(args)})
				return p.prompt(ctx, text, args, err)
			}})
	}
	for _, s := range skills {
		all = append(all, Command{Name: skillPrefix + s.Name, Args: "[what to do]", Help: s.Description, Origin: "skill, " + s.From, Unlisted: true,
			From: provenance(s.Path, s.From),
			Run: func(ctx context.Context, args string) (Outcome, error) {
				text, err := s.Text(args)
				return p.prompt(ctx, text, args, err)
			}})
	}
	if p.More != nil {
		all = append(all, p.More()...)
	}
	return all
}

// provenance is where a template or a skill comes from, for programs.
func provenance(path, from string) Provenance {
	return Provenance{Path: path, OfProject: from == "project"}
}

// origin says where a template comes from, behind its help.
func origin(t prompts.Template) string {
	if t.Path == "" {
		return "template"
	}
	return "template, " + t.From
}

// templates returns the templates whose names no other command has, and what is wrong with
// the others.
func (p *Prompts) templates() (free []prompts.Template, problems []frontmatter.Problem) {
	all, problems := p.Library.Templates()
	for _, t := range all {
		switch {
		case (p.taken == nil || !p.taken(t.Name)) && (p.Reserved == nil || !p.Reserved(t.Name)):
			free = append(free, t)
		case t.Path != "":
			problems = append(problems, frontmatter.Problem{Path: t.Path, Text: fmt.Sprintf("another command is called /%s, so this template cannot be used; give it another name", t.Name)})
		}
	}
	return free, problems
}

// prompt is Send, unless err is not nil.
func (p *Prompts) prompt(ctx context.Context, text, args string, err error) (Outcome, error) {
	if err != nil {
		return Outcome{}, err
	}
	return p.Send(ctx, text, args), nil
}

// Send returns the outcome that sends text to the model, with what the arguments name, and
// behind it what else goes along.
func (p *Prompts) Send(ctx context.Context, text, args string, along ...message.Block) Outcome {
	sent := &agent.Prompt{Text: text, Literal: true, Source: cmp.Or(agent.SourceOf(ctx), "interactive")}
	sent.Origin, _ = agent.OriginOf(ctx)
	if p.Attach != nil {
		found := p.Attach(args)
		sent.Attachments = found.Blocks()
		p.tell(agent.LevelWarning, found.Problems...)
		if words := found.Words(); words != "" {
			p.tell(agent.LevelInfo, words)
		}
	}
	sent.Attachments = append(sent.Attachments, along...)
	return Outcome{Prompt: sent}
}

// mayInit reports whether AGENTS.md may be written. If there is one, the user is asked;
// where nobody can be asked, that is an error.
func (p *Prompts) mayInit(ctx context.Context) (bool, error) {
	_, err := os.Lstat(filepath.Join(p.Cwd, "AGENTS.md"))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return true, nil
	case !p.UI.HasUI():
		return false, agentsFileError{}
	}
	answer, err := p.UI.Confirm(ctx, "There is an AGENTS.md here. Have the model work it over?", "What is right in it stays; it may write the file anew.", agent.DialogOptions{})
	return answer != agent.No, err
}

// agentsFileError is the failure of /init where AGENTS.md is there and nobody can be asked.
type agentsFileError struct{}

func (agentsFileError) Error() string {
	return "AGENTS.md is there already, and nobody can be asked whether it may be changed"
}

// Hint is the next step.
func (agentsFileError) Hint() string {
	return `move it away first, or write what is to be changed in it: pi -p "bring AGENTS.md up to date"`
}

// SkillList returns the list of skills for the system prompt. What is wrong with skills
// and templates is told, each problem once.
func (p *Prompts) SkillList() string {
	skills, problems := p.Library.Skills()
	_, more := p.templates()
	for _, problem := range append(problems, more...) {
		if p.isNews(problem.Error()) {
			p.tell(agent.LevelWarning, problem.Error())
		}
	}
	return prompts.List(skills)
}

// isNews reports whether a text comes for the first time.
func (p *Prompts) isNews(text string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.told == nil {
		p.told = map[string]bool{}
	}
	was := p.told[text]
	p.told[text] = true
	return !was
}

// tell gives notices to the user.
func (p *Prompts) tell(level agent.Level, lines ...string) {
	for _, line := range lines {
		p.UI.Notify(line, level)
	}
}

// skillsCommand lists the skills.
func skillsCommand(p *Prompts) Command {
	return Command{
		Name: "skills", Topic: TopicModel, Help: "list the skills with their tokens; /skill:NAME follows one",
		More: "A skill is a folder with a SKILL.md that says how to do one kind of task. The model is told the name,\n" +
			"description and path of each, and reads the file when a task fits; /skill:NAME [what to do] sends it now.",
		Run: withoutArgument("skills", func(context.Context) (Outcome, error) { return Outcome{Status: p.skillTable()}, nil }),
	}
}

// skillTable lists the skills: their tokens in the system prompt, those of the whole text,
// where they were found, and what is wrong with those that do not count.
func (p *Prompts) skillTable() string {
	skills, problems := p.Library.Skills()
	_, more := p.templates()
	lines := []string{"no skills; a folder with a SKILL.md is one, in skills/ of the agent directory, ~/.agents/skills, .pi/skills, .agents/skills"}
	if len(skills) > 0 {
		rows := [][]string{{"skill", "listed", "whole", "from", ""}}
		for _, s := range skills {
			whole, err := s.Text("")
			if err != nil {
				problems = append(problems, frontmatter.Problem{Path: s.Path, Text: err.Error()})
			}
			rows = append(rows, []string{s.Name, tokens(prompts.Line(s)), tokens(whole), s.From, s.Description})
		}
		lines = append(columns(rows), fmt.Sprintf("the list has %s tokens in the system prompt, which is that of the first prompt of a session", tokens(prompts.List(skills))))
	}
	for _, problem := range append(problems, more...) {
		lines = append(lines, "! "+problem.Error())
	}
	return strings.Join(lines, "\n")
}

// tokens estimates the tokens of a text, for people.
func tokens(text string) string {
	m := message.Message{Role: message.RoleUser, Content: []message.Block{message.TextBlock(text)}}
	return strconv.Itoa(compaction.EstimateTokens(&m))
}

// columns lays rows out as lines. The second and third column are numbers; of the last as
// much is shown as a terminal of old has room for.
func columns(rows [][]string) (lines []string) {
	widths := [4]int{}
	for _, row := range rows {
		for i := range widths {
			widths[i] = max(widths[i], utf8.RuneCountInString(row[i]))
		}
	}
	for _, row := range rows {
		line := fmt.Sprintf("%-*s  %*s  %*s  %-*s  ", widths[0], row[0], widths[1], row[1], widths[2], row[2], widths[3], row[3])
		lines = append(lines, strings.TrimRight(line+printable.Cut(row[4], max(20, tableWidth-utf8.RuneCountInString(line))), " "))
	}
	return lines
}
