-- operate carries out an operator's order, and keeps it for those who wonder later.
local FORCE, RESET, FOR, AUTHOR, REASON =
  tonumber(ARGV[OWN + 1]), ARGV[OWN + 2] == '1', tonumber(ARGV[OWN + 3]), ARGV[OWN + 4], ARGV[OWN + 5]

local s, fault = load()
if not s then return fault end

local function reset()
  s.force, s.force_until, s.generation, s.last_failure, s.last_half_open, s.cause = 0, 0, 0, 0, 0, ''
  enter(s, CLOSED)
end

local function force()
  if FORCE ~= s.force then
    s.force, s.force_until = FORCE, 0
    enter(s, s.state)
  end
  if FORCE ~= 0 then s.force_until = NOW + FOR end
end

if known(s) then return done(s, false, false) end
if RESET then reset() else force() end
s.order_force, s.order_reset, s.order_for, s.author, s.reason, s.ordered = FORCE, RESET and 1 or 0, FOR, AUTHOR, REASON, NOW
remember(s)
return done(s, false, false, true)
