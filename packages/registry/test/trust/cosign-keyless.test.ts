// A job signs without a key, below a policy that asks for the job: cosign 3 with a certificate of a real Fulcio and a
// stamp of a real time-stamping authority.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { githubClaims } from "../../../server/test/support/ci-jobs.ts";
import { registryAnswers } from "../../../server/test/support/cosign/matrix.ts";
import { type Cosign, openCosign, PROGRAMS } from "../../../server/test/support/cosign/program.ts";
import { openServices, SERVICES, type SigstoreServices } from "../../../server/test/support/cosign/services.ts";
import { type Issuer, openIssuer } from "../../../server/test/support/issuer.ts";
import { type Platform, startPlatform } from "../../../server/test/support/platform.ts";
import { newPolicy, openSignedRepo, type SignedRepo } from "../../../server/test/support/signed-repo.ts";
import { listSignatures } from "../../../server/test/support/signing.ts";

const missing = PROGRAMS.cosign === "" || SERVICES.fulcio === "" || SERVICES.timestamps === "";
const WORKFLOW = "https://github.com/acme/app/.github/workflows/release.yml@refs/heads/main";
/** Claims that Fulcio wants of GitHub, beside those that Moorage reads. */
const MORE_CLAIMS = { repository_owner_id: "7", workflow_sha: "0".repeat(40), job_workflow_sha: "0".repeat(40) };
const BY_STAMP = [
  "--trusted-root",
  "services-root.json",
  "--use-signed-timestamps",
  "--insecure-ignore-tlog",
  "--insecure-ignore-sct",
  "--allow-http-registry",
];
const SIGN = ["--signing-config", "services.json", "--trusted-root", "services-root.json", "--allow-http-registry"];

let platform: Platform;
let issuer: Issuer;
let services: SigstoreServices;
let cosign: Cosign;
let repo: SignedRepo;

before(async () => {
  if (missing) return;
  platform = await startPlatform();
  issuer = await openIssuer();
  services = await openServices(issuer.url);
  cosign = await openCosign(platform, await platform.identity(platform.organization, "registry.push"));
  const { fulcio, timestamps } = services;
  cosign.file("fulcio.pem", fulcio.chain);
  cosign.file("timestamps.pem", timestamps.chain);
  const since = "api-version=1,start-time=2024-01-01T00:00:00Z,operator=example.com";
  const asked = ["--fulcio", `url=${fulcio.url},${since}`, "--tsa", `url=${timestamps.url},${since}`];
  await cosign.do("cosign", "signing-config", "create", ...asked, "--tsa-config", "EXACT:1", "--out", "services.json");
  const trusted = [
    "--fulcio",
    `url=${fulcio.url},certificate-chain=fulcio.pem`,
    "--tsa",
    `url=${timestamps.url},certificate-chain=timestamps.pem`,
  ];
  const root = await cosign.do("cosign", "trusted-root", "create", ...trusted);
  const trustedRoot = root.slice(root.indexOf("{"));
  cosign.file("services-root.json", trustedRoot);
  repo = await openSignedRepo(platform);
  const { uid } = await platform.ok("POST", `/registry/v2/trustRoots/${repo.group}`, { name: "ci", trustedRoot });
  const keyless = {
    trustRoot: uid,
    issuer: issuer.url,
    subjectPattern: "https://github\\.com/acme/app/\\.github/workflows/release\\.yml@refs/heads/.*",
    extensions: { source_repository_identifier: "71", runner_environment: "github-hosted" },
  };
  const signer = await platform.ok("POST", `/registry/v2/signers/${repo.group}`, { name: "release", keyless });
  await newPolicy(platform, repo.group, { rules: [{ signers: [signer.uid] }] });
});
after(async () => {
  if (missing) return;
  await Promise.all([services.close(), issuer.close(), platform.close()]);
  cosign.close();
});

/** Signs as a job with these claims, and asks cosign and the registry. */
async function answersTo(claims: Record<string, unknown>): Promise<{ cosign: boolean; registry: boolean; of: string }> {
  const digest = await repo.push("v1");
  assert.equal((await repo.pull(digest)).status, 403);
  const image = `${new URL(platform.url).host}/${repo.name}@${digest}`;
  const token = await issuer.sign(githubClaims(issuer, "sigstore", { ...MORE_CLAIMS, ...claims }));
  await cosign.do("cosign", "sign", "--identity-token", token, ...SIGN, image);
  const who = ["--certificate-identity", WORKFLOW, "--certificate-oidc-issuer", issuer.url];
  const { ok } = await cosign.run("cosign", ["verify", ...who, ...BY_STAMP, image]);
  const registry = await registryAnswers(platform, repo, { digest, index: "", children: [] });
  const { signatures } = await listSignatures(platform, repo, digest);
  return { cosign: ok, registry, of: signatures.map(({ identity, timeSource }) => `${identity} ${timeSource}`).join() };
}

if (missing) test("a job signs by a real Fulcio", { skip: "run .ci/cosign.sh, which builds cosign and Fulcio" });
else {
  test("the job's signature is answered: by its certificate, and by the time stamp", async () => {
    assert.deepEqual(await answersTo({}), {
      cosign: true,
      registry: true,
      of: `${WORKFLOW} (${issuer.url}) SIGNATURE_TIME_TIMESTAMP`,
    });
  });
  test("that of another workflow is not", async () => {
    const job_workflow_ref = "acme/app/.github/workflows/test.yml@refs/heads/main";
    const { cosign: ok, registry } = await answersTo({ job_workflow_ref });
    assert.deepEqual([ok, registry], [false, false]);
  });
  test("the same workflow of a repository that was made anew is not, which only the registry asks for", async () => {
    const { cosign: ok, registry } = await answersTo({ repository_id: "72" });
    assert.deepEqual([ok, registry], [true, false]);
  });
}
