// Signatures of Notation: envelopes in JSON and CBOR by certificates of an authority, against a policy that enforces.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { integer } from "../../../server/test/support/der.ts";
import {
  ACME,
  certify,
  extension,
  fingerprintOf,
  type Holder,
  newChain,
  newKeys,
  revocationList,
  TIME_STAMPING,
} from "../../../server/test/support/notation-certificates.ts";
import {
  COSE,
  coseEnvelope,
  type EnvelopeFields,
  JWS,
  jwsEnvelope,
  payloadOf,
  pushNotation,
  stampToken,
} from "../../../server/test/support/notation-signing.ts";
import { newX509Signer } from "../../../server/test/support/notation-repo.ts";
import { type Platform, startPlatform } from "../../../server/test/support/platform.ts";
import { newPolicy, openSignedRepo, type SignedRepo } from "../../../server/test/support/signed-repo.ts";
import { newKey, short, verifiedSignatures } from "../../../server/test/support/signing.ts";

const DAY_MS = 86_400_000;
let platform: Platform;

before(async () => {
  platform = await startPlatform();
});
after(() => platform.close());

/** Makes a signer of certificates below the root. Answers its uid. */
async function signerOf(x509: object, fields: object = {}, group = platform.organization): Promise<string> {
  return await newX509Signer(platform, group, x509, fields);
}

/** The size of a manifest of the repo, as whoever signs it sees it. */
async function sizeOf(repo: SignedRepo, digest: string): Promise<number> {
  const answer = await fetch(`${repo.url}/v2/${repo.name}/manifests/${digest}`, {
    headers: { authorization: `Bearer ${repo.token}` },
  });
  return (await answer.arrayBuffer()).byteLength;
}

/** An envelope of each form about the digest. */
async function envelopes(
  chain: readonly [Holder, ...Holder[]],
  payload: string,
  fields: EnvelopeFields = {},
): Promise<[mediaType: string, content: Buffer][]> {
  return [
    [JWS, await jwsEnvelope(chain, payload, fields)],
    [COSE, coseEnvelope(chain, payload, fields)],
  ];
}

test("push, be denied, sign with Notation, be answered: JSON and CBOR, keys of each kind", async () => {
  for (const type of ["P-256", "P-384", "P-521", "rsa"] as const) {
    const chain = newChain({ keys: newKeys(type), subject: [...ACME, ["CN", "release"]] });
    const repo = await openSignedRepo(platform);
    const identities = ["x509.subject: C=US, ST=WA, O=acme, CN=release"];
    const signer = await signerOf({ roots: [chain[2].pem], identities }, {}, repo.group);
    await newPolicy(platform, repo.group, { rules: [{ signers: [signer] }] });
    for (const mediaType of [JWS, COSE]) {
      const tag = mediaType === JWS ? "jws" : "cose";
      const digest = await repo.push(tag);
      assert.equal((await repo.pull(tag)).status, 403);
      const payload = payloadOf(digest, await sizeOf(repo, digest));
      const content = mediaType === JWS ? await jwsEnvelope(chain, payload) : coseEnvelope(chain, payload);
      const manifest = await pushNotation(repo, digest, content, { mediaType, byConfig: type === "P-384" });
      const [signature] = await verifiedSignatures(platform, repo, digest);
      assert.equal(short(signature), "TRUSTED", JSON.stringify(signature));
      assert.deepEqual(
        [signature?.format, signature?.identity, signature?.predicateType, signature?.timeSource],
        ["SIGNATURE_FORMAT_NOTATION", "CN=release,O=acme,ST=WA,C=US", "", "SIGNATURE_TIME_UNSPECIFIED"],
      );
      assert.equal(signature?.verdicts[0]?.fingerprint, fingerprintOf(chain[0]));
      assert.equal((await repo.pull(tag)).status, 200);
      assert.equal((await repo.pull(manifest)).status, 200);
    }
  }
});

/** What each of these envelopes about an image is worth by the signer, in the order in which they are given. */
async function worthOf(
  x509: object,
  make: (payload: string) => Promise<[mediaType: string, content: Buffer][]>,
  fields: object = {},
): Promise<{ worth: string[]; reasons: string[] }> {
  const repo = await openSignedRepo(platform);
  const signer = await signerOf(x509, fields, repo.group);
  const digest = await repo.push("v1");
  const manifests: string[] = [];
  for (const [mediaType, content] of await make(payloadOf(digest, await sizeOf(repo, digest))))
    manifests.push(await pushNotation(repo, digest, content, { mediaType }));
  const found = await verifiedSignatures(platform, repo, digest, manifests.length);
  const verdicts = manifests.map((manifest) =>
    found.find((each) => each.manifest === manifest)?.verdicts.find((each) => each.signer === signer),
  );
  return { worth: verdicts.map(short), reasons: verdicts.map((each) => each?.reason ?? "") };
}

test("an ended certificate holds with the time of an authority, of a time stamp, or of this registry where they count", async () => {
  const ended = { notBeforeMs: Date.now() - 20 * DAY_MS, notAfterMs: Date.now() - 10 * DAY_MS };
  const chain = newChain(ended);
  const roots = [chain[2].pem];
  const tsaRoot = certify({ isAuthority: true, notBeforeMs: ended.notBeforeMs });
  const tsa = certify({ purposes: [TIME_STAMPING], isForCritical: true, notBeforeMs: ended.notBeforeMs }, tsaRoot);
  const past = Date.now() - 15 * DAY_MS;
  const stampAt = (ms: number) => (signature: Buffer) => stampToken(tsa, [], signature, ms);
  const each = async (fields: EnvelopeFields, x509: object, more: object = {}): Promise<string[]> =>
    (await worthOf({ roots, ...x509 }, (payload) => envelopes(chain, payload, fields), more)).worth;
  const tsaRoots = [tsaRoot.pem];
  const none = ["EXPIRED EXPIRED", "EXPIRED EXPIRED"];
  const both = ["TRUSTED", "TRUSTED"];
  assert.deepEqual(await each({ signedMs: past }, {}), none);
  assert.deepEqual(await each({ signedMs: past, stamp: stampAt(past) }, { tsaRoots }), both);
  assert.deepEqual(await each({ signedMs: past, stamp: stampAt(past) }, {}), none);
  assert.deepEqual(await each({ signedMs: past, stamp: stampAt(Date.now()) }, { tsaRoots }), none);
  // The time stamp of something else, and what nobody trusted has stamped.
  assert.deepEqual(await each({ stamp: () => stampToken(tsa, [], Buffer.from("x"), past) }, { tsaRoots }), none);
  const self = certify({ purposes: [TIME_STAMPING], isForCritical: true, notBeforeMs: ended.notBeforeMs });
  assert.deepEqual(await each({ stamp: (bytes) => stampToken(self, [], bytes, past) }, { tsaRoots }), none);
  const coder = certify({ notBeforeMs: ended.notBeforeMs }, tsaRoot);
  assert.deepEqual(await each({ stamp: (bytes) => stampToken(coder, [], bytes, past) }, { tsaRoots }), none);
  const authority = { scheme: "SIGNER_SCHEME_SIGNING_AUTHORITY" };
  assert.deepEqual(await each({ signedMs: past, isAuthority: true }, authority), both);
  assert.deepEqual(await each({ signedMs: Date.now(), isAuthority: true }, authority), none);
  // A signing authority's roots vouch for its scheme alone.
  assert.deepEqual(await each({ signedMs: past, isAuthority: true }, {}), Array(2).fill("UNTRUSTED OTHER_SIGNER"));
  const held = { times: ["SIGNATURE_TIME_REGISTRY"] };
  assert.deepEqual(await each({ signedMs: past }, {}, held), none);
});

test("who is somebody else, revoked, or has said until when it counts", async () => {
  const chain = newChain({ subject: [...ACME, ["OU", "release"]] });
  const roots = [chain[2].pem];
  const each = async (x509: object, fields: EnvelopeFields = {}) =>
    await worthOf(x509, (payload) => envelopes(chain, payload, fields));
  const twice = (worth: string): string[] => [worth, worth];
  assert.deepEqual((await each({ roots })).worth, twice("TRUSTED"));
  assert.deepEqual((await each({ roots: [newChain()[2].pem] })).worth, twice("UNTRUSTED OTHER_SIGNER"));
  const other = await each({ roots, identities: ["x509.subject: C=US,ST=WA,O=acme,OU=other"] });
  assert.deepEqual(other.worth, twice("UNTRUSTED OTHER_SIGNER"));
  assert.match(
    other.reasons[0] ?? "",
    /one of OU=release,O=acme,ST=WA,C=US, which is not among the signer's identities/,
  );
  assert.deepEqual((await each({ roots, identities: ["x509.subject: C=US,S=WA,O=acme"] })).worth, twice("TRUSTED"));
  for (const holder of chain)
    assert.deepEqual(
      (await each({ roots, revokedFingerprints: [fingerprintOf(holder)] })).worth,
      twice("REVOKED REVOKED"),
    );
  const expired = await each({ roots }, { signedMs: Date.now() - DAY_MS, expiryMs: Date.now() - DAY_MS / 2 });
  assert.deepEqual(expired.worth, twice("EXPIRED EXPIRED"));
  assert.match(expired.reasons[0] ?? "", /by its own word/);
});

test("lists of revoked certificates: who is on one, who is on none, and lists that have ended or are somebody else's", async () => {
  const chain = newChain();
  const [leaf, middle, root] = chain;
  const each = async (crls: string[], fields: EnvelopeFields = {}, x509: object = {}) =>
    await worthOf({ roots: [root.pem], revocation: "SIGNER_REVOCATION_CRL", crls, ...x509 }, async (payload) =>
      (await envelopes(chain, payload, fields)).slice(0, 1),
    );
  const [sound, ofRoot] = [revocationList(middle), revocationList(root)];
  assert.deepEqual((await each([sound, ofRoot])).worth, ["TRUSTED"]);
  assert.deepEqual((await each([revocationList(middle, [[leaf]]), ofRoot])).worth, ["REVOKED REVOKED"]);
  assert.deepEqual((await each([sound, revocationList(root, [[middle]])])).worth, ["REVOKED REVOKED"]);
  assert.deepEqual((await each([sound, revocationList(middle, [[leaf]]), ofRoot])).worth, ["REVOKED REVOKED"]);
  const unknown = await each([ofRoot]);
  assert.deepEqual(unknown.worth, ["INVALID BAD_CERTIFICATE"]);
  assert.match(unknown.reasons[0] ?? "", /no list of the signer says whether the certificate of CN=release/);
  // By the key of somebody else, in the issuer's name.
  const forged = revocationList({ ...middle, key: newKeys().privateKey });
  assert.deepEqual((await each([forged, ofRoot])).worth, ["INVALID BAD_CERTIFICATE"]);
  const ended = await each([revocationList(middle, [], { untilMs: Date.now() - 60_000 }), ofRoot]);
  assert.deepEqual(ended.worth, ["EXPIRED EXPIRED"]);
  assert.match(ended.reasons[0] ?? "", /lists of revoked certificates hold until/);
  // What was signed before somebody else may have had the key counts, where a trusted time shows that.
  const tsaRoot = certify({ isAuthority: true });
  const tsa = certify({ purposes: [TIME_STAMPING], isForCritical: true }, tsaRoot);
  const stamp = (signature: Buffer): Buffer => stampToken(tsa, [], signature, Date.now() - 7_200_000);
  const since = (hoursAgo: number): string[] => [
    revocationList(middle, [[leaf, Date.now() - hoursAgo * 3_600_000]]),
    ofRoot,
  ];
  const tsaRoots = [tsaRoot.pem];
  assert.deepEqual((await each(since(1), { stamp }, { tsaRoots })).worth, ["TRUSTED"]);
  assert.deepEqual((await each(since(3), { stamp }, { tsaRoots })).worth, ["REVOKED REVOKED"]);
  assert.deepEqual((await each(since(1))).worth, ["REVOKED REVOKED"]);
  const withTsa = [...since(1), revocationList(tsaRoot, [[tsa]])];
  assert.deepEqual((await each(withTsa, { stamp }, { tsaRoots })).worth, ["REVOKED REVOKED"]);
});

test("one holder with two certificates is one for a threshold, and two holders are two", async () => {
  const root = certify({ isAuthority: true });
  const holder = (name: string): [Holder, Holder] => [certify({ subject: [...ACME, ["CN", name]] }, root), root];
  const repo = await openSignedRepo(platform);
  const signer = await signerOf({ roots: [root.pem] }, {}, repo.group);
  await newPolicy(platform, repo.group, { rules: [{ signers: [signer], threshold: 2 }] });
  const digest = await repo.push("v1");
  const payload = payloadOf(digest, await sizeOf(repo, digest));
  for (const chain of [holder("ann"), holder("ann")])
    await pushNotation(repo, digest, await jwsEnvelope(chain, payload));
  await verifiedSignatures(platform, repo, digest, 2);
  assert.equal((await repo.pull("v1")).status, 403);
  await pushNotation(repo, digest, await jwsEnvelope(holder("bob"), payload));
  await verifiedSignatures(platform, repo, digest, 3);
  assert.equal((await repo.pull("v1")).status, 200);
});

test("what would not be verified is rejected, with the reason", async () => {
  const [leaf, , root] = newChain();
  const rejected = async (x509: object, fields: object = {}): Promise<string> => {
    const answer = await platform.call("POST", `/registry/v2/signers/${platform.organization}`, {
      token: await platform.token(),
      body: { name: "rejected", x509: { roots: [root.pem], identities: ["*"], ...x509 }, ...fields },
    });
    assert.equal(answer.status, 400, answer.text);
    return answer.text;
  };
  assert.match(await rejected({ roots: [] }), /x509\.roots.*is required/);
  assert.match(await rejected({ roots: ["x"] }), /must be one certificate in PEM/);
  assert.match(await rejected({ roots: [`${root.pem}${leaf.pem}`] }), /must be one certificate in PEM/);
  assert.match(await rejected({ roots: [root.pem, root.pem] }), /is the same certificate as x509\.roots\[0\]/);
  assert.match(
    await rejected({ roots: ["-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----"] }),
    /cannot be read/,
  );
  assert.match(await rejected({ identities: [] }), /x509\.identities.*is required/);
  assert.match(await rejected({ identities: ["*", "x509.subject: C=US,ST=WA,O=acme"] }), /stands alone/);
  for (const [identity, reason] of [
    ["acme", /begin with/],
    ["x509.subject: C=US, O=acme", /must name ST/],
    ["x509.subject: C=US, ST=WA, O=acme, O=other", /names O twice/],
    ["x509.subject: C=US, ST=WA, O=acme, E=a", /asks for E: use CN/],
    ["x509.subject: C=US, ST=WA, O=acme+CN=a", /attributes with a value each/],
    ["x509.subject: C=US, ST=WA, O=#04", /hexadecimal/],
    ["x509.subject: C=US, ST=WA, O=", /without a value/],
  ] as const)
    assert.match(await rejected({ identities: [identity] }), reason);
  assert.match(await rejected({ tsaRoots: [root.pem] }), /has a certificate of roots/);
  assert.match(
    await rejected({ tsaRoots: [newChain()[2].pem], scheme: "SIGNER_SCHEME_SIGNING_AUTHORITY" }),
    /vouches for the time itself/,
  );
  assert.match(await rejected({ revokedFingerprints: ["ab"] }), /64 hexadecimal digits/);
  const byLists = { revocation: "SIGNER_REVOCATION_CRL" };
  assert.match(await rejected({ crls: [revocationList(certify({ isAuthority: true }))] }), /revocation CRL alone/);
  assert.match(await rejected(byLists), /x509\.crls.*is required/);
  assert.match(await rejected({ ...byLists, crls: ["x"] }), /must be one list in PEM/);
  const full = revocationList(root, Array<[Holder]>(1_000).fill([leaf]));
  assert.match(await rejected({ ...byLists, crls: Array(5).fill(full) }), /more than 131072 characters/);
  // A list of changes alone says nothing of what it does not name.
  const changes = { extensions: [extension("2.5.29.27", integer(1), true)] };
  assert.match(
    await rejected({ ...byLists, crls: [revocationList(certify({ isAuthority: true }), [], changes)] }),
    /critical extension 2\.5\.29\.27/,
  );
  assert.match(
    await rejected({ revocation: "SIGNER_REVOCATION_ONLINE" }),
    /needs the setting MOORAGE_REVOCATION=online/,
  );
  assert.match(await rejected({}, { times: ["SIGNATURE_TIME_LOG"] }), /use TIMESTAMP, REGISTRY/);
  assert.match(await rejected({}, { times: ["SIGNATURE_TIME_TIMESTAMP"] }), /x509\.tsaRoots.*is required/);
  assert.match(await rejected({}, { requireLog: true }), /not verified for certificates/);
  assert.match(await rejected({}, { keys: [{ pem: newKey().pem }] }), /x509.*and keys exclude each other/);
});
