-- Tic-tac-toe: three in a row, against the machine, while the agent works.
--
-- /tictactoe begins a game. Arrows or h, j, k, l move, Enter or the space bar puts your
-- X, the digits 1 to 9 do both at once; n begins anew, q and Esc end it. Who begins
-- changes with each game. What you won and lost is kept in the session, for as long as
-- there is its file.
--
-- It shows a component whose state is a plain table: the rules know nothing of the
-- terminal, draw makes lines of the state, and handle_input changes it.
--
-- Install: pi hooks add example:tic_tac_toe, or try it with pi --hook tic_tac_toe.lua.

local TYPE = "tic_tac_toe_game"

-- The rules -------------------------------------------------------------------
-- A board is a list of nine texts, "X", "O" or "", row by row.

local LINES = { { 1, 2, 3 }, { 4, 5, 6 }, { 7, 8, 9 }, { 1, 4, 7 }, { 2, 5, 8 }, { 3, 6, 9 }, { 1, 5, 9 }, { 3, 5, 7 } }

-- The place that completes a line for a player, or nil.
local function winning_place(board, player)
  for _, line in ipairs(LINES) do
    local own, free = 0, nil
    for _, place in ipairs(line) do
      if board[place] == player then own = own + 1 elseif board[place] == "" then free = place end
    end
    if own == 2 and free then return free end
  end
end

-- "X", "O" or "draw"; nil while the game goes on.
local function result(board)
  for _, line in ipairs(LINES) do
    local first = board[line[1]]
    if first ~= "" and first == board[line[2]] and first == board[line[3]] then return first end
  end
  for _, mark in ipairs(board) do
    if mark == "" then return end
  end
  return "draw"
end

-- Where the machine plays: it wins if it can, else it is in your way, else the middle,
-- a corner, a side. That can be beaten.
local function reply(board)
  local place = winning_place(board, "O") or winning_place(board, "X")
  if place then return place end
  for _, each in ipairs { 5, 1, 3, 7, 9, 2, 4, 6, 8 } do
    if board[each] == "" then return each end
  end
end

-- The score --------------------------------------------------------------------

local function score(ctx)
  local sum = { X = 0, O = 0, draw = 0 }
  for _, entry in ipairs(ctx.session.entries()) do
    if entry.type == TYPE and sum[entry.result] then sum[entry.result] = sum[entry.result] + 1 end
  end
  return sum
end

-- The game ---------------------------------------------------------------------

local function new_game(number)
  local game = { board = { "", "", "", "", "", "", "", "", "" }, at = 5, number = number }
  if number % 2 == 0 then game.board[reply(game.board)] = "O" end
  return game
end

-- Puts the user's mark and then the machine's. Returns whether the game ended with it.
local function play(game, place)
  if game.result or game.board[place] ~= "" then return false end
  game.board[place] = "X"
  game.result = result(game.board)
  if not game.result then
    game.board[reply(game.board)] = "O"
    game.result = result(game.board)
  end
  return game.result ~= nil
end

local MOVES = { left = -1, right = 1, up = -3, down = 3, h = -1, l = 1, k = -3, j = 3 }

-- Moves within the row or column, from one end to the other.
local function move(at, by)
  if by == 3 or by == -3 then return (at - 1 + by) % 9 + 1 end
  return math.floor((at - 1) / 3) * 3 + (at - 1 + by) % 3 + 1
end

local SAYS = { X = "you have won", O = "the machine has won", draw = "nobody has won" }

local function draw(game, sum, theme)
  local lines = {}
  for row = 0, 2 do
    local cells = {}
    for place = row * 3 + 1, row * 3 + 3 do
      local mark = game.board[place]
      local cell = " " .. (mark ~= "" and mark or tostring(place)) .. " "
      local colour = mark == "X" and "success" or mark == "O" and "error" or "dim"
      cell = theme.fg(colour, cell)
      cells[#cells + 1] = place == game.at and not game.result and theme.inverse(cell) or cell
    end
    lines[#lines + 1] = "  " .. table.concat(cells, theme.fg("border", "|"))
    if row < 2 then lines[#lines + 1] = "  " .. theme.fg("border", "---+---+---") end
  end
  local what = game.result and SAYS[game.result] .. ": n plays again, q ends" or "arrows and Enter, or 1 to 9; q ends"
  lines[#lines + 1] = ("%d won, %d lost, %d drawn · %s"):format(sum.X, sum.O, sum.draw, what)
  return lines
end

pi.command("tictactoe", {
  description = "play tic-tac-toe while you wait",
  handler = function(ctx)
    if not ctx.has_ui then return { status = "tic-tac-toe needs a terminal" } end
    local game, sum = new_game(1), score(ctx)
    local function put(place)
      if not play(game, place) then return end
      ctx.save_entry { type = TYPE, result = game.result }
      sum = score(ctx)
    end
    ctx.ui.custom {
      wait = true, place = "over", rows = 6,
      render = function() return draw(game, sum, ctx.ui.theme) end,
      handle_input = function(key, handle)
        if key == "q" then
          handle.close()
        elseif key == "n" then
          game = new_game(game.number + 1)
        elseif MOVES[key] then
          game.at = move(game.at, MOVES[key])
        elseif key == "enter" or key == "space" then
          put(game.at)
        elseif key:find("^[1-9]$") then
          game.at = tonumber(key)
          put(game.at)
        end
      end,
    }
    return { status = ("tic-tac-toe: %d won, %d lost, %d drawn"):format(sum.X, sum.O, sum.draw) }
  end,
})
