-- 4: send_user_message: unknown option "deliver", did you mean "deliver_as"?
pi.command("later", {
  handler = function()
    pi.send_user_message("go on", { deliver = "follow_up" })
  end,
})
