-- Remove items of one slot of one scope; return their number.
--
-- KEYS  1 items, 2 their order, 3 epoch of the scope, 4 epoch of the workspace
-- ARGV  1 minimal time to live of an epoch in seconds, 2 clock, 3 whether to advance epochs (1);
--       then a field and its expected value ("": any) for each item; without fields: all items

local seconds, clock = tonumber(ARGV[1]), tonumber(ARGV[2])
local removed = 0

if #ARGV == 3 then
  removed = redis.call('HLEN', KEYS[1])
  redis.call('DEL', KEYS[1], KEYS[2])
end
for at = 4, #ARGV, 2 do
  local value = redis.call('HGET', KEYS[1], ARGV[at])
  if value and (ARGV[at + 1] == '' or ARGV[at + 1] == value) then
    redis.call('HDEL', KEYS[1], ARGV[at])
    redis.call('HDEL', KEYS[2], ARGV[at])
    removed = removed + 1
  end
end

if removed > 0 and ARGV[3] == '1' then
  for at = 3, 4 do
    local before = tonumber(redis.call('GET', KEYS[at]) or 0)
    local now = string.format('%.0f', math.max(before + removed, clock))
    -- A full Redis rejects SET; a missing epoch also differs from the previous one.
    local result = redis.pcall('SET', KEYS[at], now, 'KEEPTTL')
    if result.err then
      redis.call('DEL', KEYS[at])
    elseif redis.call('TTL', KEYS[at]) < seconds then
      redis.call('EXPIRE', KEYS[at], seconds)
    end
  end
end
return removed
