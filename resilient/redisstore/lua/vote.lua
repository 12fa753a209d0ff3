-- vote lets a replica have its say: the circuit opens at as many votes as the settings want.
local ROUND, REPLICA, FAILURES, CAUSE = ARGV[OWN + 1], ARGV[OWN + 2], tonumber(ARGV[OWN + 3]), ARGV[OWN + 4]
local HOLD = tonumber(ARGV[OWN + 5])

local s, fault = load()
if not s then return fault end

local function vote()
  local length = math.floor(math.max(openFor(1), HOLD * 1000) / 1000) -- as the replica's own circuit stays open
  local votes = {}
  for _, other in ipairs(live(s.votes)) do
    if other.owner ~= REPLICA then votes[#votes + 1] = other end
  end
  votes[#votes + 1] = {owner = REPLICA, till = NOW + length, length = length}
  s.votes, s.cause, s.last_failure, s.hold = votes, CAUSE, NOW, HOLD
  if #votes >= POLICY.reporters then
    open(s, 1)
    s.failures = FAILURES
  end
  remember(s)
end

if known(s) then return done(s, false, true) end
if ROUND ~= text(s.round) or effective(s, true) ~= CLOSED then return done(s, false, false) end
vote()
return done(s, false, true, true)
