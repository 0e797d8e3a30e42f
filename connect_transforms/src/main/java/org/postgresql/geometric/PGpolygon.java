package org.postgresql.geometric;

import java.sql.SQLException;
import lake.connect.KeptText;

/** The driver's class (42.7.13) writes numbers as Java does: {@code 1.0} for {@code 1}. */
public class PGpolygon extends KeptText {

    public PGpolygon() {
        super("polygon");
    }

    public PGpolygon(String value) throws SQLException {
        super("polygon", value);
    }
}
