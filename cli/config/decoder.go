package config

import (
	"fmt"
	"io/fs"
	"os"
	"reflect"
	"strconv"
)

// Problem is something wrong in a settings file, told to the user.
type Problem struct {
	File    string
	Line    int    // 0: the file as a whole
	Text    string // what is wrong, and what to do about it; contains no secret
	Warning bool   // worth a look; not a mistake that lost a setting
	Key     string // the setting that it concerns: "model", "providers.local"; "": the file as a whole
	Unread  bool   // nothing of the file is used
}

func (p Problem) String() string { return p.Where() + ": " + p.Text }

// Where returns the file of the problem, with its line if that is known.
func (p Problem) Where() string {
	if p.Line == 0 {
		return p.File
	}
	return fmt.Sprintf("%s:%d", p.File, p.Line)
}

// place is a settings file and what its values are relative to.
type place struct {
	file    string
	home    string
	project string // the project's directory, if it is the project's file
	inForce func(path string) (data []byte, ok bool)
}

// read returns the content of the file that is in force, which may be an older one than
// that on the disk, and the FileInfo from the disk; that is nil if the file is gone.
func (at place) read() ([]byte, fs.FileInfo, error) {
	if at.inForce != nil {
		if data, ok := at.inForce(at.file); ok {
			info, err := os.Stat(at.file)
			if err != nil {
				info = nil
			}
			return data, info, nil
		}
	}
	return ReadFile(at.file)
}

// decoder moves one parsed file into a Config, key by key: what does not fit is
// reported with its line and the rest goes on.
type decoder struct {
	place
	lines      lineIndex
	origins    Origins
	problems   []Problem
	unshown    int    // problems beyond maxProblems
	literalKey int    // line of the first key in plain text; 0: none
	concerns   string // the Key of problems that come up
	lost       string // why hooks or bounds of tools are not known; "" if they are
	lostTools  bool   // bounds of tools are among them
}

// maxProblems is how many problems of one file are told.
const maxProblems = 50

// target is where one key of the file goes.
type target struct {
	path string // as a user would write it: providers.local.models[0].id
	tag  reflect.StructTag
	dst  reflect.Value
}

// noteOrigin remembers from which file and line a setting came. The lists of a project
// have a name of their own, for they do not replace those of the user.
func (d *decoder) noteOrigin(t target) {
	key := t.path
	if d.project != "" && (key == "hooks" || key == "disable") {
		key = "project " + key
	}
	d.origins[key] = d.origin(t.path)
}

func (d *decoder) origin(path string) string { return d.file + ":" + strconv.Itoa(d.line(path)) }

func (d *decoder) line(path string) int { return max(d.lines[path], 1) }

func (d *decoder) report(line int, text string) { d.add(line, text, false) }

func (d *decoder) warn(line int, text string) { d.add(line, text, true) }

// add adds a problem to those of the file; beyond maxProblems they are only counted. An
// error in what a user says about hooks or tools is also remembered as lost, for it
// might have been a restriction.
func (d *decoder) add(line int, text string, warning bool) {
	if ofTools := d.concerns == toolsKey; (ofTools || d.concerns == hooksKey) && !warning && d.project == "" { // what a project may not set is no loss
		d.lost, d.lostTools = fmt.Sprintf("line %d: %s", line, text), d.lostTools || ofTools
	}
	if len(d.problems) >= maxProblems {
		d.unshown++
		return
	}
	d.problems = append(d.problems, Problem{File: d.file, Line: line, Text: text, Key: d.concerns, Warning: warning})
}

// Settings that may keep a tool from running: without them tools are shut.
const (
	hooksKey = "hooks"
	hookKey  = "hook" // the tables of single hooks, which are checked with the hook
	toolsKey = "tools"
)

// reject reports a value that breaks a rule, and which value stays in force instead,
// unless that is a secret.
func (d *decoder) reject(t target, text string) {
	if stays := formatValue(t.dst); !t.dst.IsZero() && t.tag.Get("secret") == "" {
		text += "; " + stays + " stays in force"
	}
	d.add(d.line(t.path), text, t.tag.Get("warn") != "")
}
