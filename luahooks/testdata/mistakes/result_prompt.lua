-- 3: unknown key "prompt" in the result of input, did you mean "text"?
pi.on("input", function(event)
  return { prompt = event.text .. "!" }
end)
