-- 4: syntax error near 'handler'; a comma is missing before it
pi.command("hello", {
  description = "greets"
  handler = function() return "hello" end,
})
