-- 4: attempt to call "os.execute", which is no function; programs: pi.exec(name, arguments)
pi.command("sync", {
  handler = function()
    os.execute("git pull")
  end,
})
