// Plays a job of a CI and an instance of Sigstore, on this machine alone, to try what docs/signatures.md says of
// identities: signs an image with a certificate of ten minutes that names the job, and logs that.
//   node examples/keyless-job.ts DIGEST_OF_THE_IMAGE FOLDER
// The folder gets trusted_root.json, by which the certificate and the log are known, and bundle.json, as `cosign sign`
// of cosign 3 makes it.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { openSigstore } from "../packages/server/test/support/keyless-signing.ts";
import { COSIGN_SIGN, inToto } from "../packages/server/test/support/signing.ts";

const JOB = {
  issuer: "https://token.actions.githubusercontent.com",
  subject: "https://github.com/acme/web/.github/workflows/release.yml@refs/tags/v1.0",
  // runner_environment and source_repository_identifier.
  extensions: { 11: "github-hosted", 15: "123456789" },
};

const [digest = "", folder = ""] = process.argv.slice(2);
if (!/^sha256:[0-9a-f]{64}$/.test(digest) || folder === "")
  throw new Error("usage: node examples/keyless-job.ts sha256:… FOLDER");
const sigstore = await openSigstore();
writeFileSync(join(folder, "trusted_root.json"), sigstore.root);
writeFileSync(join(folder, "bundle.json"), await sigstore.bundle(JOB, inToto(digest, COSIGN_SIGN)));
