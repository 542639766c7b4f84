-- Store a composed context unless an erasure has changed the ticket; return 1 if it is stored.
--
-- KEYS  1 ticket of the store, 2 index of its contexts by expiry time, 3 this context
-- ARGV  1 ticket of the caller, 2 time to live of the context in seconds, 3 additional time to
--       live of ticket and index, 4 name, 5 header, 6 body
--
-- Expiry uses the clock of Redis: clocks of machines differ, and an erasure would not see a
-- context that a fast clock considers expired.

if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
local now, seconds = tonumber(redis.call('TIME')[1]), tonumber(ARGV[2])

-- ZADD first: a full Redis rejects the first write of a script, but not the following ones.
redis.call('ZADD', KEYS[2], now + seconds + 1, ARGV[4])
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now - 1)
redis.call('DEL', KEYS[3])
redis.call('HSET', KEYS[3], 'head', ARGV[5], 'body', ARGV[6])
redis.call('EXPIRE', KEYS[3], seconds)
redis.call('EXPIRE', KEYS[2], seconds + tonumber(ARGV[3]))
redis.call('EXPIRE', KEYS[1], seconds + tonumber(ARGV[3]))
return 1
