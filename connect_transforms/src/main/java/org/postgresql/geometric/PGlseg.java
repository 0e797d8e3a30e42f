package org.postgresql.geometric;

import java.sql.SQLException;
import lake.connect.KeptText;

/** The driver's class (42.7.13) writes numbers as Java does: {@code 1.0} for {@code 1}. */
public class PGlseg extends KeptText {

    public PGlseg() {
        super("lseg");
    }

    public PGlseg(String value) throws SQLException {
        super("lseg", value);
    }
}
