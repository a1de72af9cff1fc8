local v = assert(toml.decode([==[
title = "x" # [[[
n = 1_000
f = 1.5
yes = true
at = 2026-01-02T03:04:05Z
day = 2026-01-02
clock = 03:04:05
"quoted.key" = 'a [ literal'
text = """
more [[[ than "one" line"""
list = [1, [2, 3], []]
[a.b]
c = { d = "e" }
[[many]]
name = "one"
[[many]]
name = "two"
]==]))
t.equal({ v.title, v.n, v.f, v.yes, v.at, v.day, v.clock, v["quoted.key"], v.text },
  { "x", 1000, 1.5, true, "2026-01-02T03:04:05Z", "2026-01-02", "03:04:05", "a [ literal", 'more [[[ than "one" line' })
t.equal(v.list, { 1, { 2, 3 }, require("pi.json").list() })
t.equal({ v.a.b.c.d, v.many[1].name, v.many[2].name }, { "e", "one", "two" })
t.equal(toml.decode(""), {})
t.fails("decode TOML: line 2: ", toml.decode("a = 1\nb = \n"))
t.fails("decode TOML: it is larger than 8 MiB", toml.decode("#" .. (" "):rep(8 * 1024 * 1024)))
t.fails("nested more than 256 deep", toml.decode("a = " .. ("["):rep(300)))
t.fails("nested more than 256 deep", toml.decode("a = " .. ("{a="):rep(300)))
t.fails("nested more than 256 deep", toml.decode(("a."):rep(300) .. "b = 1"))
t.raises(function() toml.decode({}) end, "string expected, got table")
