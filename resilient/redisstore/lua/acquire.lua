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
    s.limit, s.needed = POLICY.probes, POLICY.needed -- the round's limits are those of whoever begins it
    lease()
    return true
  end
  if find(s.leases, ID) then return true end
  local limit = s.limit ~= 0 and s.limit or POLICY.probes
  if #live(s.leases) >= limit then return false end
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
