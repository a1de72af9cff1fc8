---@meta pi.html

--- HTML.
---@class pi.html
local html = {}

--- Options of `html.markdown`.
---@class pi.MarkdownOptions
---@field base? string the address of the page, where its relative addresses begin
---@field main? boolean only the content: what is in the element `main`, or else `article`, if there is one, and without menus, footers and forms

--- What is known of a page.
---@class pi.PageInfo
---@field title string empty if it has none

--- A page as Markdown, for a model to read. Scripts, styles and what the page hides are left out, addresses other than of http, https and mailto too; nothing is loaded. The page has at most 8 MiB; what is nested deeper than 256, and more than 8 lists or quotes in each other, is there without its form.
---@param page string
---@param opts? pi.MarkdownOptions
---@return string? text
---@return pi.PageInfo|string info or a message: it is too large
function html.markdown(page, opts) end

return html
