-- NAME: models of a server, chosen with pi --model NAME/small or /model. This is one on this
-- machine that speaks chat completions, as many do.
--
-- api is how the server is asked: "openai-completions", "openai-responses", "anthropic-messages"
-- or "google-generative-ai". A model is an id, or a table with what is to be said of it; what is
-- left out is what pi knows of models of that name. Where a key is wanted and not set, they are not offered.

pi.provider("NAME", {
  base_url = "http://127.0.0.1:8080/v1", -- without the path of the API
  api = "openai-completions",
  -- api_key = "$VARIABLE_KEY", -- a variable of the environment; without it no key is sent
  -- headers = { ["X-Team"] = "tools" }, -- sent with each request
  models = {
    { id = "small", context_window = 32000, max_tokens = 4096 },
    { id = "thinker", context_window = 128000, levels = { "off", "low", "high" } },
  },
})
