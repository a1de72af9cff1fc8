//go:build unix

package e2e

import (
	"testing"
)

// What hooks that were written for pi, the TypeScript one, show and ask in a terminal.

const portedGame = `local pi = require "pi.compat.pi_v2"

local Game = {}
Game.__index = Game

function Game.new(close, high)
  return setmetatable({ keys = {}, high = high, close = close }, Game)
end

function Game:render(width)
  return { "HIGH " .. self.high, "KEYS " .. table.concat(self.keys, " ") }
end

function Game:handle_input(data)
  if data == "q" or data == "\27" then return self.close(#self.keys) end
  local codes = {}
  for i = 1, #data do codes[i] = data:byte(i) end
  self.keys[#self.keys + 1] = table.concat(codes, ".")
end

pi.register_command("game", { description = "a game", handler = function(args, ctx)
  local high, handle = 0, nil
  for _, entry in ipairs(ctx.session_manager.get_entries()) do
    if entry.type == "custom" and entry.custom_type == "game_score" then high = math.max(high, entry.data.score) end
  end
  local game = Game.new(function(score)
    pi.append_entry("game_score", { score = score })
    handle.close()
  end, high)
  handle = ctx.ui.custom(game)
end })

pi.register_command("pick", { description = "picks", handler = function(args, ctx)
  local value = ctx.ui.custom(function(tui, theme, keybindings, done)
    local n = 0
    return {
      render = function(width) return { "PICK " .. n, theme.bold("of " .. width) } end,
      handle_input = function(data)
        if data == "\r" then return done("number " .. n) end
        n = n + 1
        tui.request_render()
      end,
    }
  end)
  local early = ctx.ui.custom(function(done) done("at once") return { render = function() return {} end } end)
  ctx.ui.notify("picked " .. value .. ", " .. early)
end })
`

func TestAPortedGameGetsBytesAndKeepsItsScore(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := newDesk(t, scenery{world: w, hook: portedGame})
	s.rests("")
	s.answered("hello", "Hello.")
	s.Type("/game\r")
	s.See("HIGH 0")
	for _, key := range []string{"up", "right", "enter", "tab", "ctrl+a", "backspace"} {
		s.Press(key)
	}
	s.Type("xÄ ")
	s.See("KEYS 27.91.65 27.91.67 13 9 1 127 120 195.132 32")
	s.Press("esc")
	s.UntilGone("KEYS")
	s.rests("")
	s.Type("/pick\r")
	s.See("PICK 0")
	s.Type("a")
	s.See("PICK 1")
	s.Press("enter")
	s.See("picked number 1, at once")
	s.rests("")
	s.quits()
	again := newDesk(t, scenery{world: w, args: []string{"--continue"}, model: s.model})
	again.rests("")
	again.Type("/game\r")
	again.See("HIGH 9")
	again.Type("q")
	again.UntilGone("HIGH")
	again.quits()
}

func TestAPortedGateAsksAndAPortedMessageIsPainted(t *testing.T) {
	t.Parallel()
	s := newDesk(t, scenery{hook: `local pi = require "pi.compat.pi_v2"
pi.on("tool_call", function(event, ctx)
  if event.tool_name ~= "bash" then return nil end
  local choice = ctx.ui.select("Allow " .. event.input.command .. "?", { "Yes", "No" })
  if choice ~= "Yes" then return { block = true, reason = "Blocked by user" } end
end)
pi.register_message_renderer("card", function(message, options, theme)
  return pi.tui.Text(theme.fg("accent", "PAINTED " .. message.details.n) .. " " .. ("word "):rep(30), 2, 0)
end)
pi.register_command("card", { description = "a card", handler = function()
  pi.send_message{ custom_type = "card", content = "x", display = true, details = { n = 7 } }
end })
pi.on("session_start", function(_, ctx)
  ctx.ui.set_status("a", "STATUS") ctx.ui.set_widget("w", { "WIDGET" })
  ctx.ui.set_footer(function(tui, theme) return pi.tui.Text("FOOTER", 0, 0) end)
end)`})
	s.rests("")
	for _, text := range []string{"STATUS", "WIDGET", "FOOTER"} {
		s.See(text)
	}
	turn := s.ask("go")
	turn.Call("c1", "bash", "command", "touch made")
	turn.End()
	s.quietly("Allow touch made?")
	s.Press("enter")
	turn = s.turn()
	turn.Call("c2", "bash", "command", "rm made")
	turn.End()
	s.quietly("Allow rm made?")
	s.Press("down")
	s.Press("enter")
	turn = s.turn()
	s.See("Blocked by user")
	turn.Answer("Done.")
	s.rests("")
	s.Type("/card\r")
	now := s.See("PAINTED 7")
	if row, col := now.Find("PAINTED 7"); col < 2 || !now.Shows("  word") {
		t.Errorf("the card is not indented or wrapped, at %d,%d:\n%s", row, col, now)
	}
	s.quits()
}
