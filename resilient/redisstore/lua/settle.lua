-- settle counts an outcome, and opens or closes the circuit in the same step.
local ROUND, TOKEN, OUTCOME, RESTART, CAUSE =
  ARGV[OWN + 1], ARGV[OWN + 2], ARGV[OWN + 3], ARGV[OWN + 4] == '1', ARGV[OWN + 5]
local HOLD = tonumber(ARGV[OWN + 6])

local s, fault = load()
if not s then return fault end

local function closed()
  if OUTCOME == NEUTRAL then return true end
  if OUTCOME == SUCCESS then
    if s.failures == 0 then return true end
    s.failures = 0
  else
    local failures = RESTART and 1 or s.failures + 1
    s.last_failure, s.hold, s.cause = NOW, HOLD, CAUSE
    local enough = POLICY.threshold > 0 and failures >= POLICY.threshold -- 0: the failures in a row are not looked at
    if enough or HOLD > 0 then open(s, 1) end
    s.failures = failures
  end
  remember(s)
  return true
end

local function halfOpen()
  local at = find(s.leases, TOKEN)
  if not at then
    if OUTCOME ~= NEUTRAL then return false end
    remember(s)
    return true
  end
  table.remove(s.leases, at)
  if OUTCOME == SUCCESS then
    s.successes = s.successes + 1
    if s.successes >= (s.needed ~= 0 and s.needed or POLICY.needed) then
      enter(s, CLOSED)
      s.generation = 0
    end
  elseif OUTCOME ~= NEUTRAL then
    s.last_failure, s.hold, s.cause = NOW, HOLD, CAUSE
    open(s, s.generation + 1)
    s.failures = 1 -- the count was 0 on entry, and one failure ends it
  end
  remember(s)
  return true, true
end

local counted, place = true, false
if not known(s) then
  local state = effective(s, true) -- who is switched off by its own settings does not ask
  if ROUND ~= text(s.round) then
    counted = OUTCOME == NEUTRAL
  elseif state == CLOSED then
    counted = closed()
  elseif state == HALF_OPEN then
    counted, place = halfOpen()
  end
end
return done(s, false, counted, place)
