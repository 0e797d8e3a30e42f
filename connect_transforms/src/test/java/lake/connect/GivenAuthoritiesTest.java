package lake.connect;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.FileInputStream;
import java.io.InputStream;
import java.net.InetAddress;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.Base64;
import java.util.concurrent.CompletableFuture;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLHandshakeException;
import javax.net.ssl.SSLServerSocket;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class GivenAuthoritiesTest {

    private static final char[] PASSWORD = "changeit".toCharArray();

    @TempDir
    Path folder;

    /** A server's key, with a certificate that it signed itself. */
    private KeyStore server(String name) throws Exception {
        Path file = folder.resolve(name);
        String tool = Path.of(System.getProperty("java.home"), "bin", "keytool").toString();
        int code = new ProcessBuilder(
                        tool, "-genkeypair", "-alias", "it", "-keyalg", "EC", "-dname", "CN=localhost",
                        "-keystore", file.toString(), "-storetype", "PKCS12", "-storepass", "changeit")
                .start()
                .waitFor();
        assertEquals(0, code);
        KeyStore store = KeyStore.getInstance("PKCS12");
        try (InputStream content = new FileInputStream(file.toFile())) {
            store.load(content, PASSWORD);
        }
        return store;
    }

    private static String pem(KeyStore store) throws Exception {
        String text = Base64.getMimeEncoder().encodeToString(store.getCertificate("it").getEncoded());
        return "-----BEGIN CERTIFICATE-----\n" + text + "\n-----END CERTIFICATE-----\n";
    }

    private static String encoded(String text) {
        return Base64.getEncoder().encodeToString(text.getBytes());
    }

    /** A handshake with a server of this key, by a client that was given these authorities. */
    private static String greeted(KeyStore key, String authorities) throws Exception {
        KeyManagerFactory managers = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        managers.init(key, PASSWORD);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(managers.getKeyManagers(), null, null);
        InetAddress here = InetAddress.getLoopbackAddress();
        try (SSLServerSocket listening =
                (SSLServerSocket) context.getServerSocketFactory().createServerSocket(0, 1, here)) {
            CompletableFuture.runAsync(() -> {
                try (SSLSocket caller = (SSLSocket) listening.accept()) {
                    caller.startHandshake();
                } catch (java.io.IOException refused) {
                    // the client says why
                }
            });
            GivenAuthorities client = new GivenAuthorities(encoded(authorities));
            try (SSLSocket socket = (SSLSocket) client.createSocket(here, listening.getLocalPort())) {
                socket.startHandshake();
                return socket.getSession().getPeerPrincipal().getName();
            }
        }
    }

    @Test
    void aServerOfAnyGivenAuthorityIsTrusted() throws Exception {
        KeyStore one = server("one");
        KeyStore other = server("other");
        assertEquals("CN=localhost", greeted(other, pem(one) + pem(other)));
    }

    @Test
    void anotherServerIsNot() throws Exception {
        KeyStore one = server("one");
        KeyStore other = server("other");
        assertThrows(SSLHandshakeException.class, () -> greeted(other, pem(one)));
    }

    @Test
    void noAuthorityIsRefusedAtOnce() {
        assertThrows(GeneralSecurityException.class, () -> new GivenAuthorities(encoded("")));
    }
}
