// Signs an image, or verifies its signatures, as Notation does: with the libraries of the Notary Project, whose own
// command the module proxy may not provide.
//
//	notation-go sign HOST/REPOSITORY@DIGEST KEY CERTIFICATES MEDIA-TYPE
//	notation-go verify HOST/REPOSITORY@DIGEST FOLDER
//
// KEY and CERTIFICATES are files in PEM; FOLDER has trustpolicy.json and truststore/x509/ca/<name>/. The registry is
// asked over plain HTTP, as REGISTRY_USER with REGISTRY_PASSWORD.
package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/notaryproject/notation-go"
	"github.com/notaryproject/notation-go/dir"
	"github.com/notaryproject/notation-go/registry"
	"github.com/notaryproject/notation-go/signer"
	"github.com/notaryproject/notation-go/verifier"
	"oras.land/oras-go/v2/registry/remote"
	"oras.land/oras-go/v2/registry/remote/auth"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) < 3 {
		return fmt.Errorf("usage: notation-go sign REFERENCE KEY CERTIFICATES MEDIA-TYPE | verify REFERENCE FOLDER")
	}
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Second)
	defer cancel()
	reference := args[1]
	source, err := remote.NewRepository(reference)
	if err != nil {
		return err
	}
	source.PlainHTTP = true
	source.Client = &auth.Client{Credential: auth.StaticCredential(source.Reference.Host(), auth.Credential{
		Username: os.Getenv("REGISTRY_USER"),
		Password: os.Getenv("REGISTRY_PASSWORD"),
	})}
	repository := registry.NewRepository(source)
	switch {
	case args[0] == "sign" && len(args) == 5:
		return sign(ctx, repository, reference, args[2], args[3], args[4])
	case args[0] == "verify" && len(args) == 3:
		return verify(ctx, repository, reference, args[2])
	}
	return fmt.Errorf("%s is not known", strings.Join(args, " "))
}

func sign(ctx context.Context, repository registry.Repository, reference, key, certificates, mediaType string) error {
	by, err := signer.NewGenericSignerFromFiles(key, certificates)
	if err != nil {
		return err
	}
	options := notation.SignOptions{
		SignerSignOptions: notation.SignerSignOptions{SignatureMediaType: mediaType},
		ArtifactReference: reference,
		UserMetadata:      map[string]string{"env": "prod"},
	}
	_, err = notation.Sign(ctx, by, repository, options)
	return err
}

func verify(ctx context.Context, repository registry.Repository, reference, folder string) error {
	dir.UserConfigDir = folder
	by, err := verifier.NewFromConfig()
	if err != nil {
		return err
	}
	_, outcomes, err := notation.Verify(ctx, by, repository, notation.VerifyOptions{
		ArtifactReference:    reference,
		MaxSignatureAttempts: 50,
	})
	if err == nil {
		fmt.Println(len(outcomes))
	}
	return err
}
