-- NAME: /NAME says how long the conversation is; /NAME and a text asks the model for that in
-- one sentence.
--
-- A handler of a command returns nothing, { status = … } to show something, or a string, which
-- is sent to the model as a prompt. It works while the agent does.

local function count(messages, role)
  local n = 0
  for _, message in ipairs(messages) do
    if message.role == role then n = n + 1 end
  end
  return n
end

pi.command("NAME", {
  description = "Say how long the conversation is, or answer in one sentence",
  handler = function(ctx)
    if ctx.args_raw ~= "" then return "In one sentence: " .. ctx.args_raw end
    return { status = ("prompts: %d, answers: %d"):format(count(ctx.messages, "user"), count(ctx.messages, "assistant")) }
  end,
})
