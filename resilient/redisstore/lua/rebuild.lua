-- rebuild writes a state anew that made no sense, from what its sender knows, in a new round. It changes no other.
local STATE, GENERATION, FAILURES, CAUSE = tonumber(ARGV[OWN + 1]), tonumber(ARGV[OWN + 2]), tonumber(ARGV[OWN + 3]), ARGV[OWN + 4]
local AGES = {
  last_failure = tonumber(ARGV[OWN + 5]), last_half_open = tonumber(ARGV[OWN + 6]), since = tonumber(ARGV[OWN + 7]),
}

local ROUND = number(ARGV[OWN + 8]) or 0 -- the last one that its sender knows of

local s, fault = load()
if s then return done(s, false, false) end
if not string.find(fault.err, 'GARBLED', 1, true) then return fault end

s = healthy()
s.round = ROUND
enter(s, STATE)
s.cause, s.since = CAUSE, 0
if STATE ~= CLOSED then s.generation, s.hold = math.max(GENERATION, 1), tonumber(ARGV[OWN + 9]) end
if STATE ~= HALF_OPEN then s.failures = FAILURES end
for name, age in pairs(AGES) do
  if age > 0 then s[name] = math.max(NOW - age, 1) end
end
remember(s)
redis.call('DEL', KEY) -- it may be of another type
was = {}
return done(s, false, false, true)
