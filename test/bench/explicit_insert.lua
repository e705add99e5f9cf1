-- Inserts with explicit keys for sysbench: every row has a key that no other
-- thread uses, so that sluice may batch it. The table is sysbench's own, without
-- AUTO_INCREMENT.

function prepare()
   local con = sysbench.sql.driver():connect()
   con:query([[CREATE TABLE sbexplicit (id BIGINT NOT NULL PRIMARY KEY, k INT NOT NULL,
      c CHAR(120) NOT NULL, pad CHAR(60) NOT NULL, KEY k (k)) ENGINE=InnoDB]])
   con:disconnect()
end

function cleanup()
   local con = sysbench.sql.driver():connect()
   con:query("DROP TABLE IF EXISTS sbexplicit")
   con:disconnect()
end

function thread_init()
   con = sysbench.sql.driver():connect()
   id = sysbench.tid
end

function thread_done()
   con:disconnect()
end

function event()
   con:query(string.format("INSERT INTO sbexplicit (id, k, c, pad) VALUES (%d, %d, '%s', '%s')",
      id, sysbench.rand.uniform(1, 1000000), sysbench.rand.string(string.rep("#", 119)),
      sysbench.rand.string(string.rep("@", 59))))
   id = id + sysbench.opt.threads
end
