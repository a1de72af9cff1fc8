-- 2: syntax error near ','; a function is written function(x) … end
pi.on("tool_call", (event, ctx) => {
  return nil
})
