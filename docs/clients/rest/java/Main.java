import java.io.File;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.nio.file.StandardCopyOption;
import org.openapitools.client.ApiClient;
import org.openapitools.client.api.AccountsApi;
import org.openapitools.client.api.CratesApi;
import org.openapitools.client.api.EvidenceApi;
import org.openapitools.client.api.SearchApi;
import org.openapitools.client.model.EvidenceGraphAnswer;
import org.openapitools.client.model.SearchAnswer;
import org.openapitools.client.model.Submission;
import org.openapitools.client.model.Token;

/** Signs in, uploads a crate, waits until it is stored, and asks for its evidence, its records and its archive. */
public final class Main {
  public static void main(String[] arguments) throws Exception {
    ApiClient client = new ApiClient().setBasePath(arguments[0]);
    Token token = new AccountsApi(client).token(arguments[1], arguments[2], null, null, null, null);
    client.setAccessToken(token.getAccessToken());
    CratesApi crates = new CratesApi(client);

    Submission submission = crates.uploadCrateAsync(new File(arguments[3]), null, null, null, null);
    while (!submission.getCompleted()) {
      Thread.sleep(200);
      submission = crates.uploadStatus(submission.getSubmissionUUID().toString(), null);
    }
    if (!submission.getSuccess()) throw new IllegalStateException(submission.getError().toString());

    String identifier = submission.getRocrateIdentifier();
    String[] parts = identifier.substring("ark:".length()).split("/", 2);
    EvidenceGraphAnswer evidence = new EvidenceApi(client).queryEvidence(parts[0], parts[1]).execute();
    SearchAnswer search = new SearchApi(client).searchBasic("clusters").execute();
    File archive = crates.downloadCrate(parts[0], parts[1], null, null, null);
    Files.move(archive.toPath(), Paths.get(arguments[4]), StandardCopyOption.REPLACE_EXISTING);
    System.out.println(identifier);
    System.out.println("evidence: " + evidence.getAtGraph().size() + " nodes");
    System.out.println("search: " + search.getTotalResults() + " records");
  }
}
