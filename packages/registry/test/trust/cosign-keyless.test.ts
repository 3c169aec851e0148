// A job signs without a key, below a policy that asks for the job: cosign 3 with a certificate of a real Fulcio, a
// stamp of a real time-stamping authority, and an entry in a real log (Rekor 2).
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { githubClaims } from "../../../server/test/support/ci-jobs.ts";
import { registryAnswers } from "../../../server/test/support/cosign/matrix.ts";
import { type Cosign, openCosign, PROGRAMS } from "../../../server/test/support/cosign/program.ts";
import {
  LOG_ORIGIN,
  openServices,
  SERVICES,
  type SigstoreServices,
} from "../../../server/test/support/cosign/services.ts";
import { type Issuer, openIssuer } from "../../../server/test/support/issuer.ts";
import { type Platform, startPlatform } from "../../../server/test/support/platform.ts";
import { newPolicy, openSignedRepo, type SignedRepo } from "../../../server/test/support/signed-repo.ts";
import { listSignatures } from "../../../server/test/support/signing.ts";

const missing = PROGRAMS.cosign === "" || Object.values(SERVICES).includes("");
const WORKFLOW = "https://github.com/acme/app/.github/workflows/release.yml@refs/heads/main";
/** Claims that Fulcio wants of GitHub, beside those that Moorage reads. */
const MORE_CLAIMS = { repository_owner_id: "7", workflow_sha: "0".repeat(40), job_workflow_sha: "0".repeat(40) };
const SINCE = "start-time=2024-01-01T00:00:00Z";

/** With the log or without: what a job signs with, and what it is verified by. */
type Way = "logged" | "stamped";

let platform: Platform;
let issuer: Issuer;
let services: SigstoreServices;
let cosign: Cosign;
const repos = {} as Record<Way, SignedRepo>;

before(async () => {
  if (missing) return;
  platform = await startPlatform();
  issuer = await openIssuer();
  services = await openServices(issuer.url);
  cosign = await openCosign(platform, await platform.identity(platform.organization, "registry.push"));
  for (const name of ["fulcio", "timestamps", "rekor"] as const) cosign.file(`${name}.pem`, services[name].pem);
  for (const way of ["logged", "stamped"] as const) repos[way] = await openWay(way);
});
after(async () => {
  if (missing) return;
  await Promise.all([services.close(), issuer.close(), platform.close()]);
  cosign.close();
});

/** Makes what cosign is called with, and a repo in which images need the job's signature by the same services. */
async function openWay(way: Way): Promise<SignedRepo> {
  const { fulcio, timestamps, rekor } = services;
  const at = (url: string, version = 1): string => `url=${url},api-version=${version},${SINCE},operator=example.com`;
  const asked = ["--fulcio", at(fulcio.url), "--tsa", at(timestamps.url), "--tsa-config", "EXACT:1"];
  const inLog = ["--rekor", at(rekor.url, 2), "--rekor-config", "EXACT:1"];
  const file = ["--out", `${way}.config.json`];
  await cosign.do("cosign", "signing-config", "create", ...asked, ...(way === "logged" ? inLog : []), ...file);
  const chains = [
    "--fulcio",
    `url=${fulcio.url},certificate-chain=fulcio.pem`,
    "--tsa",
    `url=${timestamps.url},certificate-chain=timestamps.pem`,
  ];
  const log = ["--rekor", `url=${rekor.url},public-key=rekor.pem,${SINCE},origin=${LOG_ORIGIN}`];
  const root = await cosign.do("cosign", "trusted-root", "create", ...chains, ...(way === "logged" ? log : []));
  const trustedRoot = root.slice(root.indexOf("{"));
  cosign.file(`${way}.root.json`, trustedRoot);
  const repo = await openSignedRepo(platform, undefined, undefined, way);
  const { uid } = await platform.ok("POST", `/registry/v2/trustRoots/${repo.group}`, { name: "ci", trustedRoot });
  const keyless = {
    trustRoot: uid,
    issuer: issuer.url,
    subjectPattern: "https://github\\.com/acme/app/\\.github/workflows/release\\.yml@refs/heads/.*",
    extensions: { source_repository_identifier: "71", runner_environment: "github-hosted" },
  };
  const signer = await platform.ok("POST", `/registry/v2/signers/${repo.group}`, { name: "release", keyless });
  await newPolicy(platform, repo.group, { rules: [{ signers: [signer.uid] }] });
  return repo;
}

interface Answers {
  cosign: boolean;
  registry: boolean;
  of: string;
}

/** Signs as a job with these claims, and asks cosign and the registry. `by`: what it signs with, if not the same. */
async function answersTo(way: Way, claims: Record<string, unknown> = {}, by = way): Promise<Answers> {
  const repo = repos[way];
  const digest = await repo.push("v1");
  assert.equal((await repo.pull(digest)).status, 403);
  const image = `${new URL(platform.url).host}/${repo.name}@${digest}`;
  const token = await issuer.sign(githubClaims(issuer, "sigstore", { ...MORE_CLAIMS, ...claims }));
  const how = ["--signing-config", `${by}.config.json`, "--trusted-root", `${by}.root.json`, "--allow-http-registry"];
  await cosign.do("cosign", "sign", "--identity-token", token, ...how, image);
  const who = ["--certificate-identity", WORKFLOW, "--certificate-oidc-issuer", issuer.url];
  const trusted = ["--trusted-root", `${way}.root.json`, "--use-signed-timestamps", "--insecure-ignore-sct"];
  const noLog = way === "stamped" ? ["--insecure-ignore-tlog"] : [];
  const asked = ["verify", ...who, ...trusted, ...noLog, "--allow-http-registry", image];
  const { ok } = await cosign.run("cosign", asked);
  const registry = await registryAnswers(platform, repo, { digest, index: "", children: [] });
  const { signatures } = await listSignatures(platform, repo, digest);
  return { cosign: ok, registry, of: signatures.map(({ identity, timeSource }) => `${identity} ${timeSource}`).join() };
}

if (missing) test("a job signs by a real Fulcio", { skip: "run .ci/cosign.sh, which builds cosign, Fulcio and a log" });
else {
  for (const way of ["logged", "stamped"] as const) {
    test(`${way}: the job's signature is answered, by its certificate and the time stamp`, async () => {
      const of = `${WORKFLOW} (${issuer.url}) SIGNATURE_TIME_TIMESTAMP`;
      assert.deepEqual(await answersTo(way), { cosign: true, registry: true, of });
    });
    test(`${way}: that of another workflow is not`, async () => {
      const job_workflow_ref = "acme/app/.github/workflows/test.yml@refs/heads/main";
      const { cosign: ok, registry } = await answersTo(way, { job_workflow_ref });
      assert.deepEqual([ok, registry], [false, false]);
    });
    test(`${way}: nor that of a repository made anew by the same name, which only the registry asks for`, async () => {
      const { cosign: ok, registry } = await answersTo(way, { repository_id: "72" });
      assert.deepEqual([ok, registry], [true, false]);
    });
  }
  test("a signature that is in no log is not answered where the trusted root names one", async () => {
    const { cosign: ok, registry } = await answersTo("logged", {}, "stamped");
    assert.deepEqual([ok, registry], [false, false]);
  });
}
