-- Snake: the game, in the terminal, for as long as the agent works.
--
-- /snake begins it. The arrows or h, j, k, l turn the snake, p or the space bar
-- stops and goes on, q and Esc end it. It ends by itself when the snake bites
-- itself or a wall. The best score is kept in the session, for as long as there is its file.
--
-- It shows how a component is made: render draws it, handle_input gets the keys,
-- a timer asks for the next picture, and the caller waits for the value that
-- handle.close gets.
--
-- Install: pi hooks add example:snake, or try it with pi --hook snake.lua.

local timer = require "pi.timer"
local time = require "pi.time"

local WIDTH, HEIGHT = 24, 12 -- of the field, in places of two columns; in a small window it is smaller
local STEP = 130 -- ms
local TYPE = "snake_score" -- an entry of the session for each game that was better than all before

local turns = {
  up = { 0, -1 }, down = { 0, 1 }, left = { -1, 0 }, right = { 1, 0 },
  k = { 0, -1 }, j = { 0, 1 }, h = { -1, 0 }, l = { 1, 0 },
}

-- A place is x + y * width, both from 0. columns and rows are those of the window.
local function new_game(columns, rows)
  math.randomseed(time.now())
  local width = math.max(8, math.min(WIDTH, math.floor(columns / 2) - 1))
  local height = math.max(4, math.min(HEIGHT, rows - 3)) -- two borders, and the line below
  local start = math.floor((height - 1) / 2) * width
  local game = {
    width = width, height = height, body = { start + 5, start + 4, start + 3 }, going = { 1, 0 }, score = 0, state = "running",
  }
  function game.taken(place)
    for _, at in ipairs(game.body) do
      if at == place then return true end
    end
  end
  function game.feed()
    repeat game.food = math.random(0, width * height - 1) until not game.taken(game.food)
  end
  function game.turn(to)
    local back = game.last and to[1] == -game.last[1] and to[2] == -game.last[2]
    if not back then game.going = to end
  end
  function game.step()
    if game.state ~= "running" then return end
    local head = game.body[1]
    local x, y = head % width + game.going[1], math.floor(head / width) + game.going[2]
    local place = x + y * width
    game.last = game.going
    if x < 0 or x >= width or y < 0 or y >= height or game.taken(place) then
      game.state = "over"
      return
    end
    table.insert(game.body, 1, place)
    if place == game.food then
      game.score = game.score + 1
      game.feed()
    else
      table.remove(game.body)
    end
  end
  game.feed()
  return game
end

-- The best score of this session, on all of its branches.
local function best_score(ctx)
  local best = 0
  for _, entry in ipairs(ctx.session.entries()) do
    if entry.type == TYPE then best = math.max(best, entry.score) end
  end
  return best
end

local function draw(game, best, theme)
  local shown = { [game.food] = theme.fg("error", "()") }
  for i, place in ipairs(game.body) do
    shown[place] = theme.fg("success", i == 1 and "@@" or "oo")
  end
  local border = theme.fg("border", "+" .. ("--"):rep(game.width) .. "+")
  local side = theme.fg("border", "|")
  local lines = { border }
  for y = 0, game.height - 1 do
    local row = {}
    for x = 0, game.width - 1 do row[#row + 1] = shown[x + y * game.width] or "  " end
    lines[#lines + 1] = side .. table.concat(row) .. side
  end
  lines[#lines + 1] = border
  local what = game.state == "over" and "over: Enter plays again, q ends" or game.state == "paused" and "p goes on" or "arrows turn, p stops, q ends"
  lines[#lines + 1] = ("%d points, best %d · %s"):format(game.score, math.max(best, game.score), what)
  return lines
end

pi.command("snake", {
  description = "play snake while you wait",
  handler = function(ctx)
    if not ctx.has_ui then return { status = "snake needs a terminal" } end
    local columns, rows = 80, 24 -- until it is drawn
    local game, best, surface = new_game(columns, rows), best_score(ctx), nil
    local function note()
      if game.score <= best then return end
      best = game.score
      ctx.save_entry { type = TYPE, score = best }
    end
    local stop = timer.every(STEP, function()
      game.step()
      if game.state == "over" then note() end
      if surface and game.state ~= "paused" then surface.request_render() end
    end)
    local score = ctx.ui.custom {
      wait = true, place = "over", rows = HEIGHT + 3,
      render = function(width, handle, height)
        local fits = columns == width and rows == height
        surface, columns, rows = handle, width, height
        if not fits and not game.last then game = new_game(columns, rows) end -- it has not begun
        return draw(game, best, ctx.ui.theme)
      end,
      handle_input = function(key, handle)
        if key == "q" then
          handle.close(game.score)
        elseif key == "p" or key == "space" then
          game.state = game.state == "running" and "paused" or game.state == "paused" and "running" or game.state
        elseif key == "enter" and game.state == "over" then
          game = new_game(columns, rows)
        elseif turns[key] and game.state == "running" then
          game.turn(turns[key])
        end
      end,
    }
    stop()
    note() -- of a game that was left in the middle
    return { status = ("snake: %d points"):format(score or game.score) }
  end,
})
