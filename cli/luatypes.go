package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"pi/cli/config"
	"pi/internal/printable"
	"pi/internal/safefile"
	"pi/stdlib"

	"github.com/spf13/cobra"
)

// An editor with the Lua language server completes and checks hooks when it
// finds two things: the annotations, and a .luarc.json in the directory it was
// opened in that says where they are. `pi hooks types` writes both. The
// annotations are the program's and are written over; the .luarc.json is the
// user's from the moment it exists.

const hooksTypesHelp = `Write the annotations that let an editor with the Lua language server complete,
explain and check hooks, and a .luarc.json that names them.

DIR is what the editor is opened in: a project, or (without DIR) the agent
directory. The annotations go to DIR/.pi/types, or to types in the agent
directory. A .luarc.json that is there already is left as it is.`

func hooksTypes() *cobra.Command {
	return &cobra.Command{
		Use: "types [DIR]", Short: "Write annotations and a .luarc.json, so that an editor knows hooks", Long: hooksTypesHelp,
		ValidArgsFunction: firstOnly(folders),
		Args:              usageOf(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			agentDir, err := config.AgentDir(os.Getenv)
			if err != nil {
				return err
			}
			dir := agentDir
			if len(args) == 1 {
				dir = args[0]
			}
			return writeTypes(cmd.OutOrStdout(), dir, agentDir)
		},
	}
}

// writeTypes writes the files by which an editor opened in dir knows the functions of
// hooks: annotations, and settings of the language server.
func writeTypes(out io.Writer, dir, agentDir string) error {
	library := ".pi/types"
	if sameDir(dir, agentDir) {
		library = "types"
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return fmt.Errorf("write annotations: %w", err)
		}
	} else if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return fmt.Errorf("write annotations: %s is no directory", printable.Short(dir))
	}
	to := filepath.Join(dir, filepath.FromSlash(library))
	n, err := writeAnnotations(to)
	if err != nil {
		return fmt.Errorf("write annotations: %w", err)
	}
	fmt.Fprintf(out, "%d files in %s\n", n, printable.Short(to))
	return writeLuarc(out, filepath.Join(dir, ".luarc.json"), library)
}

func sameDir(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	if errX == nil && errY == nil {
		return os.SameFile(x, y)
	}
	return filepath.Clean(a) == filepath.Clean(b)
}

// annotationMark begins each file of annotations; what does not begin so is not
// ours.
const annotationMark = "---@meta"

// writeAnnotations writes the annotations into dir, and removes those of an
// older version that this one does not have. It returns how many there are.
func writeAnnotations(dir string) (int, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return 0, err
	}
	ours := stdlib.Annotations()
	names, err := fs.Glob(ours, "*.lua")
	if err != nil {
		return 0, err
	}
	if err := removeOld(dir, ours); err != nil {
		return 0, err
	}
	for _, name := range names {
		text, err := fs.ReadFile(ours, name)
		if err != nil {
			return 0, err
		}
		if err := safefile.Replace(filepath.Join(dir, name), text, false); err != nil {
			return 0, err
		}
	}
	return len(names), nil
}

// removeOld removes the annotations in dir that an older version wrote and ours no longer
// has. Files without our mark stay.
func removeOld(dir string, ours fs.FS) error {
	have, err := filepath.Glob(filepath.Join(dir, "*.lua"))
	if err != nil {
		return err
	}
	for _, file := range have {
		if _, err := fs.Stat(ours, path.Base(filepath.ToSlash(file))); err == nil {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil || !strings.HasPrefix(string(text), annotationMark) {
			continue
		}
		if err := os.Remove(file); err != nil {
			return err
		}
	}
	return nil
}

// luarc are settings of the language server, in the order of the file.
type luarc struct {
	Schema          string            `json:"$schema"`
	Version         string            `json:"runtime.version"`
	Builtin         map[string]string `json:"runtime.builtin"`
	Path            []string          `json:"runtime.path"`
	Library         []string          `json:"workspace.library"`
	CheckThirdParty bool              `json:"workspace.checkThirdParty"`
	Globals         []string          `json:"diagnostics.globals"`
}

// writeLuarc writes the settings of the language server, with the annotations in the folder
// library, unless the file exists: then see adviseLuarc.
func writeLuarc(out io.Writer, file, library string) error {
	text, err := json.MarshalIndent(luarc{
		Schema:  "https://raw.githubusercontent.com/LuaLS/vscode-lua/master/setting/schema.json",
		Version: "Lua 5.1",
		Builtin: map[string]string{"io": "disable", "package": "disable"},
		Path:    []string{"?.lua", "?/init.lua", "lib/?.lua"},
		Library: []string{library},
		Globals: []string{"pi"},
	}, "", "  ")
	if err != nil {
		return fmt.Errorf("write %s: %w", printable.Short(file), err)
	}
	text = append(text, '\n')
	if _, err := os.Lstat(file); err == nil {
		return adviseLuarc(out, file, library, text)
	}
	if err := safefile.Create(file, text); err != nil {
		return fmt.Errorf("write the settings of the language server: %w", err)
	}
	fmt.Fprintln(out, printable.Short(file))
	return nil
}

// adviseLuarc is for a settings file that exists, which is never changed. If it does not
// name the library, the error says what the user has to add. It is not parsed, for it
// may have comments and nested or dotted keys.
func adviseLuarc(out io.Writer, file, library string, text []byte) error {
	have, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("read the settings of the language server: %w", err)
	}
	if strings.Contains(string(have), `"`+library+`"`) {
		fmt.Fprintf(out, "%s stays as it is\n", printable.Short(file))
		return nil
	}
	return fmt.Errorf("%s is yours and stays as it is\nadd to it:\n%s", printable.Short(file), text)
}
