package org.postgresql.geometric;

import java.sql.SQLException;
import lake.connect.KeptText;

/** The driver's class (42.7.13) writes numbers as Java does: {@code 1.0} for {@code 1}. */
public class PGbox extends KeptText {

    public PGbox() {
        super("box");
    }

    public PGbox(String value) throws SQLException {
        super("box", value);
    }
}
