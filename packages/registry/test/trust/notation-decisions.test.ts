// What is said of an image that certificates have signed: pulls, decisions, and explanations agree on every verdict.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import {
  ACME,
  certify,
  fingerprintOf,
  type Holder,
  newChain,
  revocationList,
} from "../../../server/test/support/notation-certificates.ts";
import { newX509Signer, signByNotation } from "../../../server/test/support/notation-repo.ts";
import { COSE, type EnvelopeFields, JWS } from "../../../server/test/support/notation-signing.ts";
import { type Json, type Platform, startPlatform } from "../../../server/test/support/platform.ts";
import { newPolicy, openSignedRepo, type SignedRepo } from "../../../server/test/support/signed-repo.ts";
import { verifiedSignatures } from "../../../server/test/support/signing.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

let platform: Platform;
before(async () => {
  platform = await startPlatform();
});
after(() => platform.close());

interface Decision {
  held: boolean;
  policies: { outcome: string; reason: string; rules: { reason: string }[] }[];
}

/** What an image of a repo is answered with; asserts that everything that says so says the same. */
async function agreed(repo: SignedRepo, tag: string, digest: string): Promise<{ answered: boolean; words: string }> {
  const identity = await platform.identity(repo.group, "viewer");
  const answers = [
    await repo.pullAs(identity, tag),
    await repo.pullAs(identity, digest),
    await repo.pullAs(identity, digest, "HEAD"),
  ];
  const path = `/registry/v2/repos/${repo.repo}/digests/${digest}/signatureDecision`;
  const { held } = await platform.ok<Decision>("GET", path);
  const said: Json[] = [];
  for (const resource of [`${repo.name}:${tag}`, `${repo.name}@${digest}`])
    said.push(
      await platform.ok("POST", "/iam/v2/access:explain", { identity, action: "REGISTRY_ACTION_PULL", resource }),
    );
  const words = `${tag}: ${answers.map(({ text }) => text).join()} ${JSON.stringify(said)}`;
  const expected = held ? 403 : 200;
  assert.deepEqual(
    answers.map(({ status }) => status),
    [expected, expected, expected],
    words,
  );
  assert.deepEqual(
    said.map(({ allowed }) => allowed),
    [!held, !held],
    words,
  );
  if (held) {
    assert.deepEqual(new Set(said.map(({ reason }) => reason)), new Set(["ACCESS_REASON_SIGNATURE"]), words);
    // The same sentence for whoever pulls and for whoever asks why.
    const [error] = (answers[0]?.body["errors"] ?? []) as { message: string }[];
    const reason = (error?.message ?? "").replace("Permission denied: ", "");
    for (const { message } of said) assert.ok(reason !== "" && message.includes(reason), words);
  }
  return { answered: !held, words: String(answers[0]?.text) };
}

/** A repo whose pulls need this signer, and an image there. */
async function openRepo(x509: object, fields: object = {}) {
  const repo = await openSignedRepo(platform);
  const signer = await newX509Signer(platform, repo.group, x509, fields);
  await newPolicy(platform, repo.group, { rules: [{ signers: [signer] }] });
  const digest = await repo.push("v1");
  assert.equal((await agreed(repo, "v1", digest)).answered, false);
  return { repo, signer, digest };
}

test("every verdict on a certificate is the same for pulls, decisions and explanations", async () => {
  const chain = newChain({ subject: [...ACME, ["CN", "release"]] });
  const [leaf, middle, root] = chain;
  const roots = [root.pem];
  const lists = (revoked: readonly [Holder][], fields: object = {}): object => ({
    revocation: "SIGNER_REVOCATION_CRL",
    crls: [revocationList(middle, revoked, fields), revocationList(root)],
  });
  const ended = newChain({ notBeforeMs: Date.now() - 20 * DAY_MS, notAfterMs: Date.now() - 10 * DAY_MS });
  const cases: [x509: object, by: readonly [Holder, ...Holder[]], fields: EnvelopeFields, RegExp | undefined][] = [
    [{ roots }, chain, {}, undefined],
    [{ roots, identities: ["x509.subject: C=US, ST=WA, O=acme, CN=release"] }, chain, {}, undefined],
    [{ roots, identities: ["x509.subject: C=US, ST=WA, O=acme, CN=other"] }, chain, {}, /not among the signer's/],
    [{ roots: [newChain()[2].pem] }, chain, {}, /0 of 1 by/],
    [{ roots, scheme: "SIGNER_SCHEME_SIGNING_AUTHORITY" }, chain, {}, /by the scheme X509/],
    [{ roots, revokedFingerprints: [fingerprintOf(leaf)] }, chain, {}, /is revoked/],
    [{ roots, ...lists([]) }, chain, {}, undefined],
    [{ roots, ...lists([[leaf]]) }, chain, {}, /a list says that the certificate of CN=release/],
    [{ roots, ...lists([], { untilMs: Date.now() - HOUR_MS }) }, chain, {}, /lists of revoked certificates hold until/],
    [{ roots: [ended[2].pem] }, ended, {}, /certificate/],
    [{ roots }, chain, { signedMs: Date.now() - DAY_MS, expiryMs: Date.now() - HOUR_MS }, /by its own word/],
    [{ roots }, [certify({ subject: [...ACME] }), middle, root], {}, /0 of 1 by/],
  ];
  for (const [at, [x509, by, fields, reason]] of cases.entries()) {
    const { repo, digest } = await openRepo(x509);
    await signByNotation(repo, digest, by, { ...fields, mediaType: at % 2 === 0 ? JWS : COSE });
    await verifiedSignatures(platform, repo, digest);
    const { answered, words } = await agreed(repo, "v1", digest);
    assert.equal(answered, reason === undefined, `case ${at}: ${words}`);
    if (reason !== undefined) assert.match(words, reason, `case ${at}`);
  }
});

test("they agree when a certificate ends by the time alone, and after each change of its signer", async () => {
  const chain = newChain({ notAfterMs: Date.now() + HOUR_MS });
  const [leaf, middle, root] = chain;
  const roots = [root.pem];
  const { repo, signer, digest } = await openRepo({ roots });
  await signByNotation(repo, digest, chain);
  await verifiedSignatures(platform, repo, digest);
  assert.equal((await agreed(repo, "v1", digest)).answered, true);
  /** What is said once the image is verified against what the signer says now. */
  const changed = async (paths: string, fields: object): Promise<{ answered: boolean; words: string }> => {
    await platform.ok("PATCH", `/registry/v2/signers/${signer}?updateMask=${paths}`, fields);
    await verifiedSignatures(platform, repo, digest);
    return await agreed(repo, "v1", digest);
  };
  const x509 = { roots, identities: ["*"] };
  const revoked = await changed("x509", { x509: { ...x509, revokedFingerprints: [fingerprintOf(leaf)] } });
  assert.equal(revoked.answered, false);
  assert.match(revoked.words, /is revoked/);
  assert.equal((await changed("x509", { x509 })).answered, true);
  const crls = [revocationList(middle, [], { untilMs: Date.now() + HOUR_MS / 2 }), revocationList(root)];
  assert.equal(
    (await changed("x509", { x509: { ...x509, revocation: "SIGNER_REVOCATION_CRL", crls } })).answered,
    true,
  );
  platform.clock.offsetMs += (3 * HOUR_MS) / 4;
  const unlisted = await agreed(repo, "v1", digest);
  assert.equal(unlisted.answered, false);
  assert.match(unlisted.words, /lists of revoked certificates hold until/);
  assert.equal((await changed("x509", { x509 })).answered, true);
  platform.clock.offsetMs += HOUR_MS;
  const ended = await agreed(repo, "v1", digest);
  assert.equal(ended.answered, false);
  assert.match(ended.words, /certificate/);
  // It was held here before.
  assert.equal((await changed("times", { times: ["SIGNATURE_TIME_REGISTRY"] })).answered, true);
  platform.clock.offsetMs = 0;
});
