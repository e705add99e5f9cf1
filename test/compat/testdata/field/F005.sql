## Column names that contain a keyword.
# ordinary INSERT INTO p (selection, preselect_id) VALUES ($i, 0)
# stored SELECT * FROM p ORDER BY selection, preselect_id => 1,1; 1,2; 2,2; 3,3; 4,4; 5,5
CREATE TABLE p (selection INT, preselect_id INT)
# body
INSERT INTO p (selection, preselect_id) VALUES (1, 1)
INSERT INTO p (selection, preselect_id) VALUES (2, 2)
INSERT INTO p SELECT 1,2
INSERT INTO p (selection, preselect_id) VALUES (3, 3)
INSERT INTO p (selection, preselect_id) VALUES (4, 4)
INSERT INTO p (selection, preselect_id) VALUES (5, 5)
