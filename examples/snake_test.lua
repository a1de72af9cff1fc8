local t = require "pi.test"

-- Where the first place with this sign is, in columns and rows of the field.
local function find(picture, sign)
  local y = 0
  for line in picture:gmatch("[^\n]+") do
    local at = line:find(sign, 1, true)
    if at then return (at - 2) / 2, y end
    y = y + 1
  end
end

local BACK = { left = "right", right = "left", up = "down", down = "up" }

local function picture(view) return table.concat(view.lines(), "\n") end

-- Steers to the food, one step after the other, until it is eaten. The machine may be slow
-- and the snake a step ahead: when it has met a wall it begins anew.
local function eat(t, view)
  local going = "right"
  for _ = 1, 300 do
    local now = picture(view)
    if now:find("[1-9]%d* points") then return end
    if now:find("over:", 1, true) then
      view.key("enter")
      going = "right"
    else
      local x, y = find(now, "@@")
      local fx, fy = find(now, "()")
      local to = fy < y and "up" or fy > y and "down" or fx < x and "left" or "right"
      if to == BACK[going] then -- it cannot turn on the spot
        to = (to == "left" or to == "right") and (y > 1 and "up" or "down") or (fx < x and "left" or "right")
      end
      view.key(to)
      going = to
      t.clock.advance(130)
    end
  end
  t.fail("the snake does not come to its food:\n" .. picture(view))
end

t.case("the best score is kept in the session", function(t)
  t.hook("snake.lua")
  t.answers {
    custom = function(view)
      eat(t, view)
      view.key("q")
    end,
  }
  local best = t.command("/snake"):match("snake: ([1-9]%d*) points")
  t.reopen()
  t.answers {
    custom = function(view)
      view.key("p")
      t.match(picture(view), "0 points, best " .. best .. " · p goes on")
    end,
  }
  t.command("/snake")
end)

t.case("it ends at the wall, and Enter plays again", function(t)
  t.hook("snake.lua")
  t.answers {
    custom = function(view)
      view.key("up")
      for _ = 1, 6 do t.clock.advance(130) end
      t.match(picture(view), "over: Enter plays again")
      view.key("enter")
      t.match(picture(view), "0 points.*arrows turn")
    end,
  }
  t.command("/snake")
end)

t.case("a small window has a small field, with all of its borders", function(t)
  t.hook("snake.lua")
  t.answers {
    custom = function(view)
      local lines = view.lines(40, 12)
      t.equal({ #lines, #lines[1] }, { 12, 40 })
      t.equal(lines[11], lines[1])
      t.match(lines[12], "^0 points.*q ends")
    end,
  }
  t.command("/snake")
end)

t.case("without a user there is no game", function(t)
  t.hook("snake.lua")
  t.match(t.command("/snake"), "needs a terminal")
end)
