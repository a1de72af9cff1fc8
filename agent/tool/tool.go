// Package tool has the core tools of the agent: read, bash, edit, write,
// grep, find and ls.
//
// [All] builds them for one working directory. They have this in common:
//
//   - A path is relative to the working directory; ~ is the home directory and
//     a leading @ is dropped, unless a file of that name exists.
//   - With [Options.Confine], a path that leads out of the working directory,
//     symlinks followed, is refused with the real path it led to.
//   - A text for the model ends at 2000 lines or 50 KiB, in whole lines, and a
//     notice names the rest and how to get it.
//   - A returned error is addressed to the model: what was being done to what,
//     why it failed, what to try next.
//   - Everything stops when its context does, and everything may run at once:
//     changes of one file wait for each other.
//   - A file that has changed since the model last read, wrote or edited it in this
//     session is not replaced by write; edit says so.
//   - With [Options.Files], text below the working directory is read and written by a
//     front end, such as an editor, in place of the disk.
//
// Each tool has a Go file and, beside it, a text file that describes it to the
// model: the first line is its line in the system prompt, the rest its
// description, and the list at the end its guidelines.
//
// [RunShell] is the part of bash that a user's own command needs too.
package tool

import (
	"context"
	"encoding/json"
	"fmt"

	"pi/agent"
	"pi/agent/llm"
)

// All returns the core tools: read, bash, edit, write, grep, find, ls. They
// know of each other's changes, so one set serves a whole program.
func All(o Options) []agent.Tool {
	k := newKit(o)
	return []agent.Tool{
		&tool[readArgs]{"read", readText, readSchema, looks("read"), k.read},
		&tool[bashArgs]{"bash", bashText, bashSchema, agent.Annotations{Destructive: true, OpenWorld: true, Kind: "execute"}, k.bash},
		&tool[editArgs]{"edit", editText, editSchema, agent.Annotations{Destructive: true, Kind: "edit"}, k.edit},
		&tool[writeArgs]{"write", writeText, writeSchema, agent.Annotations{Destructive: true, Kind: "edit"}, k.write},
		&tool[grepArgs]{"grep", grepText, grepSchema, looks("search"), k.grep},
		&tool[findArgs]{"find", findText, findSchema, looks("search"), k.find},
		&tool[lsArgs]{"ls", lsText, lsSchema, looks("read"), k.ls},
	}
}

// looks are the annotations of a tool that changes nothing.
func looks(kind string) agent.Annotations { return agent.Annotations{ReadOnly: true, Kind: kind} }

// tool is one of them: run is called with the arguments of a call, decoded. Tools are
// pointers, which can be compared.
type tool[A any] struct {
	name, text, schema string
	annotations        agent.Annotations
	run                func(ctx context.Context, args A, update agent.Update) (agent.Result, error)
}

func (t *tool[A]) Spec() llm.ToolSpec { return spec(t.name, t.text, t.schema) }

// Annotations says what the tool does.
func (t *tool[A]) Annotations() agent.Annotations { return t.annotations }

// Run decodes the arguments of a call and runs the tool. An error is for the model to
// read.
func (t *tool[A]) Run(ctx context.Context, input json.RawMessage, update agent.Update) (agent.Result, error) {
	var args A
	if err := json.Unmarshal(input, &args); err != nil {
		return agent.Result{}, fmt.Errorf("%s: the arguments cannot be read: %w", t.name, err)
	}
	return t.run(ctx, args, update)
}
