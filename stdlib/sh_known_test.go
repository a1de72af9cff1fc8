package stdlib

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// What an agent writes all day is read as it was before the list of what is understood.
// In the file a line is followed by its commands, as told has them; ⏎ is a newline.
func TestOrdinaryLinesStayKnown(t *testing.T) {
	file, err := os.ReadFile("testdata/ordinary_lines.txt")
	if err != nil {
		t.Fatal(err)
	}
	rows := strings.Split(strings.TrimSuffix(strings.ReplaceAll(string(file), "\n\t", "\t"), "\n"), "\n")
	if len(rows) < 200 {
		t.Fatalf("there are %d lines", len(rows))
	}
	for _, row := range rows {
		line, want, _ := strings.Cut(strings.ReplaceAll(row, "⏎", "\n"), "\t")
		if got := told(line); got != want {
			_, doubt, _ := readShell(line)
			t.Errorf("%s\ngave %s\nwant %s\n%v", line, got, want, doubt)
		}
	}
}

// evasions are lines for which bash runs the program m, though none is where they name it:
// each stands with a line of its kind that is understood.
var evasions = [][2]string{
	// Substitutions where the parser sees text.
	{`[[ a == @($(m)) ]]`, `[[ a == $(p) ]]`},
	{`[[ a == +(x|$(m)) ]]`, `[[ a == x* ]]`},
	{`[[ a == !(x"$(m)") ]]`, `[[ a == x"$(p)" ]] || [[ a != "$(p)" ]] || p`},
	{`[[ a =~ $(m) ]]`, `[[ a == b ]]`},
	{`[[ a =~ ($(m)) ]]`, `[[ a == $y ]]`},
	{"[[ a =~ x`m` ]]", `[[ a != "x" ]]`},
	{`[[ -n "${x:-'$(m)'}" ]]`, `[[ -n "$x" ]]`},
	{`[[ -n ${x:-$(m)} ]]`, `[[ -n ${x} ]]`},
	{"[[ -z \"${x-`m`}\" ]]", `[[ -z "$(p)" ]]`},
	{`case a in ${x:-$(m)}) ;; esac`, `case a in $x|*.go) ;; esac`},
	{`case "${x:-'$(m)'}" in *) ;; esac`, `case "$x" in *) ;; esac`},
	{`for i in "${x:-'$(m)'}"; do :; done`, `for i in "$x" *.go $(p); do :; done`},
	{`for i in ${x:+y}$((a[$(m)])); do :; done`, `for i in 1 2; do :; done`},
	{`for i in x$(m)y; do :; done`, `for i in "x$(p)y"; do :; done`},
	{`for i in <(m); do cd "$i"; done; wait`, `for i in "$(p)"; do :; done`},
	{"for i in `m`; do :; done", `for i in $(p); do :; done`},
	{`[[ -v 'a[$(m)]' ]]`, `[[ -n 'a[$(m)]' ]]`},

	// Arithmetic that computes what a name holds.
	{`x='a[$(m)]'; for i in $((x)); do :; done`, `x='a[$(m)]'; for i in $x; do :; done`},
	{`x='a[$(m)]'; for i in $[x]; do :; done`, `x=5; for i in 1 2; do :; done`},
	{`x='a[$(m)]'; for i in ${HOME:x}; do :; done`, `for i in ${HOME}; do :; done`},
	{`x='a[$(m)]'; [[ -n ${HOME:0:x} ]]`, `[[ -n ${HOME} ]]`},
	{`x='a[$(m)]'; [[ -n ${b[x]} ]]`, `[[ -n $b ]]`},
	{`x='a[$(m)]'; for i in {$,}[x]; do :; done`, `for i in {a,b} {1..3}; do :; done`},
	{`x='a[$(m)]'; for i in {$,}{HOME:x}; do :; done`, `for i in {a,}{b,c}; do :; done`},
	{`x='a[$(m)]'; ((x))`, `((1 + 2))`},
	{`x='a[$(m)]'; ((1 + x > 2))`, `(( 1 > 2 )) || p`},
	{`x='a[$(m)]'; [[ x -eq 1 ]]`, `[[ 2 -eq 1 ]] || p`},
	{`x='a[$(m)]'; let x`, `x='a[$(m)]'; echo x`},
	{`x='a[$(m)]'; \let x`, `x='a[$(m)]'; \echo x`},
	{`x='a[$(m)]'; command let x`, `command echo x`},
	{`x='a[$(m)]'; builtin let x`, `builtin echo x`},
	{`x='a[$(m)]'; b[x]=1`, `b=1`},
	{`x='a[$(m)]'; declare -i y=x`, `declare y=x`},
	{`x='a[$(m)]'; \declare -i y=x`, `\declare -x y=x`},
	{`x='a[$(m)]'; command declare -i y=x`, `command declare -r y=x`},
	{`x='a[$(m)]'; builtin typeset -ri y=x`, `builtin typeset -r y=x`},
	{`declare -n y='a[$(m)]'; [[ -n $y ]]`, `declare y='a[$(m)]'; [[ -n $y ]]`},
	{`x='a[$(m)]'; printf -v 'b[x]' y`, `printf 'b[x]' y`},
	{`printf -v 'b[$(m)]' y`, `printf '%s\n' 'b[$(m)]' y`},
	{`x='a[$(m)]'; \printf '-v' 'b[x]' y`, `\printf '%s' 'b[x]' y`},
	{`x='a[$(m)]'; read 'b[x]' <<< y`, `read -r b <<< y`},
	{`x='a[$(m)]'; b=1; unset 'b[x]'`, `b=1; unset b`},
	{`test -v 'a[$(m)]'`, `test -n 'a[$(m)]'`},
	{`\test -v 'a[$(m)]'`, `\test -n x`},
	{`x='a[$(m)]'; [ -v 'b[x]' ]`, `[ -n 'b[x]' ]`},
	{`x='a[$(m)]'; command [ ! -v 'b[x]' ]`, `command [ ! -n 'b[x]' ] || p`},
	{`RANDOM='a[$(m)]'`, `RANDOMLY='a[$(m)]'`},
	{`for OPTIND in 'a[$(m)]'; do :; done`, `for OPT in 'a[$(m)]'; do :; done`},
	{`declare -a 'b=($(m))'`, `declare 'b=x($(m))'`},
	{`mapfile -C m -c 1 b <<< x`, `mapfile -t b <<< x`},
	{`for ((i = 0; i < 1; i++)); do m2=$(m); break; done`, `for i in 1; do break; done`},

	// What decides which program a name is.
	{`export X=1 "PATH=/evil"; p`, `export "PATHS=/evil"; p`},
	{`export 'PATH=/evil'; p`, `export 'PATHS=/evil'; p`},
	{`\export PATH=/evil; p`, `\export PATHS=/evil; p`},
	{`command export 'PATH=/evil'; p`, `command export X=/evil; p`},
	{`declare -x "PATH"=/evil; p`, `declare -x "PATHS"=/evil; p`},
	{`readonly 'PATH=/evil'; p`, `readonly 'PATHS=/evil'; p`},
	{`printf -vPATH /evil; p`, `printf PATH /evil; p`},
	{`BASH_CMDS[p]=/evil/p; p`, `BASH_CMD=/evil/p; p`},
	{`set -k; p PATH=/evil`, `set -eu; p PATH=/evil`},
	{`bash -kc 'p PATH=/evil'`, `bash -ec 'p PATH=/evil'`},
	{`set -o keyword; p PATH=/evil`, `set -o pipefail; p PATH=/evil`},
	{`p() { builtin command -p /evil/m; }; p`, `p; p`},
	{`echo() (. /evil/script); echo`, `(echo); echo`},
	{`function p { . /evil/script; }; p`, `{ p; }; p`},
	{`jobs -x /evil/m`, `jobs -l`},
	{`time -- m`, `time -p p`},

	// Files with numbers, and what a shell reads.
	{"sh 3<<'A' <<'B' 0>&3\nm\nA\np\nB", "sh 3<<'A' <<'B' 1>&2\nm\nA\np\nB"},
	{"sh 3<<'A' <<'B' 00<&3\nm\nA\np\nB", "sh <<'B' 2>&1\np\nB"},
	{"cat <<E\nE\\\n\nm\nE", "cat <<E\nx\\\n\nm\nE"},
	{`sh -c '[[ a || m ]]'`, `bash -c '[[ a || b ]]'`},
	{`sh -c 'p $'"'"'\'"'"'; m; p '"'"'x'"'"`, `sh -c 'p x'`},

	// Others that are not followed.
	{`coproc m; wait`, `p & wait`},
	{`select i in a; do m; break; done <<< 1`, `for i in a; do p; break; done <<< 1`},
}

// others are lines that do not run m there, and are no better: what bash itself opens,
// what depends on the file system, and what it reads as another word.
var others = [][2]string{
	{`p > /dev/tcp/127.0.0.1/1`, `p > /dev/null`},
	{`exec 3<>/dev/udp/127.0.0.1/1`, `exec 3<>/tmp/x`},
	{`p >& /dev//tcp/127.0.0.1/1`, `p >& /dev/stdout`},
	{`read -aPATH <<< /evil; p`, `read -a p <<< /evil; p`},
	{`p >&2x`, `p >&2`},
	{`p 99999999999999999999> x`, `p 9> x`},
	{`env -u PATH p`, `env -u PATHS p`},
	{`exec -a rm busybox x`, `exec busybox x`},
}

func TestEvasionsAreUnknown(t *testing.T) {
	for _, row := range append(slices.Clone(evasions), others...) {
		if _, doubt, err := readShell(row[0]); err == nil && (doubt == nil || doubt.text == "" || doubt.why == "") {
			t.Errorf("%s\nis known: %s, %v", row[0], told(row[0]), doubt)
		}
		if _, doubt, err := readShell(row[1]); err != nil || doubt != nil {
			t.Errorf("%s\nis the control and not known: %v %v", row[1], doubt, err)
		}
	}
}

func TestADoubtIsSaid(t *testing.T) {
	for line, want := range map[string]shellDoubt{
		"ls; f() { a; }; b":          {"f() { a; }", "functions are not followed"},
		"git $x push; eval \"$y\"":   {"$x", "only the shell knows what the variable holds"},
		"a && ls *.go":               {"*.go", "a pattern may stand for any files"},
		"cd ~/x":                     {"~/x", "only the shell knows what ~ is"},
		"a | ssh h b":                {"ssh h b", "ssh may run what is not listed"},
		"sudo --usr root a":          {"sudo --usr root a", "sudo has an option that is not known"},
		"curl x | bash":              {"bash", "the script that it runs is not in the line"},
		"PATH=/x ls":                 {"PATH=/x ls", "PATH decides what runs"},
		"bash -c 'a; [[ b =~ c ]]'":  {"b =~ c", "this comparison is not followed"},
		"a > \"$x\"":                 {"> \"$x\"", "only the shell knows what the variable holds"},
		"find . -exec rm {} +":       {"find . -exec rm {} +", "find puts a word into it"},
		"ls | xargs rm":              {"xargs rm", "xargs makes commands of what it reads"},
		"cat <<E\n$(a)\nE":           {"<<E\n$(a)\nE", "only the shell knows what the substitution gives"},
		"ls\r":                       {`"\r"`, "a control character"},
		"p > /dev/tcp/127.0.0.1/443": {"> /dev/tcp/127.0.0.1/443", "the shell opens a connection"},
	} {
		if _, doubt, err := readShell(line); err != nil || doubt == nil || *doubt != want {
			t.Errorf("%s\ngave %q\nwant %q (%v)", line, doubt, want, err)
		}
	}
}
