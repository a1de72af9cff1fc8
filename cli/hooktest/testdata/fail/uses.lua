pi.command("use", { handler = function(event)
  return { status = require("pi.agent").run({ prompt = event.args_raw, name = "bob" }).text }
end })
