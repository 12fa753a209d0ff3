-- acquire asks for a permit. A token that was granted already is granted still; one that was settled never is again.
local LEASE = tonumber(ARGV[OWN + 1])

local s, fault = load()
if not s then return fault end

local function lease()
  s.leases = live(s.leases)
  s.leases[#s.leases + 1] = {owner = ID, till = NOW + LEASE, length = LEASE}
end

local function probe(state)
  if state == OPEN then
    if not due(s) then return false end
    enter(s, HALF_OPEN)
    s.last_half_open = NOW
  elseif find(s.leases, ID) then
    return true
  elseif #live(s.leases) >= (s.limit ~= 0 and s.limit or POLICY.probes) then
    return false
  end
  if s.limit == 0 then
    -- The round's limits are those of whoever gets its first permit: that begins it, or is the first after an
    -- operator's force was lifted.
    s.limit, s.needed = POLICY.probes, POLICY.needed
  end
  lease()
  return true
end

local state = effective(s, POLICY.enabled)
local granted = false
if known(s) or state == FORCED_OPEN then
  granted = false
elseif state == OPEN or state == HALF_OPEN then
  granted = probe(state)
else
  granted = true
end
return done(s, granted, false)
