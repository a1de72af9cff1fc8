-- 4: cannot perform concat operation between nil and string: "os.getenv(…)" is nil
-- check nothing
pi.on("session_start", function()
  print(os.getenv("NO_SUCH_VARIABLE") .. "/notes")
end)
