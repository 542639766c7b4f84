-- Take items out of one slot of one place; returns how many that were.
--
-- KEYS  1 the items, 2 their order, 3 the epoch of the place, 4 that of the workspace
-- ARGV  1 for how many seconds an epoch lives at least, 2 the clock, 3 whether it is news (1);
--       then a field and what must stand there ("": whatever it is) for each item; none: all

local seconds, clock = tonumber(ARGV[1]), tonumber(ARGV[2])
local gone = 0

if #ARGV == 3 then
  gone = redis.call('HLEN', KEYS[1])
  redis.call('DEL', KEYS[1], KEYS[2])
end
for at = 4, #ARGV, 2 do
  local kept = redis.call('HGET', KEYS[1], ARGV[at])
  if kept and (ARGV[at + 1] == '' or ARGV[at + 1] == kept) then
    redis.call('HDEL', KEYS[1], ARGV[at])
    redis.call('HDEL', KEYS[2], ARGV[at])
    gone = gone + 1
  end
end

if gone > 0 and ARGV[3] == '1' then
  for at = 3, 4 do
    local before = tonumber(redis.call('GET', KEYS[at]) or 0)
    local now = string.format('%.0f', math.max(before + gone, clock))
    -- A full Redis takes no new epoch; without any it is another one, too.
    local kept = redis.pcall('SET', KEYS[at], now, 'KEEPTTL')
    if kept.err then
      redis.call('DEL', KEYS[at])
    elseif redis.call('TTL', KEYS[at]) < seconds then
      redis.call('EXPIRE', KEYS[at], seconds)
    end
  end
end
return gone
