-- A command that is given while the model answers.
pi.command("now", { handler = function()
  pi.send("and this")
  return { status = "sent" }
end })
