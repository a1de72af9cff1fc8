local page = [[<!doctype html><title> A  page </title><script>evil()</script><nav><a href="/menu">menu</a></nav>
<main><h1>Hello <em>there</em></h1><p>See <a href="b?x=1">this</a> &amp; that.<ul><li>one<li>two</ul></main>]]
local text, info = html.markdown(page, { base = "https://example.com/a/", main = true })
t.equal(text, "# Hello *there*\n\nSee [this](https://example.com/a/b?x=1) & that.\n\n- one\n- two\n")
t.equal(info.title, "A page")
t.equal(html.markdown("<p>plain"), "plain\n")
t.fails("the page is larger than 8 MiB", html.markdown((" "):rep(8 * 1024 * 1024 + 1)))
t.raises(function() html.markdown(page, { base = "nowhere" }) end, 'option "base" is an address')
t.raises(function() html.markdown(page, { man = true }) end, 'did you mean "main"?')
t.raises(function() html.markdown() end, "string expected")
