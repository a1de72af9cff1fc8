-- 3: cannot perform add operation between string and string; .. joins texts
pi.on("input", function(event)
  return { text = event.text + "!" }
end)
