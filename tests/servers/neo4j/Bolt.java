import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.neo4j.configuration.GraphDatabaseSettings;
import org.neo4j.configuration.connectors.BoltConnector;
import org.neo4j.configuration.helpers.SocketAddress;
import org.neo4j.dbms.api.DatabaseManagementService;
import org.neo4j.dbms.api.DatabaseManagementServiceBuilder;

/** Neo4j Community on one port of loopback, until the process is told to end. */
public class Bolt {
    public static void main(String[] words) throws IOException {
        Files.writeString(Path.of(words[2]), Long.toString(ProcessHandle.current().pid()));
        var address = new SocketAddress("127.0.0.1", Integer.parseInt(words[1]));
        DatabaseManagementService service =
                new DatabaseManagementServiceBuilder(Path.of(words[0]))
                        .setConfig(BoltConnector.enabled, true)
                        .setConfig(BoltConnector.listen_address, address)
                        .setConfig(BoltConnector.advertised_address, address)
                        .setConfig(GraphDatabaseSettings.pagecache_memory, 64L << 20)
                        .build();
        Runtime.getRuntime().addShutdownHook(new Thread(service::shutdown));
    }
}
