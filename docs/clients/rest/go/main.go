// Signs in, uploads a crate, waits until it is stored, and asks for its evidence, its records and its archive.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"strings"
	"time"

	arkgraph "example.org/arkgraph-client"
	"golang.org/x/oauth2"
)

// check ends the program for an error.
func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func main() {
	base, email, password, crate, copyTo := os.Args[1], os.Args[2], os.Args[3], os.Args[4], os.Args[5]
	configuration := arkgraph.NewConfiguration()
	configuration.Servers = arkgraph.ServerConfigurations{{URL: base}}
	client := arkgraph.NewAPIClient(configuration)
	ctx := context.Background()

	token, _, err := client.AccountsAPI.Token(ctx).Username(email).Password(password).Execute()
	check(err)
	source := oauth2.StaticTokenSource(&oauth2.Token{AccessToken: token.AccessToken})
	ctx = context.WithValue(ctx, arkgraph.ContextOAuth2, source)

	file, err := os.Open(crate)
	check(err)
	submission, _, err := client.CratesAPI.UploadCrateAsync(ctx).File(file).Execute()
	check(err)
	for !submission.Completed {
		time.Sleep(200 * time.Millisecond)
		submission, _, err = client.CratesAPI.UploadStatus(ctx, submission.SubmissionUUID).Execute()
		check(err)
	}
	if !submission.Success {
		log.Fatal(submission.Error)
	}

	naan, postfix, _ := strings.Cut(strings.TrimPrefix(submission.GetRocrateIdentifier(), "ark:"), "/")
	evidence, _, err := client.EvidenceAPI.QueryEvidence(ctx, naan, postfix).Execute()
	check(err)
	search, _, err := client.SearchAPI.SearchBasic(ctx).Query("clusters").Execute()
	check(err)
	archive, _, err := client.CratesAPI.DownloadCrate(ctx, naan, postfix).Execute()
	check(err)
	check(os.Rename(archive.Name(), copyTo))

	fmt.Println(submission.GetRocrateIdentifier())
	fmt.Printf("evidence: %d nodes\n", len(evidence.Graph))
	fmt.Printf("search: %d records\n", search.TotalResults)
}
