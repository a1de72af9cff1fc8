-- Signs in: in a browser, and with words of its own.
local http = require "pi.http"
local server = pi.declare_settings(require "pi.schema".object { server = require "pi.schema".string { default = "http://127.0.0.1:1" } }).server

pi.provider("page", {
  base_url = server, api = "openai-completions", models = { "m" },
  login = { kind = "pkce", authorize_url = server .. "/in", token_url = server .. "/token", client_id = "mine" },
})
pi.provider("word", {
  base_url = server, api = "openai-completions", models = { "m" },
  login = {
    start = function(ui)
      local word = ui.ask("The word", { secret = true })
      if not word then return nil, "no word, no login" end
      ui.show("Wait a moment.")
      ui.wait(0.01)
      local ok, why = ui.open("http://evil.example/")
      ui.show(tostring(ok) .. ": " .. tostring(why))
      ui.open(server .. "/page")
      return { access = word, expires = require("pi.time").now() + 3600000 }
    end,
    refresh = function(c) c.access, c.expires = c.access .. "+", c.expires + 3600000 return c end,
  },
})
