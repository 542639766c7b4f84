-- Put items into the windows of scopes, replacing items with the same field; all or none.
--
-- KEYS  1 set of scopes of the workspace, 2 its epoch; then, for each scope, its epoch and all
--       other keys it may have: the time to live of all of them is extended
-- ARGV  1 minimal time to live in seconds, 2 clock, 3 number of scopes, then their names;
--       then eight for each item: indexes in KEYS of its items, its order and its epoch
--       (0: none), maximal number of items, field, mark in the order, label digest, item
--
-- An order has a mark for each item: time, label digest and key. All keys are read first, so that
-- a key of the wrong type stops the script before it writes anything.

local seconds, clock, scopes = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local first = 4 + scopes

local function each(work)
  for at = first, #ARGV, 8 do
    work(tonumber(ARGV[at]), tonumber(ARGV[at + 1]), tonumber(ARGV[at + 2]),
         tonumber(ARGV[at + 3]), ARGV[at + 4], ARGV[at + 5], ARGV[at + 6], ARGV[at + 7])
  end
end

local function advance(key, times)
  local before = tonumber(redis.call('GET', key) or 0)
  redis.call('SET', key, string.format('%.0f', math.max(before + times, clock)), 'KEEPTTL')
end

-- Time, label digest and key have fixed positions in a mark.
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

redis.call('SADD', KEYS[1], unpack(ARGV, 4, 3 + scopes))
each(function(items, order, epoch, most, field, mark, label, item)
  local changes = 1
  redis.call('HSET', KEYS[items], field, item)
  if order > 0 then
    redis.call('HSET', KEYS[order], field, mark)
    changes = changes + trim(KEYS[items], KEYS[order], most, label)
  end
  if epoch > 0 then
    advance(KEYS[epoch], changes)
    advance(KEYS[2], changes)
  end
end)
for _, key in ipairs(KEYS) do
  if redis.call('TTL', key) < seconds then redis.call('EXPIRE', key, seconds) end
end
