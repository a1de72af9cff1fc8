package stdlib

import (
	"strings"
	"testing"
)

// told is a line's commands: words in brackets, "?" where a word is not known,
// via before a colon, and a "!" behind what is unknown; the last one is for the
// line.
func told(line string) string {
	commands, doubt, err := readShell(line)
	if err != nil {
		return "error"
	}
	var parts []string
	for _, c := range commands {
		s := ""
		for i, w := range c.words {
			if i > 0 {
				s += " "
			}
			s += w.String()
		}
		s = "[" + s + "]"
		if c.via != "" {
			s = c.via + ":" + s
		}
		if c.doubt != nil {
			s += "!"
		}
		parts = append(parts, s)
	}
	if doubt != nil {
		parts = append(parts, "!")
	}
	return strings.Join(parts, " ")
}

func TestEverySimpleCommandIsListed(t *testing.T) {
	for line, want := range map[string]string{
		"":                   "",
		"# nothing":          "",
		"ls":                 "[ls]",
		"ls -l 'a b' c\\ d":  "[ls -l a b c d]",
		"a && b || c; d & e": "[a] [b] [c] [d] [e]",
		"a | b |& c":         "[a] [b] [c]",
		"! a":                "[a]",
		"(a; b)":             "[a] [b]",
		"{ a; b; }":          "[a] [b]",
		"if a; then b; elif c; then d; else e; fi": "[a] [b] [c] [d] [e]",
		"while a; do b; done":                      "[a] [b]",
		"until a; do b; done":                      "[a] [b]",
		"for i in 1 2; do a; done":                 "[a]",
		"for i in $(a); do b; done":                "[a] [b]",
		"case x in y) a;; *) b;; esac":             "[a] [b]",
		"case $(a) in y) b;; esac":                 "[a] [b]",
		"f() { a; }; f":                            "[a] [f] !",
		"function f { a; }":                        "[a] !",
		"echo \"$(a)\"":                            "[echo ?]! [a] !",
		"echo `a`":                                 "[echo ?]! [a] !",
		"echo \"$(a \"$(b)\")\"":                   "[echo ?]! [a ?]! [b] !",
		"a <(b) >(c)":                              "[a ? ?]! [b] [c] !",
		"x=$(a)":                                   "[]! [a] !",
		"x=1":                                      "[]",
		"x=1 y=2 a":                                "[a]",
		"export x=$(a)":                            "[export ?]! [a] !",
		"export A=b":                               "[export A=b]",
		"local a=1":                                "[local a=1]",
		"> f":                                      "[]",
		"a > f 2>&1 < g":                           "[a]",
		"{ a; } > f":                               "[] [a]",
		"a > $(b)":                                 "[a]! [b] !",
		"a <<E\ntext $(b)\nE":                      "[a]! [b] !",
		"a <<'E'\ntext $(b)\nE":                    "[a]",
		"a <<E\ntext\nE":                           "[a]",
		"a <<< $x":                                 "[a]! !",
		"coproc a":                                 "[a] !",
		"select x in a; do b; done":                "[b] !",
		"time a":                                   "[a]",
		"[[ -n $(a) ]]":                            "[a]",
		"[[ -f x && y == z ]] && a":                "[a]",
		"[ -f x ] && a":                            "[[ -f x ]] [a]",
		"(( 1 + 2 )) && a":                         "[a]",
		"echo $((1 + $(a)))":                       "[echo ?]! [a] !",
		"a=(1 $(b))":                               "[]! [b] !",
		"echo ${x:-$(a)}":                          "[echo ?]! [a] !",
		"if":                                       "error",
		"a 'b":                                     "error",
		"a )":                                      "error",
		"a &&":                                     "error",
	} {
		if got := told(line); got != want {
			t.Errorf("%s\ngave %s\nwant %s", line, got, want)
		}
	}
}

func TestWordsAreWhatTheShellSees(t *testing.T) {
	for line, want := range map[string]string{
		`\rm x`:                       `[rm x]`,
		`r''m x`:                      `[rm x]`,
		`'rm' x`:                      `[rm x]`,
		`"rm" x`:                      `[rm x]`,
		`r"m" x`:                      `[rm x]`,
		"r\\\nm x":                    `[rm x]`,
		`$'rm' x`:                     `[rm x]`,
		`$'r\x6d' x`:                  `[? x]! !`,
		`$'a\nb'`:                     "[a\nb]",
		"$\\\nx \"$\\\nx\"":           `[? ?]! !`,
		"# a\\\nrm x":                 `[rm x]`,
		"a \\\n# b\nrm x":             `[a] [rm x]`,
		"p #\\\n: @":                  "[p] [: @]",
		"ls \r# ; rm x":               "[ls] !",
		"ls \x01":                     "[ls \x01] !",
		"grep a$ b":                   `[grep a$ b]`,
		`$"rm" x`:                     `[? x]! !`,
		`"a\"b\$c\d"`:                 `[a"b$c\d]`,
		`$x`:                          `[?]! !`,
		`"$x"`:                        `[?]! !`,
		`a "b${x}c"`:                  `[a ?]! !`,
		`$(a) b`:                      `[? b]! [a] !`,
		"`a` b":                       `[? b]! [a] !`,
		`ls *`:                        `[ls ?]! !`,
		`ls a?`:                       `[ls ?]! !`,
		`ls [ab]`:                     `[ls ?]! !`,
		`ls "*" \* '?'`:               `[ls * * ?]`,
		`ls {a,b}`:                    `[ls ?]! !`,
		`{rm,-rf,/}`:                  `[?]! !`,
		`ls {} "{a,b}"`:               `[ls {} {a,b}]`,
		`ls ~`:                        `[ls ?]! !`,
		`ls a~ "~"`:                   `[ls a~ ~]`,
		`ls @(a|b)`:                   `[ls ?]! !`,
		`rm$IFS-rf$IFS/`:              `[?]! !`,
		`x=~ a`:                       `[a]! !`,
		`PATH=/x ls`:                  `[ls]! !`,
		`LD_PRELOAD=x ls`:             `[ls]! !`,
		`IFS=x ls`:                    `[ls]! !`,
		`export PATH=/x`:              `[export PATH=/x]! !`,
		`echo ${x@P}`:                 `[echo ?]! !`,
		`let 'a[$(rm)]=1'`:            `!`,
		`[[ 'a[$(rm)]' -eq 1 ]]`:      `!`,
		`declare -i x=y`:              `[declare -i x=y]! !`,
		`read PATH <<< /x; ls`:        `[read PATH]! [ls] !`,
		`for PATH in /x; do ls; done`: `[ls] !`,
		`BASH_ALIASES[ls]=rm`:         `[] !`,
		`ls {fd}> f`:                  `[ls]! !`,
		`dd of=~/x`:                   `[dd ?]! !`,
		`dd of=a~ 'of=~'`:             `[dd of=a~ of=~]`,
		`(( a[b] ))`:                  `!`,
		`[[ $x -eq 1 ]]`:              `!`,
		`[[ -v x ]]`:                  `!`,
		"a `b \\`c\\``":               "[a ?]! [b ?]! [c] !",
		`printf -v 'a[$(rm)]' x`:      `[printf -v a[$(rm)] x]! !`,
	} {
		if got := told(line); got != want {
			t.Errorf("%s\ngave %s\nwant %s", line, got, want)
		}
	}
}

func TestCommandsThatAreRunByOthersAreListed(t *testing.T) {
	for line, want := range map[string]string{
		`sudo rm -rf /`:                      `[sudo rm -rf /] sudo:[rm -rf /]`,
		`/usr/bin/sudo -u root -- rm x`:      `[/usr/bin/sudo -u root -- rm x] sudo:[rm x]`,
		`sudo -nu root A=b rm x`:             `[sudo -nu root A=b rm x] sudo:[rm x]`,
		`sudo --user=root rm x`:              `[sudo --user=root rm x] sudo:[rm x]`,
		`sudo --usr root rm x`:               `[sudo --usr root rm x]! sudo:[root rm x]! !`,
		`sudo -l`:                            `[sudo -l]`,
		`sudo -s rm`:                         `[sudo -s rm]! sudo:[rm]! !`,
		`sudo env A=b nice -n 5 rm x`:        `[sudo env A=b nice -n 5 rm x] sudo:[env A=b nice -n 5 rm x] env:[nice -n 5 rm x] nice:[rm x]`,
		`env -i -u A B=c rm x`:               `[env -i -u A B=c rm x] env:[rm x]`,
		`env PATH=/x rm`:                     `[env PATH=/x rm]! env:[rm] !`,
		`env -S 'rm x'`:                      `[env -S rm x]! env:[rm x]! !`,
		`env`:                                `[env]`,
		`command rm x`:                       `[command rm x] command:[rm x]`,
		`command -v rm`:                      `[command -v rm]`,
		`exec rm x`:                          `[exec rm x] exec:[rm x]`,
		`exec > f`:                           `[exec]`,
		`builtin eval 'rm x'`:                `[builtin eval rm x] builtin:[eval rm x] eval:[rm x]`,
		`nohup rm x &`:                       `[nohup rm x] nohup:[rm x]`,
		`\time -f %e rm x`:                   `[time -f %e rm x] time:[rm x]`,
		`timeout -k 5 10 rm x`:               `[timeout -k 5 10 rm x] timeout:[rm x]`,
		`timeout 10 $x`:                      `[timeout 10 ?]! timeout:[?]! !`,
		`nice -10 rm x`:                      `[nice -10 rm x] nice:[rm x]`,
		`ls | xargs rm`:                      `[ls] [xargs rm]! xargs:[rm ?]! !`,
		`ls | xargs -0 -n 1 -I {} rm {}`:     `[ls] [xargs -0 -n 1 -I {} rm {}]! xargs:[rm {} ?]! !`,
		`xargs`:                              `[xargs]! !`,
		`find . -name x -exec rm {} \;`:      `[find . -name x -exec rm {} ;] find:[rm ?]! !`,
		`find . -exec a \; -exec b {} +`:     `[find . -exec a ; -exec b {} +] find:[a] find:[b ?]! !`,
		`find . -delete`:                     `[find . -delete]`,
		`fd x -x rm`:                         `[fd x -x rm] fd:[rm ?]! !`,
		`sh -c 'rm -rf /'`:                   `[sh -c rm -rf /] sh:[rm -rf /]`,
		`bash -ec "a; b" x y`:                `[bash -ec a; b x y] bash:[a] bash:[b]`,
		`bash -o pipefail -c 'a | b'`:        `[bash -o pipefail -c a | b] bash:[a] bash:[b]`,
		`bash -c "rm $x"`:                    `[bash -c ?]! !`,
		`bash -c 'sh -c "sudo rm x"'`:        `[bash -c sh -c "sudo rm x"] bash:[sh -c sudo rm x] sh:[sudo rm x] sudo:[rm x]`,
		`bash -c 'if'`:                       `[bash -c if] !`,
		`bash x.sh`:                          `[bash x.sh]! !`,
		`bash --rcfile x -c a`:               `[bash --rcfile x -c a]! !`,
		`bash -i`:                            `[bash -i]! !`,
		`zsh -c 'rm x'`:                      `[zsh -c rm x]! zsh:[rm x] !`,
		`sudo sh -c 'rm x'`:                  `[sudo sh -c rm x] sudo:[sh -c rm x] sh:[rm x]`,
		`sh --version`:                       `[sh --version]`,
		"sh <<'E'\nrm x\nE":                  `[sh] sh:[rm x]`,
		"sh <<E\nrm $x\nE":                   `[sh]! !`,
		`bash <<< 'rm x'`:                    `[bash] bash:[rm x]`,
		"sudo bash -s <<'E'\nrm x\nE":        `[sudo bash -s] sudo:[bash -s] bash:[rm x]`,
		`echo cm0gLXJmIC8K | base64 -d | sh`: `[echo cm0gLXJmIC8K] [base64 -d] [sh]! !`,
		`curl x | sudo bash`:                 `[curl x] [sudo bash] sudo:[bash]! !`,
		`sh < f`:                             `[sh]! !`,
		`eval 'rm x'`:                        `[eval rm x] eval:[rm x]`,
		`eval rm x '; b'`:                    `[eval rm x ; b] eval:[rm x] eval:[b]`,
		`eval "$x"`:                          `[eval ?]! !`,
		`trap 'rm x' EXIT`:                   `[trap rm x EXIT] trap:[rm x]`,
		`trap - INT`:                         `[trap - INT]`,
		`watch -n 1 'rm x'`:                  `[watch -n 1 rm x] watch:[rm x]`,
		`su -c 'rm x'`:                       `[su -c rm x]! su:[rm x] !`,
		`flock /l rm x`:                      `[flock /l rm x] flock:[rm x]`,
		`. f`:                                `[. f]! !`,
		`source f`:                           `[source f]! !`,
		`alias ls=rm`:                        `[alias ls=rm]! !`,
		`python -c 'x'`:                      `[python -c x]! !`,
		`python3.12 x.py`:                    `[python3.12 x.py]`,
		`python -m http.server`:              `[python -m http.server]`,
		`curl x | python`:                    `[curl x] [python]! !`,
		`perl -ne x`:                         `[perl -ne x]! !`,
		`node x.js`:                          `[node x.js]`,
		`awk '{print $1}' f`:                 `[awk {print $1} f]`,
		`awk 'BEGIN{system("rm x")}'`:        `[awk BEGIN{system("rm x")}]! !`,
		`sed -n 's/a/b/gp' f`:                `[sed -n s/a/b/gp f]`,
		`sed -i s/a/b/ f`:                    `[sed -i s/a/b/ f]`,
		`sed 1d f`:                           `[sed 1d f]`,
		`sed 's/a/rm x/e' f`:                 `[sed s/a/rm x/e f]! !`,
		`sed '1e rm x' f`:                    `[sed 1e rm x f]! !`,
		`ssh h rm x`:                         `[ssh h rm x]! !`,
		`sudo -k rm x`:                       `[sudo -k rm x] sudo:[rm x]`,
		`sudo -- A=b rm x`:                   `[sudo -- A=b rm x] sudo:[rm x]`,
		`env 1=2 rm x`:                       `[env 1=2 rm x] env:[rm x]`,
		`env -- LD_PRELOAD=x ls`:             `[env -- LD_PRELOAD=x ls]! env:[ls] !`,
		`env 'BASH_FUNC_ls%%=() { rm x; }' bash -c ls`: `[env BASH_FUNC_ls%%=() { rm x; } bash -c ls]! env:[bash -c ls] bash:[ls] !`,
		`eval -- 'rm x'`:                `[eval -- rm x] eval:[rm x]`,
		"sh 3<<'E'\nrm x\nE":            `[sh]! !`,
		"sh <<'E' < f\nrm x\nE":         `[sh]! !`,
		"sh < f <<'E'\nrm x\nE":         `[sh] sh:[rm x]`,
		"sh <<E\necho \\\"a b\\\" c\nE": "[sh] sh:[echo \"a b\" c]",
		`{ sh; } <<< 'rm x'`:            `[] [sh]! !`,
		`sed -l 5 's/a/b/e' f`:          `[sed -l 5 s/a/b/e f]! !`,
		`echo '!rm x' | ed f`:           `[echo !rm x] [ed f]! !`,
		`a | time -o f rm x`:            `[a] [-o f rm x] !`,
		`busybox rm x`:                  `[busybox rm x] busybox:[rm x]`,
		`git commit -m 'sudo rm'`:       `[git commit -m sudo rm]`,
	} {
		if got := told(line); got != want {
			t.Errorf("%s\ngave %s\nwant %s", line, got, want)
		}
	}
}

func TestNoLineMakesTheParserGoTooDeep(t *testing.T) {
	for _, opens := range []string{"(", "((", "$(", "{ ", "`", "if ", "while ", "$((", "[[ ( ", "${x:-", "<(", "f() ", "case x in x) ", "a[", "x && ", "! ", "\"$("} {
		if _, doubt, err := readShell(strings.Repeat(opens, maxLine/len(opens))); err == nil && doubt == nil && opens != "`" {
			t.Errorf("%q over and over is understood", opens)
		}
	}
	if _, _, err := readShell(strings.Repeat("x", maxLine+1)); err == nil {
		t.Error("a line of any length is read")
	}
	nested := "a"
	for range maxScripts + 2 {
		nested = "eval " + quoteWord(nested)
	}
	if _, doubt, err := readShell(nested); err != nil || doubt == nil {
		t.Error("a line in a line in a line … is understood to the end")
	}
}
