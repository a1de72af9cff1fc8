-- A bit of everything that a hook can do.
local timer = require "pi.timer"
local time = require "pi.time"

pi.on("session_start", function(event, ctx)
  ctx.ui.notify("started: " .. event.reason)
  ctx.ui.set_status("day", "ready")
  timer.every(1000, function() pi.state.ticks = (pi.state.ticks or 0) + 1 end)
  timer.after(60000, function()
    pi.emit("day:over", { ticks = pi.state.ticks })
    ctx.ui.notify("over", "warning")
  end)
end)

pi.on("agent_end", function() timer.sleep(5) pi.append_entry("day_note", { at = "the end" }) end)

pi.command("ask", { description = "Asks", handler = function(ctx)
  local what = ctx.ui.select("Which?", { "a", { value = "b", label = "The b" } })
  local several = ctx.ui.select("Several?", { "x", "y", "z" }, { multi = true })
  local name = ctx.ui.input("Name?", "nobody")
  local text = ctx.ui.editor("Text?", "draft")
  return { status = table.concat({ tostring(what), table.concat(several or {}, "+"), tostring(name), tostring(text) }, " ") }
end })

pi.command("count", { description = "Counts keys", handler = function(ctx)
  local n = 0
  local got = ctx.ui.custom { wait = true,
    render = function() return { "n is " .. n } end,
    handle_input = function(key, handle)
      if key == "up" then n = n + 1 elseif key == "enter" then handle.close(n) else return false end
    end }
  return { status = "got " .. tostring(got) }
end })

pi.command("say", { description = "Sends", handler = function(ctx) return "say " .. (ctx.args[1] or "nothing") end })
pi.command("where", { description = "Shows", handler = function(ctx)
  return { status = table.concat({ ctx.mode, tostring(ctx.has_ui), os.getenv("HOME"), tostring(os.getenv("DAY")), ctx.cwd }, " ") }
end })
pi.command("soon", { description = "Sends a message later", handler = function() pi.send_user_message("from the hook") end })
pi.command("now", { description = "Shows the time", handler = function() return { status = tostring(time.now()) .. " " .. os.time() } end })
pi.shortcut("f6", { description = "Notes", handler = function(ctx) ctx.ui.notify("pressed") end })
pi.tool { name = "double", description = "Doubles", parameters = { type = "object", properties = { n = { type = "number" } }, required = { "n" } },
  execute = function(params) return { content = tostring(2 * params.n), details = { twice = 2 * params.n } } end }
