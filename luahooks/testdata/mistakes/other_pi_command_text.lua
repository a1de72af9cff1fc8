-- 3: cannot perform concat operation between string and table: "args" is a table
pi.command("hello", {
  handler = function(args) return { status = "hello " .. args } end,
})
