// Does what `docker compose config` does, with the loader that Docker Compose itself uses: reads the files named,
// fills in the environment, checks the result, and prints it as JSON. Status 1 and one line when they do not pass.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/compose-spec/compose-go/v2/cli"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(files []string) error {
	options, err := cli.NewProjectOptions(files, cli.WithOsEnv)
	if err != nil {
		return err
	}
	project, err := options.LoadProject(context.Background())
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(project)
}
