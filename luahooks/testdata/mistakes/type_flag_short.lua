-- 3: bad argument #1 to 'flag' ("v" is no name of a flag: two or more letters, digits and -, without the dashes before it)
-- check nothing
pi.flag("v", { description = "be loud", default = false })
