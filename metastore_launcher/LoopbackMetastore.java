import java.net.InetSocketAddress;
import java.sql.DriverManager;
import java.sql.SQLException;
import org.apache.hadoop.hive.conf.HiveConf;
import org.apache.hadoop.hive.metastore.HiveMetaStore.HMSHandler;
import org.apache.hadoop.hive.metastore.IHMSHandler;
import org.apache.hadoop.hive.metastore.RetryingHMSHandler;
import org.apache.hadoop.hive.metastore.TSetIpAddressProcessor;
import org.apache.thrift.server.TThreadPoolServer;
import org.apache.thrift.transport.TServerSocket;

/** Serves the Hive metastore on one address: Hive 2.3's own main class listens on every interface. */
public final class LoopbackMetastore {
    public static void main(String[] arguments) throws Exception {
        HiveConf configuration = new HiveConf(LoopbackMetastore.class);
        HMSHandler handler = new HMSHandler("metastore", configuration, false);
        IHMSHandler retrying = RetryingHMSHandler.getProxy(configuration, handler, true);
        InetSocketAddress address = new InetSocketAddress(arguments[0], Integer.parseInt(arguments[1]));
        TThreadPoolServer.Args server = new TThreadPoolServer.Args(new TServerSocket(address));
        server.processor(new TSetIpAddressProcessor<>(retrying)).minWorkerThreads(2).maxWorkerThreads(200);
        Runtime.getRuntime().addShutdownHook(new Thread(LoopbackMetastore::closeDatabase));
        new TThreadPoolServer(server).serve();
    }

    /** Derby throws when it is closed. A database that was not closed replays its log at the next start. */
    private static void closeDatabase() {
        try {
            DriverManager.getConnection("jdbc:derby:;shutdown=true").close();
        } catch (SQLException closed) {
            return;
        }
    }
}
