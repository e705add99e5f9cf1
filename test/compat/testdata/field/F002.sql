## The SET form with a trailing semicolon, and a column used before it is set.
# ordinary INSERT INTO t_o (order_no, user_no) VALUES ($i, 0)
# stored SELECT order_no, user_no FROM t_o ORDER BY user_no => 1,1; NULL,4
CREATE TABLE t_o (order_no INT, user_no INT)
# body
INSERT INTO t_o SET order_no = 1, user_no = 1; 
INSERT INTO t_o SET order_no = user_no + 1, user_no = 4
