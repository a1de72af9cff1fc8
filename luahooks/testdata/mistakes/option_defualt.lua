-- 2: flag: unknown option "defualt", did you mean "default"?
pi.flag("loud", { description = "be loud", defualt = false })
