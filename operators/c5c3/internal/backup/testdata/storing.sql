CREATE DATABASE IF NOT EXISTS forge_backup;
CREATE TABLE IF NOT EXISTS forge_backup.bundle (id TINYINT UNSIGNED PRIMARY KEY, sealed MEDIUMTEXT NOT NULL) ENGINE=InnoDB;
REPLACE INTO forge_backup.bundle VALUES (1, 'c2VhbGVk');
SET @unreadable = (SELECT COUNT(*) FROM `keystone`.credential WHERE key_hash NOT IN ('aa', 'bb'));
DELIMITER //
BEGIN NOT ATOMIC
  IF @unreadable > 0 THEN
    SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'the keys do not open all credentials in the database of Keystone';
  END IF;
END //
DELIMITER ;
