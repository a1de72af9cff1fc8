pi.provider("page", {
  base_url = "http://127.0.0.1:1", api = "openai-completions", models = { "m" },
  login = { start = function(ui)
    ui.open("https://login.example/in?id=1")
    return nil, "not today"
  end },
})
