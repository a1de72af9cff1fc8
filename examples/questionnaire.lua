-- Questionnaire: the model may ask you, with answers to choose from.
--
-- The tool "questionnaire" takes one or several questions. Each comes as a dialog, one
-- after the other; "something else" takes an answer in your own words, in as many lines as
-- it takes: Ctrl+J begins another. Esc at any question, and an empty answer, end all of
-- them, and the model is told so. Where nobody can be asked, the model is told to decide
-- for itself.
--
-- Install: pi hooks add example:questionnaire, or try it with pi --hook questionnaire.lua.

local schema = require "pi.schema"
local text = require "pi.text"

local OTHER = "something else"

-- An answer in one's own words, below the question; nil when the user left it.
local function write(title, ctx, call)
  if not ctx.ui.can("draw") then return ctx.ui.input(title, "in your own words", { signal = call.signal }) end
  local theme, field = ctx.ui.theme, ctx.ui.field { rows = 8, prompt = "> ", placeholder = "in your own words" }
  local said = ctx.ui.custom {
    wait = true, cursor = true,
    render = function(width)
      local rows = {}
      for i, row in ipairs(text.wrap(title, width)) do rows[i] = theme.bold(row) end
      for _, row in ipairs(field.render(width)) do rows[#rows + 1] = row end
      rows[#rows + 1] = theme.fg("dim", "Enter answer · Ctrl+J another line · Esc")
      return rows
    end,
    handle_input = field.handle_input,
  }
  return said and said:find("%S") and said or nil
end

-- The answer to a question: a text, or nil when the user left it.
local function ask(question, ctx, call)
  local title = question.header and question.header .. ": " .. question.question or question.question
  local choices = {}
  for i, option in ipairs(question.options or {}) do
    choices[i] = { value = option.label, description = option.description }
  end
  if #choices == 0 then return write(title, ctx, call) end

  local multi = question.multi or false
  if multi and ctx.mode ~= "interactive" then -- programs that drive pi have dialogs for one choice only
    for i, choice in ipairs(choices) do choices[i] = choice.value end
    return ctx.ui.input(title .. " (several of: " .. table.concat(choices, ", ") .. ")", nil, { signal = call.signal })
  end

  local other = {} -- a value of its own, so that no label can be mistaken for it
  choices[#choices + 1] = { value = other, label = OTHER, description = "in your own words" }
  local picked = ctx.ui.select(title, choices, { multi = multi, signal = call.signal })
  if picked == nil then return end

  local answers = {}
  for _, value in ipairs(multi and picked or { picked }) do
    if value == other then value = write(title, ctx, call) end
    if value == nil then return end
    answers[#answers + 1] = value
  end
  return #answers > 0 and table.concat(answers, ", ") or "none of these"
end

pi.tool {
  name = "questionnaire",
  label = "Questions",
  description = "Ask the user one or several questions and wait for the answers. Use it when the task can be read in "
    .. "different ways and the choice matters. They can always answer in their own words.",
  prompt_snippet = "ask the user questions with answers to choose from",
  execution = "sequential", -- two dialogs at a time would confuse everybody
  annotations = { read_only = true },
  parameters = schema.object {
    questions = schema.array(schema.object {
      question = schema.string("the question, whole"),
      header = schema.optional(schema.string("what it is about, in one or two words")),
      options = schema.optional(schema.array(schema.object {
        label = schema.string("the answer, in a few words"),
        description = schema.optional(schema.string("what it would mean")),
      }, "answers to choose from; without them the user writes one")),
      multi = schema.optional(schema.boolean("several answers may be chosen")),
    }, { min_items = 1, max_items = 10 }),
  },
  execute = function(params, ctx, call)
    if not ctx.has_ui then
      return { content = "Nobody can be asked here. Decide yourself, and say what you assumed.", is_error = true }
    end
    local lines, answers = {}, {}
    for i, question in ipairs(params.questions) do
      local answer = ask(question, ctx, call)
      if not answer then
        lines[#lines + 1] = question.question .. "\n  The user does not want to answer. Go on without it, or stop and say why you cannot."
        return { content = table.concat(lines, "\n"), details = { answers = answers, left = true } }
      end
      answers[i] = answer
      lines[#lines + 1] = question.question .. "\n  " .. answer
    end
    return { content = table.concat(lines, "\n"), details = { answers = answers } }
  end,
  render_call = function(params, _, theme)
    local n = #(params.questions or {})
    return theme.fg("tool_title", "questionnaire") .. " " .. theme.fg("muted", n == 1 and "1 question" or n .. " questions")
  end,
}
