//go:build race

package luavm

const raceEnabled = true
