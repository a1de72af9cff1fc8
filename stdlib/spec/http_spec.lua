local json = require "pi.json"
local got
local server = http.listen({ path = "/hook", max_body = 100 }, function(r)
  got = r
  if r.body == "text" then return "plain" end
  if r.body == "json" then return { status = 201, json = { ok = true }, headers = { ["X-Y"] = "z" } } end
  if r.body == "away" then return { status = 302, headers = { Location = "/hook?again=1" } } end
end)
t.equal(server.url, "http://127.0.0.1:" .. server.port .. "/hook")
local r = http.get(server.url .. "?a=1&b=x%20y", { headers = { ["X-Test"] = "1" } })
t.equal({ r.status, r.body }, { 204, "" })
t.equal({ got.method, got.path, got.query.a, got.query.b, got.headers["x-test"], got.body }, { "GET", "/hook", "1", "x y", "1", "" })
t.equal(got.form, nil)
http.post(server.url, { body = "a=1&b=x%20y&a=2", headers = { ["Content-Type"] = "application/x-www-form-urlencoded" } })
t.equal(got.form, { a = "2", b = "x y" })
r = http.post(server.url, { body = "text" })
t.equal({ r.status, r.body, r.headers["content-type"], got.method }, { 200, "plain", "text/plain; charset=utf-8", "POST" })
r = http.request{ url = server.url, body = "json" }
t.equal({ r.status, json.decode(r.body).ok, r.headers["x-y"], r.headers["content-type"] }, { 201, true, "z", "application/json" })
http.request{ url = server.url, method = "put", json = { a = { 1 } } }
t.equal({ got.method, got.body, got.headers["content-type"] }, { "PUT", '{"a":[1]}', "application/json" })
t.equal(http.post(server.url, { body = "away" }).status, 204)
t.equal(got.query.again, "1")
t.equal(http.post(server.url, { body = "away" }).url, server.url .. "?again=1")
t.equal(http.post(server.url:gsub("//", "//u:p@", 1), { body = "away", redirect = false }).url, server.url)
for link, want in pairs{ ["c?d"] = "a/c?d", ["../c"] = "c", ["/x#y"] = "x#y", [" c \n"] = "a/c", [""] = "a/b", ["https://other.example/z"] = "https://other.example/z", ["//other.example"] = "https://other.example" } do
  t.equal(http.resolve("https://example.com/a/b", link), want:find("^http") and want or "https://example.com/" .. want)
end
t.fails("the base is no address such as https://example.com/page", http.resolve("a/b", "c"))
t.fails("the base is no address such as https://example.com/page", http.resolve("mailto:a@b", "c"))
t.fails("the link is malformed", http.resolve("https://example.com", ":c"))
t.raises(function() http.resolve("https://example.com") end, "string expected")
t.equal(http.post(server.url, { body = "away", redirect = false }).status, 302)
t.equal(http.get(server.url .. "/other").status, 404)
t.equal(http.post(server.url, { body = ("x"):rep(101) }).status, 413)
for _, headers in ipairs{ { Host = "evil.example" }, { Host = "evil.example:" .. server.port }, { Origin = "https://evil.example" }, { Origin = "null" }, { ["Sec-Fetch-Site"] = "cross-site" } } do
  got = nil
  t.equal({ http.post(server.url, { headers = headers }).status, got == nil }, { 403, true })
end
t.equal(http.get(server.url, { headers = { Host = "localhost:" .. server.port } }).status, 204)

for _, call in ipairs{ -- nothing of this machine is public
  function(o) return http.get(server.url, o) end, function(o) return http.post(server.url, o) end,
  function(o) o.url = server.url return http.request(o) end,
  function(o) o.url, o.on_chunk = server.url, print return http.stream(o) end,
  function(o) o.url, o.on_event = server.url, print return http.events(o) end,
} do
  t.fails("127.0.0.1 is no public address", call{ public = true })
end
t.fails("is no public address", http.get("http://localhost:" .. server.port .. "/hook", { public = true }))
t.raises(function() http.get(server.url, { public = 1 }) end, "must be a boolean")

local guarded = http.listen({ token = "s3cret" }, function() return "in" end)
t.equal(http.get(guarded.url).status, 401)
t.equal(http.get(guarded.url, { headers = { Authorization = "Bearer wrong" } }).status, 401)
t.equal(http.get(guarded.url .. "/any/path", { headers = { Authorization = "Bearer s3cret" } }).body, "in")
t.fails("address already in use", http.listen({ port = guarded.port }, print))
guarded.close()
guarded.close()
local again = http.listen({ port = guarded.port }, function() return "again" end)
t.equal(http.get(again.url).body, "again")

t.fails("GET http://127.0.0.1:" .. server.port .. "/hook: the answer is larger than 3 bytes", http.request{ url = server.url .. "?secret=1", method = "get", body = "text", max_bytes = 3 })
t.fails("it is no http or https address", http.get("file:///etc/passwd"))
t.fails("it is no http or https address", http.request{ url = "nothing" })
server.close()
t.soon(function()
  local ok, err = http.post("http://u:p@127.0.0.1:" .. server.port .. "/hook?key=k")
  if ok then return false end
  t.fails("POST http://127.0.0.1:" .. server.port .. "/hook: ", ok, err)
  return true
end)

local timer = require "pi.timer"
local slow = http.listen({}, function() timer.sleep(3600000) end)
t.fails("no answer within 20ms", http.get(slow.url, { timeout = 20 }))

t.raises(function() http.request{} end, 'option "url" is missing')
t.raises(function() http.request{ url = "http://x", timout = 1 } end, 'did you mean "timeout"?')
t.raises(function() http.request{ url = "http://x", body = "", json = {} } end, "body and json exclude each other")
t.raises(function() http.request{ url = "http://x", json = print } end, "cannot be JSON")
t.raises(function() http.get() end, "string expected")
t.raises(function() http.get("http://x", { timeout = 0 }) end, "must be positive")
t.raises(function() http.post("http://x", { url = "y" }) end, 'unknown option "url"')
t.raises(function() http.listen({ host = "0.0.0.0" }, print) end, "only 127.0.0.1 is listened on, not 0.0.0.0")
t.raises(function() http.listen({ port = 70000 }, print) end, "70000 is no port")
t.raises(function() http.listen({ prt = 1 }, print) end, 'did you mean "port"?')
t.raises(function() http.listen({}) end, "function expected")
t.equal(http.encode("a b&c/ä~+"), "a%20b%26c%2F%C3%A4~%2B")
t.equal(http.encode{ q = "two words", n = 2, tag = { "a", "b" }, on = true }, "n=2&on=true&q=two%20words&tag=a&tag=b")
t.raises(function() http.encode() end, "http.encode: a text or a table expected, got nil")
t.raises(function() http.encode{ f = print } end, "field f is no text")
t.raises(function() http.encode{ "a" } end, "field 1 is no text")

-- Streams. A server of http.listen answers all at once, which is a stream of one piece.
local streams = http.listen({}, function(r)
  if r.path == "/events" then
    return { headers = { ["Content-Type"] = "text/event-stream; charset=utf-8" },
      body = ": hello\nretry: 1500\nid: 7\ndata: a\ndata: b\n\nevent: ping\ndata: {}\n\nid\ndata: last" }
  elseif r.path == "/long" then
    return ("x"):rep(100000)
  elseif r.path == "/echo" then
    return r.headers.accept .. " " .. r.method .. " " .. r.body
  end
  return { status = 404, body = "nothing\27[31m here" }
end)
local pieces, seen = {}
r = http.stream{ url = streams.url .. "/long", on_chunk = function(bytes, response)
  pieces[#pieces + 1] = bytes
  seen = response
end }
t.equal({ r.status, table.concat(pieces) == ("x"):rep(100000), #pieces > 1, seen.status },
  { 200, true, true, 200 })
r = http.stream{ url = streams.url .. "/none", method = "post", json = { 1 }, on_chunk = function(bytes, response) seen = response.status .. bytes end }
t.equal({ r.status, seen }, { 404, "404nothing\27[31m here" })
local n = 0
r = http.stream{ url = streams.url .. "/long", on_chunk = function() n = n + 1 return true end }
t.equal({ r.status, n }, { 200, 1 })
t.fails("GET " .. streams.url .. "/long: the answer is larger than 1000 bytes", http.stream{ url = streams.url .. "/long", max_bytes = 1000, on_chunk = print })
t.fails("GET " .. slow.url .. ": the server sent nothing for 20ms", http.stream{ url = slow.url, timeout = 20, on_chunk = print })
t.raises(function() http.stream{ url = streams.url .. "/long", on_chunk = function() error("boom") end } end, "stream: on_chunk: http_spec.lua:")
t.raises(function() http.stream{ url = "http://x" } end, 'option "on_chunk" is missing')
t.raises(function() http.stream{ url = "http://x", on_chunk = print, on_event = print } end, 'unknown option "on_event"')

local events = {}
r = http.events{ url = streams.url .. "/events", on_event = function(e) events[#events + 1] = e end }
t.equal({ r.status, r.retry, r.id == nil, #events }, { 200, 1500, true, 3 })
t.equal(events[1], { event = "message", data = "a\nb", id = "7" })
t.equal(events[2], { event = "ping", data = "{}", id = "7" })
t.equal(events[3], { event = "message", data = "last" })
r = http.events{ url = streams.url .. "/events", on_event = function() return true end }
t.equal({ r.status, r.id, r.url }, { 200, "7", streams.url .. "/events" })
t.fails("GET " .. streams.url .. "/none: the answer has no events: status 404, type \"text/plain\": nothing here", http.events{ url = streams.url .. "/none", on_event = print })
t.fails("the answer has no events: status 200, type \"text/plain\": text/event-stream POST x", http.events{ url = streams.url .. "/echo", body = "x", on_event = print })
t.fails("event longer than the limit", http.events{ url = streams.url .. "/events", max_bytes = 1, on_event = print })
t.raises(function() http.events{ url = streams.url .. "/events", on_event = function(e) return e.data.x.y end } end, "events: on_event: http_spec.lua:")
t.raises(function() http.events{ url = streams.url } end, 'option "on_event" is missing')
