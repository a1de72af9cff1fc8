-- 4: send_message: deliver_as must be steer or follow_up or next_turn, not "followup", did you mean "follow_up"?
pi.command("later", {
  handler = function()
    pi.send_message({ custom_type = "later_note", content = "x" }, { deliver_as = "followup" })
  end,
})
