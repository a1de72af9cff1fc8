t.equal(llm.complete("m", { messages = {} }).messages ~= nil, true)
t.fails("no connection", llm.complete("offline", {}))
t.raises(function() llm.complete() end, "model expected")
