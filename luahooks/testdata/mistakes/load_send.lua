-- 2: send_message: not available while the hook loads; use session_start
pi.send_message({ custom_type = "hello_note", content = "hello" })
