//go:build unix

package e2e

import (
	"flag"
	"fmt"
	"go/ast"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"pi/docs"
	"pi/luahooks/event"
)

// update makes the tests of what is generated write what they would compare.
var update = flag.Bool("update", false, "write what is generated: tables of the guides, annotations of events")

const (
	eventsBegin = "<!-- events -->\n"
	eventsEnd   = "<!-- /events -->\n"
)

// eventTable is the table of events as the guide has it.
func eventTable(events []event.Info) string {
	var b strings.Builder
	b.WriteString("| event | | several handlers |\n|---|---|---|\n")
	for _, e := range events {
		kind := "tells"
		if e.Asking {
			kind = "asks"
		}
		fmt.Fprintf(&b, "| [`%s`](#%s) | %s | %s |\n", e.Name, e.Name, kind, inCell(e.Rule))
	}
	return b.String()
}

func TestTheReferenceOfTheGuideHasTheEventsOfTheProgram(t *testing.T) {
	generated(t, "docs/reference.md", eventsBegin, eventsEnd, eventTable(event.Infos()))
}

// generated compares what stands between two marks of a file, or without a second one behind
// the first, with what the program says, or writes it.
func generated(t *testing.T, path, begin, end, want string) {
	t.Helper()
	text := mustRead(t, inModule(path))
	head, rest, begins := strings.Cut(text, begin)
	have, tail, ends := rest, "", true
	if end != "" {
		have, tail, ends = strings.Cut(rest, end)
	}
	if !begins || !ends {
		t.Fatalf("%s has no place for it", path)
	}
	if *update {
		if err := os.WriteFile(inModule(path), []byte(head+begin+want+end+tail), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if have != want {
		t.Errorf("%s differs from the program; go test ./e2e -run 'Guide|Annotations' -update writes it", path)
	}
}

// asking is a command that sends something to a model.
var asking = regexp.MustCompile(`^(?:[^|]+\| )?(?:pi|go run \.)( .+)? (?:-p|--mode json) [^-].*`)

// commandsToTry are the commands of a guide that send something to a model, each with the
// section that it stands in.
func commandsToTry(guide string) (commands [][2]string) {
	spans := regexp.MustCompile("``([^\n]+?)``|`([^`\n]+)`")
	for section := range strings.SplitSeq(guide, "\n#") {
		fenced := false
		for line := range strings.Lines(section) {
			if strings.HasPrefix(line, "```") {
				fenced = !fenced
				continue
			}
			var code []string
			if fenced {
				line, _, _ := strings.Cut(strings.TrimSpace(line), "   ") // what it does stands behind
				line, _, _ = strings.Cut(line, "  ")
				code = append(code, line)
			} else {
				for _, span := range spans.FindAllStringSubmatch(line, -1) {
					code = append(code, span[1]+span[2])
				}
			}
			for _, c := range code {
				if asking.MatchString(c) {
					commands = append(commands, [2]string{c, section})
				}
			}
		}
	}
	return commands
}

// TestCommandsToTryWorkOnAFreshMachine: who follows a guide from its beginning has no key and
// no settings. A command that names its model runs just as it is written, with the hooks of
// the guide; where one needs a model of the reader's, its section says so, and what does
// instead.
func TestCommandsToTryWorkOnAFreshMachine(t *testing.T) {
	t.Parallel()
	guides, err := filepath.Glob(inModule("docs/*.md"))
	if err != nil {
		t.Fatal(err)
	}
	ran, named := 0, 0
	for _, guide := range append(guides, inModule("README.md")) {
		for _, try := range commandsToTry(mustRead(t, guide)) {
			command, section := try[0], try[1]
			if strings.Contains(command, " --model ") {
				ran++
				runsFresh(t, command)
				continue
			}
			named++
			if !strings.Contains(section, " key") || !strings.Contains(section, "`--model demo/tour`") {
				t.Errorf("%s: %s needs a model, and its section does not say so", filepath.Base(guide), command)
			}
		}
	}
	if ran < 6 || named < 4 {
		t.Errorf("only %d commands ran, and %d were looked at", ran, named)
	}
}

// runsFresh runs a command of a guide in a new home, with the hooks that the guide has made.
func runsFresh(t *testing.T, command string) {
	t.Helper()
	w := newWorld(t)
	if err := os.Remove(w.agentFile("config.toml")); err != nil {
		t.Fatal(err)
	}
	for name, code := range guideHooks(t) {
		w.write(w.agentFile("hooks/"+name+".lua"), code)
	}
	w.git("init", "-q")
	bin := shortTempDir(t)
	if err := os.Symlink(piCommand(t), filepath.Join(bin, "pi")); err != nil {
		t.Fatal(err)
	}
	line, _, _ := strings.Cut(strings.Replace(command, "go run .", "pi", 1), " | jq ") // which not every machine has
	run := exec.Command("sh", "-c", line)
	run.Dir, run.Env = w.project, append(w.command().Env, "PATH="+bin+":"+os.Getenv("PATH"))
	if out, err := run.CombinedOutput(); err != nil || strings.Contains(string(out), "error:") {
		t.Errorf("%s: %v\n%s", command, err, out)
	}
}

// anchorOf is what a link to a heading ends with.
func anchorOf(heading string) string {
	kept := regexp.MustCompile(`[^\p{L}\p{N}_\- ]`).ReplaceAllString(strings.ToLower(heading), "")
	return strings.ReplaceAll(strings.TrimSpace(kept), " ", "-")
}

func TestEveryLinkOfTheDocumentsLeadsSomewhere(t *testing.T) {
	guides, err := docs.Guides()
	if err != nil {
		t.Fatal(err)
	}
	anchors, pages := map[string]bool{}, map[string]string{"README.md": mustRead(t, inModule("README.md")), "docs/README.md": mustRead(t, inModule("docs/README.md"))}
	for _, g := range guides {
		pages["docs/"+g.Name+".md"] = g.Text()
		for _, section := range g.Sections() {
			anchors["docs/"+g.Name+".md#"+anchorOf(section.Title)] = true
		}
	}
	seen := 0
	for page, text := range pages {
		for _, link := range regexp.MustCompile(`\]\(([^)\s]+)\)`).FindAllStringSubmatch(text, -1) {
			if strings.Contains(link[1], "://") {
				continue
			}
			seen++
			file, anchor, inside := strings.Cut(link[1], "#")
			to := path.Join(path.Dir(page), file)
			if file == "" {
				to = page
			}
			if _, err := os.Stat(inModule(to)); err != nil && !isAwaited(t, to) {
				t.Errorf("%s: %s leads nowhere: %v", page, link[1], err)
			} else if inside && !anchors[to+"#"+anchor] {
				t.Errorf("%s: %s has no such heading", page, link[1])
			}
		}
	}
	if seen < 200 {
		t.Errorf("only %d links were followed", seen)
	}
}

// TestEveryEventOfTheGuideIsMadeSomewhere looks for the code that makes each
// event: a literal of its struct in agent, where also constructors are.
func TestEveryEventOfTheGuideIsMadeSomewhere(t *testing.T) {
	made := map[string]bool{}
	eachGoFile(t, func(name string, file *ast.File) {
		if strings.HasSuffix(name, "_test.go") {
			return
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if literal, ok := n.(*ast.CompositeLit); ok {
				switch of := literal.Type.(type) {
				case *ast.Ident:
					made[file.Name.Name+"."+strings.ToLower(of.Name)] = true
				case *ast.SelectorExpr:
					if room, ok := of.X.(*ast.Ident); ok {
						made[room.Name+"."+strings.ToLower(of.Sel.Name)] = true
					}
				}
			}
			return true
		})
	})
	for _, e := range event.Infos() {
		name := strings.NewReplacer("auto_compaction", "compaction", "hook_error", "hook_failed", "shell", "shell_command").Replace(e.Name) // the struct
		if !made["agent."+strings.ReplaceAll(name, "_", "")] {
			t.Errorf("nothing makes %s", e.Name)
		}
	}
}

// sourceOf is the code of some packages, without tests.
func sourceOf(t *testing.T, dirs ...string) string {
	t.Helper()
	var b strings.Builder
	for _, dir := range dirs {
		files, err := filepath.Glob(filepath.Join(inModule(dir), "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if !strings.HasSuffix(file, "_test.go") {
				b.WriteString(mustRead(t, file))
			}
		}
	}
	return b.String()
}
