-- A tool that reports how far it is and draws that, one that writes into the session, a key, a field, and a list.

pi.tool {
  name = "count", description = "counts",
  parameters = { type = "object", properties = { to = { type = "integer" } } },
  execute = function(params, ctx, call)
    for i = 1, params.to do call.update("at " .. i) end
    if params.to == 0 then error("nothing to count") end
    return "done"
  end,
  render_call = function(args, opts) return (opts.partial and "counting to " or "counted to ") .. args.to end,
  render_result = function(result, opts)
    local state = opts.call.state
    state.n = (state.n or 0) + 1
    if opts.partial and state.n == 1 then opts.redraw() end
    return { result.content[1].text .. " of " .. opts.call.args.to, opts.width .. (opts.call.is_error and " failed" or "") }
  end,
}

pi.tool { name = "note", description = "writes", execute = function() pi.append_entry("drawn_note", { text = "kept" }) return "written" end }

pi.shortcut("ctrl+shift+f6", { description = "a key", handler = function() return { status = "pressed" } end })

pi.command("write", { handler = function(ctx)
  local text = ctx.ui.custom((function()
    local field = ctx.ui.field { rows = 3 }
    field.wait = true
    return field
  end)())
  return { status = tostring(text) }
end })

pi.command("choose", { handler = function(ctx)
  local list = ctx.ui.list { items = { "apple", "banana", "cherry" }, filter = true }
  list.wait = true
  return { status = tostring(ctx.ui.custom(list)) }
end })

pi.command("keys", { handler = function(ctx)
  ctx.ui.custom { render = function() return {} end, handle_input = function(key) ctx.ui.notify("key " .. key) end }
end })
