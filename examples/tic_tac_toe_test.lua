local t = require "pi.test"

t.case("the machine is in the way, wins, and the score is kept in the session", function(t)
  t.hook("tic_tac_toe.lua")
  t.answers { custom = "enter 2 right enter 9 q" } -- the middle, then 2, 3 and 9
  t.match(t.command("/tictactoe"), "0 won, 1 lost, 0 drawn")
  t.shown(" O | 2 | 3 ")
  t.shown(" 7 | O | 9 ") -- it stops the middle column
  t.shown("the machine has won: n plays again")
  t.equal(t.entries()[1].result, "O")
  t.match(t.command("/tictactoe"), "0 won, 2 lost, 0 drawn")
end)

t.case("it can be beaten", function(t)
  t.hook("tic_tac_toe.lua")
  t.answers { custom = "1 9 3 2 q" }
  local seen = t.command("/tictactoe")
  t.match(seen, "%d won")
end)

t.case("Esc leaves a game, which does not count", function(t)
  t.hook("tic_tac_toe.lua")
  t.answers { custom = "1" }
  t.match(t.command("/tictactoe"), "0 won, 0 lost, 0 drawn$")
  t.equal(#t.entries(), 0)
end)

t.case("a place that is taken stays as it is, and the machine begins every other game", function(t)
  t.hook("tic_tac_toe.lua")
  t.answers {
    custom = function(_, view)
      view.press("5 1") -- 1 is taken: the machine has answered there
      t.match(view.text(), "^   O | 2 | 3")
      t.match(view.text(), " 4 | X | 6 ")
      t.match(view.press("n"), " 4 | O | 6 ")
      t.match(view.press("h up"), "arrows and Enter")
      return "q"
    end,
  }
  t.command("/tictactoe")
end)

t.case("without a person there is no game", function(t)
  t.hook("tic_tac_toe.lua")
  t.match(t.command("/tictactoe"), "needs a terminal")
end)
