-- Keep a composed context, if nothing was erased since its ticket was given; 1 if it is kept.
--
-- KEYS  1 the ticket of this memory, 2 its contexts by when they end, 3 this context
-- ARGV  1 the ticket it was given, 2 for how many seconds the context lasts, 3 and the others
--       longer than that, 4 its name, 5 its head, 6 its body
--
-- The time is that of Redis: clocks of machines differ, and what one of them took for over would
-- be found by no erasure.

if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
local now, seconds = tonumber(redis.call('TIME')[1]), tonumber(ARGV[2])

-- First what a full Redis refuses: a script that has written something may write on.
redis.call('ZADD', KEYS[2], now + seconds + 1, ARGV[4])
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now - 1)
redis.call('DEL', KEYS[3])
redis.call('HSET', KEYS[3], 'head', ARGV[5], 'body', ARGV[6])
redis.call('EXPIRE', KEYS[3], seconds)
redis.call('EXPIRE', KEYS[2], seconds + tonumber(ARGV[3]))
redis.call('EXPIRE', KEYS[1], seconds + tonumber(ARGV[3]))
return 1
