package backup

import (
	"fmt"
	"strings"
)

// The database and the table with the bundle. Each dump includes the database.
const (
	bundleDatabase = "forge_backup"
	bundleTable    = bundleDatabase + ".bundle"
)

// storing returns the statements that store a sealed bundle, and fail unless its keys can
// read every credential in Keystone's database.
func storing(sealed, keystone string, hashes []string) string {
	return fmt.Sprintf(`CREATE DATABASE IF NOT EXISTS %[1]s;
CREATE TABLE IF NOT EXISTS %[2]s (id TINYINT UNSIGNED PRIMARY KEY, sealed MEDIUMTEXT NOT NULL) ENGINE=InnoDB;
REPLACE INTO %[2]s VALUES (1, '%[3]s');
`, bundleDatabase, bundleTable, sealed) + proving(keystone, hashes)
}

// proving returns the statements that fail unless every credential in Keystone's database is
// encrypted with a key of one of the hashes.
func proving(keystone string, hashes []string) string {
	return fmt.Sprintf(`SET @unreadable = (SELECT COUNT(*) FROM %s.credential WHERE key_hash NOT IN ('%s'));
DELIMITER //
BEGIN NOT ATOMIC
  IF @unreadable > 0 THEN
    SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'the keys do not open all credentials in the database of Keystone';
  END IF;
END //
DELIMITER ;
`, "`"+keystone+"`", strings.Join(hashes, "', '"))
}
