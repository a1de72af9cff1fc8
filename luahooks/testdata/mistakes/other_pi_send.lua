-- 2: pi has no field "sendUserMessage", did you mean "send_user_message"?
pi.command("go", { handler = function() pi.sendUserMessage("go on", { deliverAs = "followUp" }) end })
