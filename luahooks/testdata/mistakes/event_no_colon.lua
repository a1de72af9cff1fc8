-- 4: emit: "saved" is no name for an event of a hook; put a colon in it, such as event_no_colon:saved
pi.command("say", {
  handler = function()
    pi.emit("saved", { at = 1 })
  end,
})
