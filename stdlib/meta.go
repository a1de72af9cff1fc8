package stdlib

import (
	"embed"
	"io/fs"
)

//go:embed meta/*.lua
var meta embed.FS

// Annotations are the Lua files that describe everything a hook can use to
// editors that understand LuaLS annotations, by file name. Nothing runs them.
func Annotations() fs.FS {
	sub, err := fs.Sub(meta, "meta")
	if err != nil {
		return meta // the name of an embedded directory is always valid
	}
	return sub
}
