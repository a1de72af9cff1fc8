package markdown

import (
	"slices"
	"strings"
)

// language is what the lexer knows of one.
type language struct {
	names    string // as blocks of code name it
	keywords string
	anyCase  bool
	spans    []span // the longer marks first
}

func findLanguage(name string) language {
	name = strings.ToLower(strings.Trim(name, "{}."))
	for _, l := range languages() {
		if name != "" && slices.Contains(strings.Fields(l.names), name) {
			return l
		}
	}
	return language{}
}

func toLineEnd(mark string) span { return span{begin: mark, style: styleComment} }

func comment(begin, end string) span {
	return span{begin: begin, end: end, style: styleComment, isLong: true}
}

func quoted(mark string) span {
	return span{begin: mark, end: mark, style: styleString, escapes: true}
}

func long(begin, end string) span {
	return span{begin: begin, end: end, style: styleString, isLong: true}
}

func languages() []language {
	braces := []span{toLineEnd("//"), comment("/*", "*/"), quoted(`"`), quoted(`'`)}
	script := []span{toLineEnd("//"), comment("/*", "*/"), quoted(`"`), quoted(`'`),
		{begin: "`", end: "`", style: styleString, escapes: true, isLong: true}}
	hash := []span{toLineEnd("#"), quoted(`"`), quoted(`'`)}
	return []language{
		{names: "go golang", spans: []span{toLineEnd("//"), comment("/*", "*/"), quoted(`"`), quoted(`'`), long("`", "`")},
			keywords: `break case chan const continue default defer else fallthrough for func go goto if import interface map
				package range return select struct switch type var nil true false iota`},
		{names: "c h cpp c++ cc hpp objc cs csharp c#", spans: braces,
			keywords: `auto bool break case catch char class const constexpr continue default delete do double else enum explicit
				extern false final float for foreach friend goto if inline int internal interface long namespace new null nullptr
				operator override private protected public readonly return short signed sizeof static string struct super switch
				template this throw true try typedef typename union unsigned using var virtual void volatile while async await`},
		{names: "java kotlin kt scala swift", spans: append([]span{{begin: `"""`, end: `"""`, style: styleString, isLong: true}}, braces...),
			keywords: `abstract assert boolean break byte case catch char class const continue default do double else enum extends
				extension false final finally float for fun func guard if implements import in int interface internal is let long
				native new nil null object open override package private protected protocol public return self short static
				struct super switch synchronized this throw throws trait true try type val var void volatile when where while`},
		{names: "js javascript jsx mjs ts typescript tsx", spans: script,
			keywords: `abstract any as async await boolean break case catch class const continue debugger declare default delete do
				else enum export extends false finally for from function get if implements import in instanceof interface keyof
				let namespace new null number of private protected public readonly return set static string super switch this
				throw true try type typeof undefined unknown var void while with yield`},
		{names: "rust rs", spans: []span{toLineEnd("//"), comment("/*", "*/"), {begin: `"`, end: `"`, style: styleString, escapes: true, isLong: true}},
			keywords: `as async await break const continue crate dyn else enum extern false fn for if impl in let loop match mod move
				mut pub ref return self Self static struct super trait true type unsafe use where while`},
		{names: "py python python3", spans: append([]span{long(`"""`, `"""`), long(`'''`, `'''`)}, hash...),
			keywords: `and as assert async await break case class continue def del elif else except False finally for from global if
				import in is lambda match None nonlocal not or pass raise return True try while with yield self`},
		{names: "rb ruby", spans: hash,
			keywords: `alias and begin break case class def defined do else elsif end ensure false for if in module next nil not or
				redo require rescue retry return self super then true undef unless until when while yield`},
		{names: "sh bash zsh shell console dockerfile make makefile", spans: []span{toLineEnd("#"), {begin: `"`, end: `"`, style: styleString, escapes: true, isLong: true}, long(`'`, `'`)},
			keywords: `case do done elif else esac exit export fi for function if in local return select set shift source then time
				trap unset until while FROM RUN COPY ADD ENV ARG WORKDIR ENTRYPOINT CMD`},
		{names: "lua", spans: []span{comment("--[[", "]]"), toLineEnd("--"), long("[[", "]]"), quoted(`"`), quoted(`'`)},
			keywords: `and break do else elseif end false for function goto if in local nil not or repeat return then true until while`},
		{names: "sql", anyCase: true, spans: []span{toLineEnd("--"), comment("/*", "*/"), long(`'`, `'`), quoted(`"`)},
			keywords: `add all alter and as asc begin between by case check column commit constraint create default delete desc
				distinct drop else end exists foreign from group having in index inner insert into is join key left like limit not
				null offset on or order outer primary references right rollback select set table then transaction union unique
				update values view when where with`},
		{names: "json jsonc json5", spans: []span{toLineEnd("//"), quoted(`"`)}, keywords: "true false null"},
		{names: "yaml yml toml ini conf", spans: hash, keywords: "true false null yes no on off"},
		{names: "php", spans: append([]span{toLineEnd("#")}, braces...),
			keywords: `abstract and array as break case catch class const continue default do echo else elseif extends false final
				fn for foreach function global if implements interface match namespace new null or private protected public
				require return static switch throw trait true try use var while yield`},
		{names: "html xml svg", spans: []span{comment("<!--", "-->"), quoted(`"`), quoted(`'`)}},
		{names: "css scss", spans: []span{comment("/*", "*/"), quoted(`"`), quoted(`'`)}, keywords: "important media import keyframes from to"},
	}
}
