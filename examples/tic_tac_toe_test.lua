local t = require "pi.test"

-- Plays a game: presses keys one after the other, and returns how it looks then.
local function play(view, keys)
  for key in keys:gmatch("%S+") do view.key(key) end
  return table.concat(view.lines(), "\n")
end

t.case("the machine is in the way, wins, and the score is kept in the session", function(t)
  t.hook("tic_tac_toe.lua")
  t.answers {
    custom = function(view)
      t.match(play(view, "enter"), " O | 2 | 3 ") -- the user has the middle
      t.match(play(view, "2"), " 7 | O | 9 ") -- its column is stopped
      t.match(play(view, "right enter"), " O | O | 9 ") -- and the way from 3 to 7
      t.match(play(view, "9"), "the machine has won: n plays again")
      view.key("q")
    end,
  }
  t.match(t.command("/tictactoe"), "0 won, 1 lost, 0 drawn")
  t.equal(t.entries()[1].result, "O")
  t.match(t.command("/tictactoe"), "0 won, 2 lost, 0 drawn")
end)

t.case("it can be beaten", function(t)
  t.hook("tic_tac_toe.lua")
  t.answers { custom = function(view) t.match(play(view, "1 9 7 4"), "you have won") end }
  t.match(t.command("/tictactoe"), "1 won")
end)

t.case("Esc leaves a game, which does not count", function(t)
  t.hook("tic_tac_toe.lua")
  t.answers { custom = function(view) view.key("1") end }
  t.match(t.command("/tictactoe"), "0 won, 0 lost, 0 drawn$")
  t.equal(#t.entries(), 0)
end)

t.case("a place that is taken stays as it is, and the machine begins every other game", function(t)
  t.hook("tic_tac_toe.lua")
  t.answers {
    custom = function(view)
      local picture = play(view, "5 1") -- the machine has answered at 1
      t.match(picture, "^   O | 2 | 3")
      t.match(picture, " 4 | X | 6 ")
      t.match(play(view, "n"), " 4 | O | 6 ")
    end,
  }
  t.command("/tictactoe")
end)

t.case("without a user there is no game", function(t)
  t.hook("tic_tac_toe.lua")
  t.match(t.command("/tictactoe"), "needs a terminal")
end)
