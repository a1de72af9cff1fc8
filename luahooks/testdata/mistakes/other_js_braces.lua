-- 2: syntax error near '{'; a block has no braces: function(x) … end
pi.on("tool_call", function(event) {
  return nil
})
