-- What stands around the line, and beside the terminal.

local drawn, focused = 0, "unknown"

pi.on("session_start", function(_, ctx)
  ctx.ui.set_status("other", "busy")
  ctx.ui.set_header({ "a header" })
  ctx.ui.set_footer(function(width, surface, data)
    drawn = drawn + 1
    surface.request_render() -- at once, or later: once
    return ("%d %s %s %s"):format(width, data.branch or "none", data.statuses.other, tostring(data.providers > 0))
  end, { status = false })
  ctx.ui.set_widget("many", function(width)
    local lines = {}
    for i = 1, 30 do lines[i] = ("x"):rep(width) .. i end
    return lines
  end, { place = "below" })
  ctx.ui.set_title("at work")
  ctx.ui.set_working_message("thinking")
end)

pi.on("focus", function(event) focused = tostring(event.focused) end)

local function outcome(ok, message) return { status = tostring(ok) .. " " .. tostring(message) } end

pi.command("slow", { handler = function(ctx)
  ctx.ui.set_footer(function() while true do end end, { status = false })
end })

pi.command("raise", { handler = function(ctx)
  pcall(function() return ctx.brunch end) -- the first suggestion of a name takes longer than a drawing may
  ctx.ui.set_widget("many", function(_, _, data) return data.brunch end)
end })

pi.command("asks", { handler = function(ctx)
  ctx.ui.set_header(function() return tostring(ctx.ui.confirm("now?")) end)
end })

pi.command("lines", { handler = function(ctx)
  ctx.ui.set_footer { "as they are" }
  ctx.ui.set_header()
  ctx.ui.set_widget("many")
  ctx.ui.set_title()
  ctx.ui.set_working_message()
end })

pi.command("focused", { handler = function() return { status = focused } end })
pi.command("take", { handler = function(ctx) return outcome(ctx.ui.copy(ctx.args_raw)) end })
pi.command("large", { handler = function(ctx) return outcome(ctx.ui.copy(("x"):rep(1024 * 1024 + 1))) end })
pi.command("tell", { handler = function(ctx) return outcome(ctx.ui.notify_desktop(ctx.args[1], ctx.args[2])) end })
