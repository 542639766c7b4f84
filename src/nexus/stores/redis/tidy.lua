-- Let go of places in which nothing lies; returns how many that were.
--
-- KEYS  1 the places of the workspace, then the keys of the items of one place
-- ARGV  1 the scope of that place

if redis.call('EXISTS', unpack(KEYS, 2)) > 0 then return 0 end
return redis.call('SREM', KEYS[1], ARGV[1])
