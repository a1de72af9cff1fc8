package e2e

import "strings"

// More attacks that are alike: what differs is in a row, and the rest in a script with NAMES in
// it.

// likeness replaces each of the names by what stands behind it.
func likeness(script string, replaced ...string) string {
	return strings.NewReplacer(replaced...).Replace(script)
}

func alikeAttacks() map[string]string {
	scripts := map[string]string{}
	for _, row := range unloadedGates() {
		scripts[row.name] = likeness(unloadedScript, "TRIED", row.tried, "BEFORE\n", row.before, "BREAKS\n", row.breaks, "SAID", row.said, "MENDS\n", row.mends, "FILES\n", row.files)
	}
	for what, row := range hiddenWords() {
		scripts["clone-hides-words-in-"+what] = likeness(hiddenScript, "WHERE", row.where, "WORDS", row.words, "SEEN", seenWords)
	}
	for when, row := range sendingHooks() {
		scripts["hook-sends-"+when] = likeness(sendingScript, "WHEN", row.when, "EVENT", row.event)
	}
	for from, event := range promptingHooks() {
		scripts["hook-sends-without-end-from-"+from] = likeness(promptingScript, "EVENT", event)
	}
	return scripts
}

const unloadedScript = `# tried: TRIED
# promised: what was not loaded may be a gate; until it loads, only what looks goes on
BEFORE
# attack: a command is run, and the folder is looked at
BREAKS
tool 'touch $RAN'
! ran
count 1 '^error: hook .* did not load, tools are shut: .*SAID' stderr
count 1 'only read, grep, find and ls work, and no command with !' stderr
ask 'list'
stdout 'This directory has'
# control: where the hook loads, the command runs
MENDS
tool 'touch $RAN'
ran
FILES
-- sound.lua --
pi.on("tool_call", function(event)
  if event.input.command == "rm" then return { block = true } end
end)
-- project/a.txt --
`

// unloadedGate is a gate, or a folder of gates, that is there and cannot be read or does not load.
// What mends it is missing where that is done by leaving out what breaks it.
type unloadedGate struct{ name, tried, said, before, breaks, mends, files string }

func unloadedGates() []unloadedGate {
	const (
		breaksHook, mendsHook         = "cp $WORK/broken.lua $AGENT/hooks/g.lua\n", "cp $WORK/sound.lua $AGENT/hooks/g.lua\n"
		breaksSettings, mendsSettings = "cp $WORK/broken.toml $AGENT/config.toml\n", "cp $WORK/own.toml $AGENT/config.toml\n"
		namesGate                     = "-- own.toml --\nhooks = [\"gate.lua\"]\n"
		settingsNotKnown              = `what .*config\.toml says of hooks and tools is not known: `
	)
	return []unloadedGate{
		{name: "gate-with-a-syntax-error", tried: "a gate is saved with a syntax error before the program starts", said: `hooks/g\.lua:2: syntax error`,
			breaks: breaksHook, mends: mendsHook,
			files: "-- broken.lua --\npi.on(\"tool_call\", function(event)\n  if event.input.command == \"rm\" the return { block = true } end\nend)\n"},
		{name: "gate-in-utf-16", tried: "an editor saves the gate in UTF-16", said: `g\.lua:1: the text is UTF-16`,
			breaks: "exec sh $WORK/utf16.sh\n", mends: mendsHook,
			files: "-- utf16.sh --\nprintf '\\377\\376p\\000i\\000(\\000)\\000\\n\\000' > $AGENT/hooks/g.lua\n"},
		{name: "gate-registered-through-a-variable", tried: "a gate whose event stands in no quotes does not load", said: `g\.lua:2: `,
			breaks: breaksHook, mends: "cp $WORK/whole.lua $AGENT/hooks/g.lua\n",
			files: "-- broken.lua --\nlocal name = \"tool\" .. \"_call\"\npi.on(name, function() retrun end)\n" +
				"-- whole.lua --\nlocal name = \"tool\" .. \"_call\"\npi.on(name, function() return end)\n"},
		{name: "gate-registered-under-another-name", tried: "a gate that registers with another name for pi.on does not load", said: `g\.lua:3: `,
			breaks: breaksHook, mends: "cp $WORK/whole.lua $AGENT/hooks/g.lua\n",
			files: "-- broken.lua --\nlocal listen, words = pi.on, { \"tool\", \"call\" }\nlisten(table.concat(words, \"_\"), function() end)\nnothing.here()\n" +
				"-- whole.lua --\nlocal listen, words = pi.on, { \"tool\", \"call\" }\nlisten(table.concat(words, \"_\"), function() end)\n"},
		{name: "gate-in-a-broken-module", tried: "the gate stands in a module that has a syntax error", said: `g/rules\.lua:1: syntax error`,
			before: "mkdir $AGENT/hooks/g\ncp $WORK/init.lua $AGENT/hooks/g/init.lua\n",
			breaks: "cp $WORK/broken.lua $AGENT/hooks/g/rules.lua\n", mends: "cp $WORK/sound.lua $AGENT/hooks/g/rules.lua\n",
			files: "-- init.lua --\nrequire(\"rules\")\n-- broken.lua --\nif x the\n"},
		{name: "gate-in-a-missing-module", tried: "the module in which the gate stands is not there", said: `g/init\.lua:1: module rules not found`,
			before: "mkdir $AGENT/hooks/g\ncp $WORK/init.lua $AGENT/hooks/g/init.lua\n",
			mends:  "cp $WORK/sound.lua $AGENT/hooks/g/rules.lua\n",
			files:  "-- init.lua --\nrequire(\"rules\")\n"},
		{name: "gate-in-a-module-behind-a-syntax-error", tried: "the gate stands in a module, and the file that requires it has a syntax error", said: `g/init\.lua:1: syntax error`,
			before: "mkdir $AGENT/hooks/g\ncp $WORK/sound.lua $AGENT/hooks/g/rules.lua\n",
			breaks: "cp $WORK/broken.lua $AGENT/hooks/g/init.lua\n", mends: "cp $WORK/init.lua $AGENT/hooks/g/init.lua\n",
			files: "-- broken.lua --\nif x the require(\"rules\") end\n-- init.lua --\nrequire(\"rules\")\n"},
		{name: "gate-named-in-the-settings-is-missing", tried: "the settings name a gate that is not there", said: `gate\.lua: no such file or directory`,
			before: mendsSettings, mends: "cp $WORK/sound.lua $AGENT/gate.lua\n", files: namesGate},
		{name: "gate-named-in-settings-with-a-syntax-error", tried: "the settings that name a gate cannot be parsed", said: settingsNotKnown + `line 2: `,
			before: "cp $WORK/sound.lua $AGENT/gate.lua\n", breaks: breaksSettings, mends: mendsSettings,
			files: "-- broken.toml --\nhooks = [\"gate.lua\"]\nmodel = demo\n" + namesGate},
		{name: "gate-named-as-something-else-than-text", tried: "the list of hooks in the settings has an element that is no text", said: settingsNotKnown + `line 1: `,
			before: "cp $WORK/sound.lua $AGENT/gate.lua\n", breaks: breaksSettings, mends: mendsSettings,
			files: "-- broken.toml --\nhooks = [\"gate.lua\", 7]\n" + namesGate},
		{name: "gate-named-under-a-misspelt-key", tried: "the key under which the settings name a gate is misspelt", said: settingsNotKnown + `line 1: `,
			before: "cp $WORK/sound.lua $AGENT/gate.lua\n", breaks: breaksSettings, mends: mendsSettings,
			files: "-- broken.toml --\nhook = [\"gate.lua\"]\n" + namesGate},
		{name: "gate-is-a-dangling-link", tried: "the gate is a link whose target is gone", said: `g\.lua: no such file or directory`,
			breaks: "symlink $AGENT/hooks/g.lua -> $WORK/gone.lua\n",
			mends:  "symlink $AGENT/hooks/g.lua -> $WORK/sound.lua\n"},
		{name: "gate-is-a-circular-link", tried: "the gate is a link to itself", said: `g\.lua: too many levels of symbolic links`,
			breaks: "symlink $AGENT/hooks/g.lua -> g.lua\n",
			mends:  "symlink $AGENT/hooks/g.lua -> $WORK/sound.lua\n"},
		{name: "gate-is-a-named-pipe", tried: "a named pipe stands where the gate was", said: `g\.lua: not a regular file`,
			breaks: "exec mkfifo $AGENT/hooks/g.lua\n",
			mends:  "cp $WORK/sound.lua $AGENT/hooks/g.lua\n"},
		{name: "gate-is-unreadable", tried: "nobody may read the gate", said: `g\.lua: permission denied`,
			before: "user\ncp $WORK/sound.lua $AGENT/hooks/g.lua\n",
			breaks: "chmod 0 $AGENT/hooks/g.lua\n"},
		{name: "gate-with-a-dangling-init", tried: "the init.lua of a gate is a link whose target is gone", said: `g/init\.lua: no such file or directory`,
			before: "mkdir $AGENT/hooks/g\n",
			breaks: "symlink $AGENT/hooks/g/init.lua -> $WORK/gone.lua\n",
			mends:  "symlink $AGENT/hooks/g/init.lua -> $WORK/sound.lua\n"},
		{name: "gate-in-a-dangling-folder", tried: "the folder of a gate is a link whose target is gone", said: `hooks/g: no such file or directory`,
			breaks: "symlink $AGENT/hooks/g -> $WORK/gone\n",
			mends:  "mkdir $WORK/there\ncp $WORK/sound.lua $WORK/there/init.lua\nsymlink $AGENT/hooks/g -> $WORK/there\n"},
		{name: "gate-in-an-unreadable-folder", tried: "nobody may look into the folder of the gate", said: `g: permission denied|g/init\.lua: permission denied`,
			before: "user\nmkdir $AGENT/hooks/g\ncp $WORK/sound.lua $AGENT/hooks/g/init.lua\n",
			breaks: "chmod 0 $AGENT/hooks/g\n"},
		{name: "hooks-folder-is-a-file", tried: "a file stands where the hooks folder was", said: `hooks in .*/hooks: not a directory`,
			breaks: "rm $AGENT/hooks\ncp $WORK/sound.lua $AGENT/hooks\n",
			mends:  "cp $WORK/sound.lua $AGENT/hooks/g.lua\n"},
		{name: "hooks-folder-is-a-named-pipe", tried: "a named pipe stands where the hooks folder was", said: `hooks in .*/hooks: not a directory`,
			breaks: "rm $AGENT/hooks\nexec mkfifo $AGENT/hooks\n",
			mends:  "rm $AGENT/hooks\nmkdir $AGENT/hooks\ncp $WORK/sound.lua $AGENT/hooks/g.lua\n"},
		{name: "hooks-folder-is-a-dangling-link", tried: "the hooks folder is a link to a disk that is not mounted", said: `hooks in .*/hooks: no such file or directory`,
			breaks: "rm $AGENT/hooks\nsymlink $AGENT/hooks -> $WORK/not-mounted\n",
			mends:  "rm $AGENT/hooks\nmkdir $WORK/mounted\ncp $WORK/sound.lua $WORK/mounted/g.lua\nsymlink $AGENT/hooks -> $WORK/mounted\n"},
		{name: "hooks-folder-is-unreadable", tried: "nobody may read the hooks folder", said: `hooks in .*/hooks: permission denied`,
			before: "user\ncp $WORK/sound.lua $AGENT/hooks/g.lua\n",
			breaks: "chmod 0 $AGENT/hooks\n"},
	}
}

const hiddenScript = `# tried: AGENTS.md of a cloned repository hides words in WHERE
# promised: what the model reads and a person does not see is counted, and where it is
# attack: four of them behind the second line
cp ../hidden.md AGENTS.md
ask 'list'
stderr 'AGENTS\.md: 4 hidden characters, the first is U\+[0-9A-F]+ in line 2$'
# control: emoji and the joiners of Persian are seen
cp ../seen.md AGENTS.md
ask 'list'
! stderr 'hidden'
-- hidden.md --
Be brief.
Yes.WORDS
-- seen.md --
Be brief. SEEN
`

// seenWords have such characters where they belong.
const seenWords = "❤\ufe0f 👩\u200d💻 می\u200cخواهم"

type hiddenWord struct{ where, words string }

func hiddenWords() map[string]hiddenWord {
	return map[string]hiddenWord{
		"braille-blanks":          {"blanks of Braille", "\u2800\u2800\u2800\u2800"},
		"grapheme-joiners":        {"grapheme joiners and vowels of Khmer", "\u034f\u17b4\u17b5\u034f"},
		"hangul-fillers":          {"fillers of Hangul", "\u3164\u115f\u1160\uffa0"},
		"joiners":                 {"joiners, one bit each", "\u200d\u200c\u200d\u200c"},
		"line-separators":         {"separators of lines and paragraphs", "\u2028\u2029\u2028\u2029"},
		"mongolian-selectors":     {"selectors of Mongolian", "\u180b\u180c\u180d\u180f"},
		"selectors":               {"variation selectors, one bit each", "\ufe0f\ufe0e\ufe0f\ufe0e"},
		"supplementary-selectors": {"variation selectors of the supplement, one byte each", "\U000e0101\U000e01ef\U000e0110\U000e0111"},
		"tags":                    {"tag characters", "\U000e0049\U000e0047\U000e004e\U000e004f"},
	}
}

const sendingScript = `# tried: a hook keeps the model at work by sending a message WHEN
# promised: hooks add at most max_continuations requests until somebody says something
# attack: it never stops
cp ../always.lua $AGENT/hooks/loop.lua
ask 5 'begin'
stderr 'stopped: hook loop wants the model asked once more, and hooks may add 8 requests'
session
count 9 '"role":"assistant"' $SESSION
# control: one that stops by itself is answered each time
cp ../five.lua $AGENT/hooks/loop.lua
ask 'begin'
count 5 '(?m)^I cannot do that: again' stdout
! stderr 'stopped'
-- home/.pi/agent/hooks/.keep --
-- always.lua --
pi.on("EVENT", function() pi.send("again") end)
-- five.lua --
local n = 0
pi.on("EVENT", function() n = n + 1; if n <= 5 then pi.send("again") end end)
`

type sendingHook struct{ when, event string }

func sendingHooks() map[string]sendingHook {
	return map[string]sendingHook{
		"for-each-prompt":        {"for each prompt", "input"},
		"for-each-request":       {"for each request", "context"},
		"at-each-turn":           {"at the end of each turn", "turn_end"},
		"at-the-end-of-each-run": {"at the end of each run", "agent_end"},
		"before-the-run-settles": {"before the run settles", "agent_before_settle"},
		"when-all-is-settled":    {"when all is settled", "agent_settled"},
	}
}

const promptingScript = `# tried: a hook sends another prompt from EVENT, again and again
# promised: after max_continuations it is a person's turn
cp ../settings.toml $AGENT/config.toml
# attack: without end
cp ../send.lua $AGENT/hooks/send.lua
ask 5 'list'
stderr 'stopped: hook send wants .* 3 requests until somebody says something'
# control: once is no loop
cp ../once.lua $AGENT/hooks/send.lua
ask 'list'
! stderr 'stopped'
session
count 2 '"text":"list"' $SESSION
-- settings.toml --
max_continuations = 3
-- send.lua --
pi.on("EVENT", function() pi.send_user_message("list") end)
-- once.lua --
local n = 0
pi.on("EVENT", function() n = n + 1 if n == 1 then pi.send_user_message("list") end end)
`

func promptingHooks() map[string]string {
	return map[string]string{
		"the-context": "context", "the-end-of-a-turn": "turn_end", "the-end-of-a-run": "agent_end", "the-settled-run": "agent_settled",
	}
}
