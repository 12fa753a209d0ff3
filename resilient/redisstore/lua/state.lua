-- What all commands have in common: the state of one circuit, kept in one hash, and what may be done to it. A command's
-- own script follows below it. breaker.Record.Apply is what both are held to.
--
-- Numbers are decimal text. Times are in microseconds: 2^53 of them reach to the year 2255. IDs and tokens use all 64
-- bits, so they stay text and are never made numbers.

local CLOSED, OPEN, HALF_OPEN, FORCED_OPEN, DISABLED = 0, 1, 2, 3, 5
local SUCCESS, NEUTRAL = '1', '3'
local LARGEST = 9007199254740991
local REMEMBERED = 64
local LARGEST_ID = '18446744073709551615'
local MOST_PROBES, LONGEST_HOLD = 100, 86400000000 -- no policy allows more, no circuit asks for more

local KEY, CIRCUIT, CHANNEL, RETENTION, ID = KEYS[1], ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4]
local POLICY = {
  enabled = ARGV[5] == '1',
  threshold = tonumber(ARGV[6]),
  recovery = tonumber(ARGV[7]),
  cooldown = tonumber(ARGV[8]),
  probes = tonumber(ARGV[9]),
  needed = tonumber(ARGV[10]),
  multiplier = tonumber(ARGV[11]),
  longest = tonumber(ARGV[12]),
  reporters = tonumber(ARGV[13]),
}
local OWN = 13 -- a command's own arguments come after these

local NUMBERS = {
  'round', 'state', 'force', 'generation', 'last_failure', 'last_half_open', 'since', 'successes', 'force_until',
  'limit', 'needed', 'failures', 'order_force', 'order_reset', 'order_for', 'ordered', 'hold',
}
local TEXTS = {'cause', 'author', 'reason'}
local SPANS = {'leases', 'votes'} -- lists of owner:end:length

local FIELDS = {'v'}
for _, names in ipairs({NUMBERS, TEXTS, SPANS, {'seen'}}) do
  for _, name in ipairs(names) do FIELDS[#FIELDS + 1] = name end
end

-- The clock of whoever keeps the state decides, and no client's.
local clock = redis.call('TIME')
local NOW = tonumber(clock[1]) * 1000000 + tonumber(clock[2])

local was = {} -- the fields as they are stored, to see what has changed
local before = {} -- of the state: what it was
local clamped = false

local function text(number) return string.format('%.0f', number) end

local function number(raw)
  if not raw or #raw > 16 or not string.find(raw, '^%d+$') then return nil end
  local value = tonumber(raw)
  if value > LARGEST then return nil end
  return value
end

local function isID(raw)
  return #raw < #LARGEST_ID or (#raw == #LARGEST_ID and raw <= LARGEST_ID)
end

local function spans(raw)
  if not raw then return nil end
  local list = {}
  for item in string.gmatch(raw, '[^,]+') do
    local owner, till, length = string.match(item, '^(%d+):(%d+):(%d+)$')
    till, length = number(till), number(length)
    if not till or not length or not isID(owner) then return nil end
    list[#list + 1] = {owner = owner, till = till, length = length}
  end
  return list
end

local function unspans(list)
  local items = {}
  for i, span in ipairs(list) do items[i] = span.owner .. ':' .. text(span.till) .. ':' .. text(span.length) end
  return table.concat(items, ',')
end

-- The fields' values, in the order of FIELDS.
local function encode(s)
  local values = {'1'}
  for _, name in ipairs(NUMBERS) do values[#values + 1] = text(s[name]) end
  for _, name in ipairs(TEXTS) do values[#values + 1] = s[name] end
  for _, name in ipairs(SPANS) do values[#values + 1] = unspans(s[name]) end
  values[#values + 1] = table.concat(s.seen, ',')
  return values
end

local function healthy()
  local s = {seen = {}}
  for _, name in ipairs(NUMBERS) do s[name] = 0 end
  for _, name in ipairs(TEXTS) do s[name] = '' end
  for _, name in ipairs(SPANS) do s[name] = {} end
  return s
end

-- The state that the values tell, or nil and the name of the field that makes no sense.
local function decode(values)
  local s, seen = {}, nil
  local at = 1
  for _, name in ipairs(NUMBERS) do
    at = at + 1
    s[name] = number(values[at])
    if not s[name] then return nil, name end
  end
  for _, name in ipairs(TEXTS) do
    at = at + 1
    s[name] = values[at]
    if not s[name] then return nil, name end
  end
  for _, name in ipairs(SPANS) do
    at = at + 1
    s[name] = spans(values[at])
    if not s[name] then return nil, name end
  end
  seen = values[at + 1]
  if not seen or string.find(seen, '[^%d,]') then return nil, 'seen' end
  s.seen = {}
  for id in string.gmatch(seen, '%d+') do s.seen[#s.seen + 1] = id end
  for _, name in ipairs({'limit', 'needed'}) do
    if s[name] > MOST_PROBES then return nil, name end
  end
  if s.hold > LONGEST_HOLD then return nil, 'hold' end
  if s.state > HALF_OPEN then return nil, 'state' end
  if s.force > 3 then return nil, 'force' end
  if s.order_force > 3 then return nil, 'order_force' end
  if s.order_reset > 1 then return nil, 'order_reset' end
  return s
end

-- Times that lie ahead were written by a clock that was wrong, or before this one went backwards. They count as now.
local function clamp(s)
  for _, name in ipairs({'last_failure', 'last_half_open', 'since', 'ordered'}) do
    if s[name] > NOW then s[name], clamped = NOW, true end
  end
  if s.force_until > NOW + s.order_for then s.force_until, clamped = NOW + s.order_for, true end
  for _, name in ipairs(SPANS) do
    for _, span in ipairs(s[name]) do
      if span.till > NOW + span.length then span.till, clamped = NOW + span.length, true end
    end
  end
end

-- A new round begins: one that has never been, even if what was stored has been lost meanwhile.
local function enter(s, state)
  s.state = state
  s.round = math.max(s.round + 1, NOW)
  s.since, s.successes, s.limit, s.needed = NOW, 0, 0, 0
  s.leases, s.votes = {}, {}
  if state ~= OPEN then s.failures = 0 end
  if state == CLOSED then s.hold = 0 end
end

local function open(s, generation)
  enter(s, OPEN)
  s.generation = generation
end

local function garbled(what) return nil, redis.error_reply('GARBLED ' .. what) end

-- The circuit's state, or nil and the error to answer with. What is not there is closed and healthy.
local function load()
  local raw = redis.pcall('HMGET', KEY, unpack(FIELDS))
  if raw.err then
    if string.find(raw.err, 'WRONGTYPE', 1, true) then return garbled('the key holds no hash') end
    return nil, raw
  end
  local s, wrong
  if raw[1] == '1' then
    was = raw
    s, wrong = decode(raw)
    if not s then return garbled('field ' .. wrong .. ' makes no sense') end
  elseif number(raw[1]) then
    return nil, redis.error_reply('NEWER the state is of version ' .. raw[1])
  elseif raw[1] or redis.call('EXISTS', KEY) == 1 then
    return garbled('field v makes no sense')
  else
    s = healthy()
    was = encode(s)
  end
  before = {round = s.round, failures = s.failures}
  clamp(s)
  if s.force ~= 0 and s.force_until ~= 0 and NOW >= s.force_until then
    s.force, s.force_until = 0, 0
    enter(s, s.state)
  end
  return s
end

-- What the circuit does with the next attempt: the force, else off by the settings, else its own state.
local function effective(s, enabled)
  if s.force ~= 0 then return s.force + FORCED_OPEN - 1 end
  if not enabled then return DISABLED end
  return s.state
end

-- How long a circuit of that generation stays open, in nanoseconds. The negation catches what is no number.
local function openFor(generation)
  local grown, longest = POLICY.recovery * 1000 * POLICY.multiplier ^ (generation - 1), POLICY.longest * 1000
  if not (grown < longest) then return longest end
  return math.floor(grown)
end

-- How long this one stays open: what its last failure has asked for, if that is longer.
local function openTime(s) return math.max(openFor(s.generation), s.hold * 1000) end

-- Whether an open circuit is to grant its first probe.
local function due(s)
  if (NOW - s.last_failure) * 1000 < openTime(s) then return false end
  return s.last_half_open == 0 or NOW >= s.last_half_open + POLICY.cooldown
end

-- Those whose time is not over.
local function live(list)
  local rest = {}
  for _, span in ipairs(list) do
    if span.till > NOW then rest[#rest + 1] = span end
  end
  return rest
end

local function find(list, owner)
  for i, span in ipairs(list) do
    if span.owner == owner and span.till > NOW then return i end
  end
  return nil
end

local function known(s)
  for _, id in ipairs(s.seen) do
    if id == ID then return true end
  end
  return false
end

local function remember(s)
  s.seen[#s.seen + 1] = ID
  while #s.seen > REMEMBERED do table.remove(s.seen, 1) end
end

-- When the last of what runs ends: until then, and as long again as agreed, the state must be kept.
local function last(s)
  local till = math.max(NOW, s.force_until)
  if s.state == OPEN then
    till = math.max(till, s.last_failure + math.ceil(openTime(s) / 1000), s.last_half_open + POLICY.cooldown)
  end
  for _, name in ipairs(SPANS) do
    for _, span in ipairs(s[name]) do till = math.max(till, span.till) end
  end
  return till
end

local function flag(set) return set and '1' or '0' end

-- What a client is told: all but the version, the votes and the IDs.
local function reply(values, granted, counted)
  local list = {text(NOW), flag(granted), flag(counted), flag(clamped)}
  for i = 2, #FIELDS - 2 do list[#list + 1] = values[i] end
  return list
end

-- Each part is its length, a colon, itself and a comma: names and causes may hold any bytes.
local function push(values)
  local parts = {}
  for i, part in ipairs({CIRCUIT, unpack(reply(values, false, false))}) do parts[i] = #part .. ':' .. part .. ',' end
  redis.pcall('PUBLISH', CHANNEL, table.concat(parts))
end

-- Ends a command: writes what has changed, and tells it to those who listen. Nothing is undone when a script fails in
-- the middle, so there is one write, it comes first, and what follows cannot fail.
local function done(s, granted, counted, news)
  local values, fields, changed = encode(s), {}, false
  for i, name in ipairs(FIELDS) do
    changed = changed or values[i] ~= was[i]
    fields[#fields + 1], fields[#fields + 2] = name, values[i]
  end
  if changed then
    redis.call('HSET', KEY, unpack(fields))
    redis.call('PEXPIRE', KEY, text(math.ceil((last(s) - NOW + RETENTION) / 1000)))
    if news or s.round ~= before.round or (before.failures == 0 and s.failures > 0) then push(values) end
  end
  return reply(values, granted, counted)
end
