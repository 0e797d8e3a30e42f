package org.postgresql.geometric;

import java.sql.SQLException;
import lake.connect.KeptText;

/** The driver's class (42.7.13) writes numbers as Java does: {@code 1.0} for {@code 1}. */
public class PGcircle extends KeptText {

    public PGcircle() {
        super("circle");
    }

    public PGcircle(String value) throws SQLException {
        super("circle", value);
    }
}
