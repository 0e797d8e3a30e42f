package lake.connect;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.util.Base64;
import java.util.Collection;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import org.postgresql.ssl.WrappedFactory;

/**
 * Trusts the authorities that a connector's settings hold, where no file of authorities reaches the worker (MSK Connect).
 * The driver's SingleCertValidatingFactory takes one certificate; RDS has several in each region. The driver itself
 * compares the name of the server (sslmode=verify-full).
 */
public class GivenAuthorities extends WrappedFactory {

    /** encoded: certificates in PEM form, as Base64, so that they are one line. */
    public GivenAuthorities(String encoded) throws GeneralSecurityException, IOException {
        KeyStore known = KeyStore.getInstance(KeyStore.getDefaultType());
        known.load(null, null);
        for (Certificate one : certificates(encoded)) {
            known.setCertificateEntry(Integer.toString(known.size()), one);
        }
        TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(known);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, trust.getTrustManagers(), null);
        factory = context.getSocketFactory();
    }

    private static Collection<? extends Certificate> certificates(String encoded) throws GeneralSecurityException {
        byte[] pem = Base64.getDecoder().decode(encoded);
        Collection<? extends Certificate> found =
                CertificateFactory.getInstance("X.509").generateCertificates(new ByteArrayInputStream(pem));
        if (found.isEmpty()) { // without any, no server could be checked
            throw new GeneralSecurityException("driver.sslfactoryarg holds no certificate");
        }
        return found;
    }
}
