-- 2: attempt to index "ctx", which is nil, with key "ui"; a handler gets it as its second argument: function(event, ctx)
ctx.ui.set_status("hello", "ready")
