-- read changes nothing, but that a force whose time is over is lifted.
local s, fault = load()
if not s then return fault end
return done(s, false, false)
