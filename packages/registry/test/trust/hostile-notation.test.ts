// Envelopes of Notation that want to pass for signatures of an image, or to keep the server from its work: each is an
// answer, and none is trusted.
import assert from "node:assert/strict";
import { createHash, createHmac } from "node:crypto";
import { test } from "node:test";
import { SignatureCodeSchema, SignatureState } from "@moorage/api/messages";
import { encode, Tagged } from "cborg";
import { der, octets } from "../../../server/test/support/der.ts";
import { type Dice, diceOf } from "../../../server/test/support/dice.ts";
import { sized } from "../../../server/test/support/extent.ts";
import {
  ACME,
  certify,
  CODE_SIGNING,
  extension,
  type Holder,
  newChain,
  newKeys,
  SERVER,
  TIME_STAMPING,
} from "../../../server/test/support/notation-certificates.ts";
import {
  COSE,
  coseEnvelope,
  type EnvelopeFields,
  JWS,
  jwsEnvelope,
  jwsParts,
  MANIFEST,
  payloadOf,
  stampToken,
} from "../../../server/test/support/notation-signing.ts";
import { envelope as dsseEnvelope, inToto, newKey, PROVENANCE } from "../../../server/test/support/signing.ts";
import type { VerifiedEntry } from "../../src/trust/verify/types.ts";
import { verifySigned } from "../../src/trust/verify/verify.ts";

const SEED = Number(process.env["MOORAGE_TEST_SEED"] ?? 34);
const COUNT = Number(process.env["MOORAGE_TEST_FUZZES"] ?? sized(600, 50_000));

const CONTENT = Buffer.from(`{"schemaVersion":2,"mediaType":"${MANIFEST}"}`);
const DIGEST = `sha256:${createHash("sha256").update(CONTENT).digest("hex")}`;
const OTHER = `sha256:${"0".repeat(64)}`;
const PAYLOAD = payloadOf(DIGEST, CONTENT.length);
type Chain = [Holder, Holder, Holder];
const CHAIN = newChain();
const TSA_ROOT = certify({ isAuthority: true });
const TSA = certify({ purposes: [TIME_STAMPING], isForCritical: true }, TSA_ROOT);

async function verified(mediaType: string, content: Uint8Array, root = CHAIN[2]): Promise<VerifiedEntry> {
  const x509 = {
    roots: [root.pem],
    isAuthority: false,
    tsaRoots: [TSA_ROOT.pem],
    identities: ["*"],
    revoked: [],
    crls: [],
    isOnline: false,
  };
  const nowMs = Date.now();
  const [entry] = await verifySigned({
    subject: DIGEST,
    subjectContent: CONTENT,
    subjectMediaType: MANIFEST,
    layers: [{ n: 0, mediaType, annotations: {}, content }],
    signers: [{ uid: "g/s", version: "1", keys: [], x509, requireLog: false, times: [] }],
    heldMs: nowMs,
    nowMs,
  });
  assert.ok(entry);
  return entry;
}

const isTrusted = ({ matches }: VerifiedEntry): boolean =>
  matches.some(({ segments }) => segments.some(({ state }) => state === SignatureState.TRUSTED));

/** What is said of it in a line: `TRUSTED`, `OTHER_SIGNER`, or what is wrong whoever has made it. */
async function worth(mediaType: string, content: Uint8Array, root?: Holder): Promise<string> {
  const entry = await verified(mediaType, content, root);
  if (entry.code === 0) return isTrusted(entry) ? "TRUSTED" : "OTHER_SIGNER";
  assert.deepEqual(entry.matches, []);
  const code = SignatureCodeSchema.value[entry.code]?.name.replace("SIGNATURE_CODE_", "");
  return `${code}: ${entry.reason}`;
}

/** The same of both forms of an envelope. */
async function both(
  chain: readonly [Holder, ...Holder[]],
  payload = PAYLOAD,
  fields: EnvelopeFields = {},
  root?: Holder,
) {
  const [first, second] = [
    await worth(JWS, await jwsEnvelope(chain, payload, fields), root),
    await worth(COSE, coseEnvelope(chain, payload, fields), root),
  ];
  return [first, second] as const;
}

async function bothSay(
  expected: RegExp,
  chain: readonly [Holder, ...Holder[]],
  payload?: string,
  fields?: EnvelopeFields,
): Promise<void> {
  for (const answer of await both(chain, payload, fields, chain.at(-1))) assert.match(answer, expected);
}

test("a sound envelope is trusted in both forms", async () => {
  assert.deepEqual(await both(CHAIN), ["TRUSTED", "TRUSTED"]);
  const alone = certify();
  assert.deepEqual(await both([alone], PAYLOAD, {}, alone), ["TRUSTED", "TRUSTED"]);
});

test("a payload of another image, size or type, of other things, or that can be read in two ways", async () => {
  await bothSay(/^OTHER_IMAGE/, CHAIN, payloadOf(OTHER, CONTENT.length));
  await bothSay(/^OTHER_IMAGE/, CHAIN, payloadOf(DIGEST, CONTENT.length + 1));
  await bothSay(/^OTHER_IMAGE/, CHAIN, PAYLOAD.replace(`:${CONTENT.length}}`, `:"${CONTENT.length}"}`));
  await bothSay(/^OTHER_IMAGE/, CHAIN, payloadOf(DIGEST, CONTENT.length, { mediaType: "text/plain" }));
  await bothSay(/^UNREADABLE: .*stands twice/, CHAIN, PAYLOAD.replace('"digest"', `"digest":"${OTHER}","digest"`));
  await bothSay(/^OTHER_PAYLOAD/, CHAIN, "{}");
  await bothSay(/^UNREADABLE/, CHAIN, "[]");
  // An attestation is no signature of an image, whatever type it is said to have.
  await bothSay(/^OTHER_PAYLOAD/, CHAIN, inToto(DIGEST, PROVENANCE));
  const typed = { headers: { cty: "application/vnd.in-toto+json" } };
  await bothSay(/^OTHER_PAYLOAD/, CHAIN, PAYLOAD, typed);
  const attested = dsseEnvelope(newKey(), inToto(DIGEST, PROVENANCE));
  assert.match(await worth(JWS, Buffer.from(JSON.stringify(attested))), /^UNREADABLE/);
});

test("headers that are not understood: critical ones, plugins, schemes, times", async () => {
  const scheme = "io.cncf.notary.signingScheme";
  const say = async (expected: RegExp, headers: Record<string, unknown>): Promise<void> =>
    await bothSay(expected, CHAIN, PAYLOAD, { headers });
  await say(/^UNREADABLE: .*not understood: com\.example/, { crit: [scheme, "com.example"], "com.example": "x" });
  await say(/^UNREADABLE: .*by a plugin/, {
    crit: [scheme, "io.cncf.notary.verificationPlugin"],
    "io.cncf.notary.verificationPlugin": "aws",
  });
  await say(/^UNREADABLE: .*plugin/, { "io.cncf.notary.verificationPlugin": "aws" });
  await say(/^UNREADABLE: .*scheme/, { [scheme]: "notary.x509.other" });
  await say(/^UNREADABLE: .*no crit/, { crit: undefined });
  await say(/^UNREADABLE: .*lacks/, { "io.cncf.notary.signingTime": undefined });
  await say(/^UNREADABLE: .*not a time/, { "io.cncf.notary.signingTime": "yesterday" });
  await say(/^UNREADABLE: .*not critical/, {
    "io.cncf.notary.authenticSigningTime": "2026-01-01T00:00:00Z",
  });
  const ended = { signedMs: 2_000_000_000_000, expiryMs: 1_900_000_000_000 };
  await bothSay(/^UNREADABLE: it ends before/, CHAIN, PAYLOAD, ended);
  // What only asks to be looked at, and need not be.
  assert.deepEqual(await both(CHAIN, PAYLOAD, { headers: { "com.example": "x" } }), ["TRUSTED", "TRUSTED"]);
});

test("certificates that sign no images", async () => {
  const leaf = async (expected: RegExp, fields: Parameters<typeof certify>[0]): Promise<void> =>
    await bothSay(expected, newChain(fields));
  await leaf(/^BAD_CERTIFICATE: .*one of an authority/, { isAuthority: true, usage: [0, 5] });
  await leaf(/^BAD_CERTIFICATE: .*not one for signing code/, { purposes: [SERVER] });
  await leaf(/^BAD_CERTIFICATE: .*not one for signing code/, { purposes: [CODE_SIGNING, SERVER] });
  await leaf(/^BAD_CERTIFICATE: .*not one for signing code/, { purposes: [CODE_SIGNING, TIME_STAMPING] });
  await leaf(/^BAD_CERTIFICATE: .*not for digital signatures alone/, { usage: [2] });
  await leaf(/^BAD_CERTIFICATE: .*not for digital signatures alone/, { usage: [0, 5] });
  // Constraints of names are not understood, so that none is passed over.
  await leaf(/^BAD_CERTIFICATE: .*critical extension 2\.5\.29\.30/, {
    extensions: [extension("2.5.29.30", der(0x30, ""), true)],
  });
  await leaf(/^BAD_CERTIFICATE: .*more than 65536 bytes/, {
    extensions: [extension("1.2.3.4", octets(Buffer.alloc(70_000)))],
  });
  assert.deepEqual(await both(newChain({ purposes: [] })), ["OTHER_SIGNER", "OTHER_SIGNER"]);
});

test("chains that are none: other orders, missing parts, those who may not issue, those whose key did not", async () => {
  const [leaf, middle, root] = CHAIN;
  await bothSay(/^BAD_CERTIFICATE: .*was not issued by/, [leaf, root]);
  await bothSay(/^BAD_CERTIFICATE: .*not its own root/, [leaf, middle]);
  await bothSay(/^BAD_CERTIFICATE: .*not its own root/, [leaf]);
  await bothSay(/^BAD_CERTIFICATE: /, [leaf, root, middle]);
  await bothSay(/^BAD_CERTIFICATE: .*a root, and others follow/, [leaf, middle, root, root]);
  await bothSay(/^UNREADABLE: .*10 certificates/, [leaf, ...Array<Holder>(10).fill(middle)] as [Holder, ...Holder[]]);
  const below = certify({ subject: [...ACME, ["CN", "below"]] }, leaf);
  await bothSay(/^BAD_CERTIFICATE: .*not one of an authority/, [below, leaf, middle, root]);
  // The middle one may have none below: a further authority of it does not count.
  const further = certify({ isAuthority: true }, middle);
  await bothSay(/^BAD_CERTIFICATE: .*may have 0 authorities/, [certify({}, further), further, middle, root]);
  const weak: Chain = newChain({}, { usage: [0] });
  await bothSay(/^BAD_CERTIFICATE: .*not for issuing/, weak);
  // A root of the same name as the signer's with another key.
  const impostor = certify({ isAuthority: true, subject: [...ACME, ["CN", "same"]] });
  const real = certify({ isAuthority: true, subject: [...ACME, ["CN", "same"]] });
  assert.deepEqual(await both([certify({}, impostor), impostor], PAYLOAD, {}, real), ["OTHER_SIGNER", "OTHER_SIGNER"]);
  await bothSay(/^BAD_CERTIFICATE: .*was not issued by/, [certify({}, impostor), real]);
});

test("JSON: no algorithm, a shared secret, another curve's, and names that stand twice", async () => {
  const parts = (await jwsParts(CHAIN, PAYLOAD)) as Record<"protected" | "payload" | "signature", string> & {
    header: Record<string, unknown>;
  };
  const head = JSON.parse(Buffer.from(parts.protected, "base64url").toString()) as Record<string, unknown>;
  const url = (text: string): string => Buffer.from(text).toString("base64url");
  const say = async (expected: RegExp, change: object): Promise<void> =>
    assert.match(await worth(JWS, Buffer.from(JSON.stringify({ ...parts, ...change }))), expected);
  const withAlgorithm = (alg: unknown): { protected: string } => ({ protected: url(JSON.stringify({ ...head, alg })) });
  await say(/^UNREADABLE: signature is missing/, { ...withAlgorithm("none"), signature: "" });
  for (const alg of ["none", "HS256", "ES384", "ES512", "PS256", "RS256", "es256", 1, undefined])
    await say(/^UNREADABLE: its algorithm/, withAlgorithm(alg));
  const secret = createHmac("sha256", CHAIN[0].pem).update(`${withAlgorithm("HS256").protected}.${parts.payload}`);
  await say(/^UNREADABLE: its algorithm/, { ...withAlgorithm("HS256"), signature: secret.digest("base64url") });
  await say(/^BAD_CERTIFICATE: its signature/, { payload: url(payloadOf(DIGEST, CONTENT.length, { extra: 1 })) });
  await say(/^BAD_CERTIFICATE: its signature/, { signature: url("x".repeat(64)) });
  await say(/^UNREADABLE: payload is not base64url/, { payload: `${parts.payload}=` });
  await say(/^UNREADABLE: protected is missing/, { protected: undefined, signatures: [parts] });
  await say(/^UNREADABLE: .*is in both headers/, { header: { ...parts.header, alg: "none" } });
  await say(/^UNREADABLE: x5c\[0\] is not base64/, { header: { x5c: ["%%%%"] } });
  await say(/^UNREADABLE: x5c/, { header: {} });
  const twice = JSON.stringify(parts).replace('"payload"', `"payload":"${url(PAYLOAD)}","payload"`);
  assert.match(await worth(JWS, Buffer.from(twice)), /^UNREADABLE: .*stands twice/);
  const text = Buffer.from(parts.protected, "base64url").toString();
  await say(/^UNREADABLE: .*stands twice/, { protected: url(text.replace("{", '{"alg":"none",')) });
  await say(/^UNREADABLE: .*1048576/, { padding: "x".repeat(2 << 20) });
  // Signed by one key, with the certificate of another.
  const rsa = newChain({ keys: newKeys("rsa") });
  const other = (await jwsParts(rsa, PAYLOAD)) as typeof parts;
  assert.match(
    await worth(JWS, Buffer.from(JSON.stringify({ ...other, header: parts.header }))),
    /^UNREADABLE: its algorithm/,
  );
});

test("CBOR: no tag, indefinite lengths, keys that stand twice, deep nesting, and what follows", async () => {
  const sound = coseEnvelope(CHAIN, PAYLOAD);
  const say = async (expected: RegExp, bytes: Uint8Array): Promise<void> =>
    assert.match(await worth(COSE, bytes), expected);
  await say(/^UNREADABLE: .*not a tagged COSE_Sign1/, sound.subarray(1));
  await say(/^UNREADABLE/, Buffer.concat([sound, Buffer.from([0])]));
  await say(/^UNREADABLE/, Buffer.concat([Buffer.from([0xd2, 0x9f]), sound.subarray(2), Buffer.from([0xff])]));
  await say(/^UNREADABLE/, Buffer.concat([Buffer.from([0xd8, 0x12]), sound.subarray(1)]));
  await say(/^UNREADABLE: .*nested deeper/, Buffer.concat([Buffer.from([0xd2]), Buffer.alloc(500_000, 0x81)]));
  await say(/^UNREADABLE: .*nested deeper/, Buffer.alloc(500_000, 0xd2));
  // A list that claims to be longer than memory.
  await say(/^UNREADABLE/, Buffer.from("d29b0fffffffffffffff", "hex"));
  await say(/^UNREADABLE/, Buffer.from("d25b0fffffffffffffff", "hex"));
  const four = (head: Uint8Array, open: unknown = new Map([[33, CHAIN.map((each) => each.der)]])): Buffer =>
    Buffer.from(encode(new Tagged(18, [head, open, Buffer.from(PAYLOAD), Buffer.alloc(64, 1)])));
  await say(/^UNREADABLE: .*repeat map key/, four(Buffer.from("a201260126", "hex")));
  await say(/^UNREADABLE: .*not a map/, four(encode([1])));
  await say(/^OTHER_PAYLOAD/, four(encode(new Map([[1, -7]]))));
  const scheme = "io.cncf.notary.signingScheme";
  const head = (more: [unknown, unknown][]): Uint8Array =>
    encode(
      new Map<unknown, unknown>([
        [1, -7],
        [2, [scheme]],
        [3, "application/vnd.cncf.notary.payload.v1+json"],
        [scheme, "notary.x509"],
        ["io.cncf.notary.signingTime", new Tagged(1, 1_700_000_000)],
        ...more,
      ]),
    );
  await say(/^BAD_CERTIFICATE: its signature/, four(head([])));
  for (const alg of [-257, 5, -35, -36, -37, "ES256"]) await say(/^UNREADABLE: its algorithm/, four(head([[1, alg]])));
  await say(/^UNREADABLE: .*not understood: 4/, four(head([[2, [scheme, 4]]])));
  await say(/^UNREADABLE: .*not a time/, four(head([["io.cncf.notary.signingTime", 1_700_000_000]])));
  await say(/^UNREADABLE: .*not a time/, four(head([["io.cncf.notary.signingTime", new Tagged(1, 1.5)]])));
  await say(/^UNREADABLE: .*does not hold certificates/, four(head([]), new Map([[33, [1]]])));
  await say(/^UNREADABLE: .*is in both headers/, four(head([]), new Map<number, unknown>([[1, -7]])));
  await say(/^UNREADABLE: .*larger than 1048576/, Buffer.alloc((1 << 20) + 1));
});

function changed(dice: Dice, content: Uint8Array): Buffer {
  let bytes = Buffer.from(content);
  for (let left = 1 + dice.below(3); left > 0; left -= 1) {
    const [at, size] = [dice.below(bytes.length + 1), dice.below(40)];
    const [head, tail] = [bytes.subarray(0, at), bytes.subarray(at)];
    bytes = Buffer.concat(
      dice.pick([
        [head, dice.bytes(1), tail.subarray(1)],
        [head, tail.subarray(size)],
        [head, tail.subarray(0, size), tail],
        [head, Buffer.from(dice.pick(["9f", "ff", "bf", "5f", "d2", "1b", "3080", "22", "7b"]), "hex"), tail],
        [head],
      ]),
    );
  }
  return bytes;
}

test("whatever is changed in an envelope or its time stamp, the answer is one, and trusts only what was signed", async (t) => {
  t.diagnostic(`MOORAGE_TEST_SEED=${SEED}, MOORAGE_TEST_FUZZES=${COUNT}`);
  const fields: EnvelopeFields = { stamp: (bytes) => stampToken(TSA, [TSA_ROOT], bytes, Date.now()) };
  const sound = [
    [JWS, await jwsEnvelope(CHAIN, PAYLOAD, fields)],
    [COSE, coseEnvelope(CHAIN, PAYLOAD, fields)],
  ] as const;
  for (const [mediaType, content] of sound) assert.ok((await verified(mediaType, content)).signedMs !== undefined);
  let refused = 0;
  for (let at = 0; at < COUNT; at += 1) {
    const dice = diceOf(SEED, at);
    const [mediaType, content] = dice.pick(sound);
    const stamped: EnvelopeFields = { stamp: (bytes) => changed(dice, stampToken(TSA, [TSA_ROOT], bytes, Date.now())) };
    const isStamp = dice.chance(0.2);
    const bytes = isStamp ? coseEnvelope(CHAIN, PAYLOAD, stamped) : changed(dice, content);
    const entry = await verified(isStamp ? COSE : mediaType, bytes);
    const words = `seed ${SEED}, ${at}: ${entry.reason}`;
    if (!isTrusted(entry)) refused += 1;
    else if (!isStamp)
      assert.ok(bytes.includes(mediaType === COSE ? PAYLOAD : Buffer.from(PAYLOAD).toString("base64url")), words);
    assert.ok(entry.reason.length <= 500 && !entry.reason.includes("\0") && entry.reason.isWellFormed(), words);
  }
  assert.ok(refused > COUNT / 3, `${refused} of ${COUNT}`);
});
