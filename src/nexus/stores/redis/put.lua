-- Put items into the windows of places, each in the place of what had its field; all or none.
--
-- KEYS  1 the places of the workspace, 2 its epoch; then, for each place, its epoch and
--       whatever else there may be of it: all of these live on
-- ARGV  1 for how many seconds at least, 2 the clock, 3 how many places, then their scopes;
--       then eight for each item:
--       the numbers of the keys of its items, its order and its epoch (0: none), how many of
--       its kind stay, its field, its mark in the order, its label, and the item itself
--
-- An order has a mark for each item: when it was put, its label and its key. What is read first
-- fails first: a key that holds something else stops this before anything is written.

local seconds, clock, places = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local first = 4 + places

local function each(work)
  for at = first, #ARGV, 8 do
    work(tonumber(ARGV[at]), tonumber(ARGV[at + 1]), tonumber(ARGV[at + 2]),
         tonumber(ARGV[at + 3]), ARGV[at + 4], ARGV[at + 5], ARGV[at + 6], ARGV[at + 7])
  end
end

local function news(key, times)
  local before = tonumber(redis.call('GET', key) or 0)
  redis.call('SET', key, string.format('%.0f', math.max(before + times, clock)), 'KEEPTTL')
end

-- When it was put, its label and its key stand at fixed places of a mark.
local function newer(one, other)
  local then_, since = string.sub(one.mark, 1, 27), string.sub(other.mark, 1, 27)
  if then_ ~= since then return then_ > since end
  return string.sub(one.mark, 62) < string.sub(other.mark, 62)
end

local function trim(items, order, most, label)
  local own, all = {}, redis.call('HGETALL', order)
  for at = 1, #all, 2 do
    if string.sub(all[at + 1], 29, 60) == label then
      table.insert(own, { field = all[at], mark = all[at + 1] })
    end
  end
  table.sort(own, newer)
  for at = most + 1, #own do
    redis.call('HDEL', items, own[at].field)
    redis.call('HDEL', order, own[at].field)
  end
  return math.max(#own - most, 0)
end

redis.call('SCARD', KEYS[1])
redis.call('GET', KEYS[2])
each(function(items, order, epoch)
  redis.call('HLEN', KEYS[items])
  if order > 0 then redis.call('HLEN', KEYS[order]) end
  if epoch > 0 then redis.call('GET', KEYS[epoch]) end
end)

redis.call('SADD', KEYS[1], unpack(ARGV, 4, 3 + places))
each(function(items, order, epoch, most, field, mark, label, item)
  local changes = 1
  redis.call('HSET', KEYS[items], field, item)
  if order > 0 then
    redis.call('HSET', KEYS[order], field, mark)
    changes = changes + trim(KEYS[items], KEYS[order], most, label)
  end
  if epoch > 0 then
    news(KEYS[epoch], changes)
    news(KEYS[2], changes)
  end
end)
for _, key in ipairs(KEYS) do
  if redis.call('TTL', key) < seconds then redis.call('EXPIRE', key, seconds) end
end
