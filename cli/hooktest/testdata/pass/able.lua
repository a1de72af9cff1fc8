-- What the front end can do, and what is shown while the agent works.
pi.command("able", { handler = function(ctx)
  local can = {}
  for _, what in ipairs { "custom", "draw", "copy", "run" } do can[#can + 1] = tostring(ctx.ui.can(what)) end
  return { status = table.concat(can, " ") .. " " .. ctx.ui.keys().interrupt[1] }
end })
pi.command("hush", { handler = function(ctx) ctx.ui.set_working_message(false) end })
pi.command("speak", { handler = function(ctx) ctx.ui.set_working_message("thinking") end })
pi.command("usual", { handler = function(ctx) ctx.ui.set_working_message() end })
