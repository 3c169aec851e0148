// Envelopes that notation-core-go 1.3.0 has signed, with time stamps of OpenSSL: notation-go.json.
import assert from "node:assert/strict";
import { createHash, X509Certificate } from "node:crypto";
import { test } from "node:test";
import { type SignatureState, SignatureStateSchema, SignatureTime } from "@moorage/api/messages";
import type { SpecCertificates, VerifiedEntry } from "../../src/trust/verify/types.ts";
import { verifySigned } from "../../src/trust/verify/verify.ts";
import made from "./notation-go.json" with { type: "json" };

type Case = (typeof made.cases)[number];

const DAY_MS = 86_400_000;
const SIGNED_MS = Date.parse(made.signedTime);
const MANIFEST = Buffer.from(made.manifest);
const SUBJECT = `sha256:${createHash("sha256").update(MANIFEST).digest("hex")}`;
const WANTED = "x509.subject: CN=Signer of #, O=Example\\, Inc., ST=WA, C=US";

/** What the signer of the case says of its envelope. */
async function verified(
  { name, mediaType, envelope, root, tsaRoot, scheme }: Case,
  nowMs: number,
  change: Partial<SpecCertificates> = {},
): Promise<VerifiedEntry> {
  const x509: SpecCertificates = {
    roots: [root],
    isAuthority: scheme.endsWith("Authority"),
    tsaRoots: tsaRoot === undefined ? [] : [tsaRoot],
    identities: [WANTED.replace("#", name)],
    revoked: [],
    crls: [],
    isOnline: false,
    ...change,
  };
  const signer = { uid: "g/s", version: "1", keys: [], x509, requireLog: false, times: [] };
  const [entry] = await verifySigned({
    subject: SUBJECT,
    subjectContent: MANIFEST,
    subjectMediaType: "application/vnd.oci.image.manifest.v1+json",
    layers: [{ n: 0, mediaType, annotations: {}, content: Buffer.from(envelope, "base64") }],
    signers: [signer],
    heldMs: nowMs,
    nowMs,
  });
  assert.ok(entry);
  return entry;
}

const wordOf = (state: SignatureState): string =>
  SignatureStateSchema.value[state]?.name.replace("SIGNATURE_STATE_", "") ?? String(state);

/** The states from now on, with the days until which they hold. */
function states({ matches, reason }: VerifiedEntry): (string | number)[] {
  assert.equal(reason, "");
  return (matches[0]?.segments ?? []).flatMap(({ state, untilMs }) => [
    wordOf(state),
    ...(untilMs === undefined ? [] : [Math.round((untilMs - SIGNED_MS) / DAY_MS)]),
  ]);
}

/** What an envelope is worth on the day of its signing, and in a year. */
const EXPECTED: Readonly<Record<string, [now: unknown[], inAYear: unknown[]]>> = {
  "jws ES256": [["TRUSTED"], ["TRUSTED"]],
  "jws ES521 with expiry": [["TRUSTED", 10, "EXPIRED"], ["EXPIRED"]],
  "jws PS384 by an authority": [["TRUSTED"], ["TRUSTED"]],
  "cose PS256": [["TRUSTED"], ["TRUSTED"]],
  "cose ES384 by an authority with expiry": [["TRUSTED", 10, "EXPIRED"], ["EXPIRED"]],
  "cose PS512": [["TRUSTED", 10, "EXPIRED"], ["EXPIRED"]],
};

for (const each of made.cases)
  test(`${each.name}: it is the signer's, as long as its certificates and its time say so`, async () => {
    const entry = await verified(each, SIGNED_MS);
    const later = await verified(each, SIGNED_MS + 365 * DAY_MS);
    assert.deepEqual([states(entry), states(later)], EXPECTED[each.name]);
    assert.equal(entry.predicateType, "");
    assert.deepEqual(entry.claims?.annotations, { env: "prod" });
    assert.match(entry.identity, new RegExp(`(?:^|,)CN=Signer of ${each.name}(?:,|$)`));
    const isTimed = each.tsaRoot !== undefined || each.scheme.endsWith("Authority");
    assert.equal(entry.timeSource, isTimed ? SignatureTime.TIMESTAMP : SignatureTime.UNSPECIFIED);
    assert.equal(entry.signedMs !== undefined, isTimed);
    if (entry.signedMs !== undefined) assert.ok(Math.abs(entry.signedMs - SIGNED_MS) < 60_000);
  });

test("without the time stamp's root a certificate holds until it ends, and somebody else's root says nothing", async () => {
  for (const each of made.cases.filter(({ tsaRoot }) => tsaRoot !== undefined)) {
    assert.deepEqual(states(await verified(each, SIGNED_MS, { tsaRoots: [] })), ["TRUSTED", 30, "EXPIRED"]);
    const other = made.cases.find(({ tsaRoot }) => tsaRoot !== undefined && tsaRoot !== each.tsaRoot);
    const entry = await verified(each, SIGNED_MS, { tsaRoots: [other?.tsaRoot ?? ""] });
    assert.deepEqual(states(entry), ["TRUSTED", 30, "EXPIRED"]);
    assert.equal(entry.signedMs, undefined);
    assert.match(entry.matches[0]?.segments[1]?.reason ?? "", /time stamp does not count: no root of the signer/);
  }
});

test("other roots, other identities, the other scheme and revoked certificates", async () => {
  for (const each of made.cases) {
    const other = made.cases.find(({ name }) => name !== each.name);
    assert.deepEqual((await verified(each, SIGNED_MS, { roots: [other?.root ?? ""] })).matches, []);
    const identities = ["x509.subject: C=US, ST=WA, O=Example", "x509.subject: C=US, ST=WA, O=Example\\, Inc., CN=x"];
    assert.deepEqual(states(await verified(each, SIGNED_MS, { identities })), ["UNTRUSTED"]);
    const isAuthority = !each.scheme.endsWith("Authority");
    assert.deepEqual(states(await verified(each, SIGNED_MS, { isAuthority })), ["UNTRUSTED"]);
    const { fingerprint256 } = new X509Certificate(each.root);
    const revoked = [`sha256:${fingerprint256.replaceAll(":", "").toLowerCase()}`];
    assert.deepEqual(states(await verified(each, SIGNED_MS, { revoked })), ["REVOKED"]);
  }
});
