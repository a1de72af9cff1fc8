-- 2: pi has no field "sendUserMessage", did you mean "send_user_message"? (pi.compat.marvin, pi.compat.omp and pi.compat.pi_v2 have it)
pi.command("go", { handler = function() pi.sendUserMessage("go on", { deliverAs = "followUp" }) end })
