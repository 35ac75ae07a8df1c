SELECT c.test_now, EXISTS (SELECT FROM events e WHERE e.partition = 0)
FROM clock c WHERE c.partition = 0
