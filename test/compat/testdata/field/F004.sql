## The word VALUES in identifiers.
# ordinary INSERT INTO VALUES_a_VALUE_b (value, c_VALUES_d) VALUES ($i, 0)
# stored SELECT COUNT(*), SUM(value = c_VALUES_d) FROM VALUES_a_VALUE_b => 100,100
# stored SELECT COUNT(*), SUM(x) FROM daily_values => 50,1275
# stored SELECT COUNT(*) FROM `values` => 21
CREATE TABLE daily_values (x INT)
CREATE TABLE VALUES_a_VALUE_b (value INT, c_VALUES_d INT)
CREATE TABLE `values` (`values` INT)
# body
# repeat 50 insert into VALUES_a_VALUE_b (value, c_VALUES_d) values ($i,$i)
# repeat 50 INSERT INTO daily_values VALUES ($i)
# repeat 20 INSERT INTO `values` (`values`) VALUES($i)
# prepare p insert into VALUES_a_VALUE_b (value, c_VALUES_d) values (?,?)
# repeat 50 # execute p int=$i | int=$i
# prepare q insert into `values` values (?)
# execute q str=1
