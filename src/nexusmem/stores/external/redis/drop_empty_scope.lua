-- Remove a scope without items from the set of scopes; return 1 if it was removed.
--
-- KEYS  1 set of scopes of the workspace, then the item keys of one scope
-- ARGV  1 the scope

if redis.call('EXISTS', unpack(KEYS, 2)) > 0 then return 0 end
return redis.call('SREM', KEYS[1], ARGV[1])
