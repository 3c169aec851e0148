// Signatures with something changed in them: each is an answer, and none is trusted whose signed bytes are others.
import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { test } from "node:test";
import { SignatureState, SignatureTime } from "@moorage/api/messages";
import { selfSigned } from "../../../server/test/support/certificate.ts";
import { type Dice, diceOf } from "../../../server/test/support/dice.ts";
import { sized } from "../../../server/test/support/extent.ts";
import {
  BUNDLE,
  cosignLayer,
  cosignPayload,
  DSSE,
  envelope,
  envelopeBundle,
  inToto,
  newKey,
  PROVENANCE,
  SIMPLE_SIGNING,
} from "../../../server/test/support/signing.ts";
import { claimsOf } from "../../src/trust/claims/claims.ts";
import { certifiedIdentity } from "../../src/trust/verify/fulcio.ts";
import { SignatureError, type SignedLayer, type VerifiedEntry } from "../../src/trust/verify/types.ts";
import { verifySigned } from "../../src/trust/verify/verify.ts";

const SEED = Number(process.env["MOORAGE_TEST_SEED"] ?? 29);
const COUNT = Number(process.env["MOORAGE_TEST_FUZZES"] ?? sized(1_500, 50_000));
const MAX_CLAIMS = 32 << 10;

const key = newKey();
const SUBJECT = `sha256:${"a".repeat(64)}`;
const STATEMENT = inToto(SUBJECT, PROVENANCE, { builder: { id: "ci" }, list: [1, { a: null }], "a/b~c": true });
const TOKENS = ['"', "{", "}", "[", "]", ",", ":", "\\u0000", "\\ud800", "null", "1e999", "-0", "=", "AA==", "\0", "é"];

const layerOf = (mediaType: string, content: string, annotations: Record<string, string> = {}): SignedLayer => ({
  n: 0,
  mediaType,
  annotations,
  content: Buffer.from(content),
});
const cosign = cosignLayer(key, cosignPayload(SUBJECT, "acme/app", { env: "prod" }));
const SOUND: readonly SignedLayer[] = [
  layerOf(SIMPLE_SIGNING, String(cosign?.content), cosign?.annotations ?? {}),
  layerOf(DSSE, JSON.stringify(envelope(key, STATEMENT))),
  layerOf(BUNDLE, envelopeBundle(key, STATEMENT)),
];

function changed(dice: Dice, content: Uint8Array): Buffer {
  let bytes = Buffer.from(content);
  for (let left = 1 + dice.below(3); left > 0; left -= 1) {
    const [at, size] = [dice.below(bytes.length + 1), dice.below(40)];
    const [head, tail] = [bytes.subarray(0, at), bytes.subarray(at)];
    const token = Buffer.from(dice.pick(TOKENS).repeat(dice.chance(0.05) ? 5_000 : 1));
    bytes = Buffer.concat(
      dice.pick([
        [head, dice.bytes(1), tail.subarray(1)],
        [head, tail.subarray(size)],
        [head, tail.subarray(0, size), tail],
        [head, token, tail],
        [head],
      ]),
    );
  }
  return bytes;
}

async function verified(layer: SignedLayer): Promise<VerifiedEntry> {
  const signer = { uid: "g/s", version: "1", keys: [{ pem: key.pem }], requireLog: false, times: [] };
  const subjectContent = undefined;
  const signed = { subject: SUBJECT, subjectContent, layers: [layer], signers: [signer], heldMs: 1_000, nowMs: 2_000 };
  const [entry] = await verifySigned(signed);
  assert.ok(entry);
  return entry;
}

const isTrusted = ({ matches }: VerifiedEntry): boolean =>
  matches.some(({ segments }) => segments.some(({ state }) => state === SignatureState.TRUSTED));

/** The bytes that were signed, as far as they can be read: the payload of cosign, or the statement. */
function signedBytes({ mediaType, content }: SignedLayer): string {
  const text = Buffer.from(content as Uint8Array).toString("latin1");
  if (mediaType === SIMPLE_SIGNING) return text;
  const value = JSON.parse(text) as { payload?: string; dsseEnvelope?: { payload?: string } };
  return Buffer.from(value.payload ?? value.dsseEnvelope?.payload ?? "", "base64").toString("latin1");
}

test("whatever is changed in a layer, the answer is one, and trusts only what was signed", async (t) => {
  t.diagnostic(`MOORAGE_TEST_SEED=${SEED}, MOORAGE_TEST_FUZZES=${COUNT}`);
  for (const layer of SOUND) assert.ok(isTrusted(await verified(layer)), layer.mediaType);
  let refused = 0;
  for (let at = 0; at < COUNT; at += 1) {
    const dice = diceOf(SEED, at);
    const sound = dice.pick(SOUND);
    const layer = { ...sound, content: changed(dice, sound.content as Uint8Array) };
    const entry = await verified(layer);
    const words = `seed ${SEED}, ${at}: ${entry.reason}`;
    if (isTrusted(entry)) assert.equal(signedBytes(layer), signedBytes(sound), words);
    else refused += 1;
    assert.ok(entry.reason.length <= 500 && !entry.reason.includes("\0") && entry.reason.isWellFormed(), words);
    assert.ok(JSON.stringify(entry.claims ?? "").length <= MAX_CLAIMS, words);
    assert.equal(entry.timeSource, SignatureTime.UNSPECIFIED, words);
  }
  assert.ok(refused > COUNT / 2, `${refused} of ${COUNT}`);
});

test("whatever is changed in a certificate, it is read or refused, and nothing else is thrown", () => {
  const { cert } = selfSigned();
  const der = new X509Certificate(cert).raw;
  for (let at = 0; at < COUNT; at += 1) {
    const bytes = changed(diceOf(SEED, at), der);
    try {
      const { extensions, subject } = certifiedIdentity(bytes);
      assert.ok(extensions.size <= 50 && typeof subject === "string");
    } catch (error) {
      assert.ok(error instanceof SignatureError, `seed ${SEED}, ${at}: ${String(error)}`);
      assert.ok(error.message.length < 300);
    }
  }
});

test("of a predicate of any size and form a bounded part is kept, and the rest is counted", () => {
  const deep = (levels: number): object => {
    let value: object = { end: 1 };
    for (let at = 0; at < levels; at += 1) value = { [`${at}`]: value };
    return value;
  };
  const wide = Object.fromEntries(Array.from({ length: 50_000 }, (_, n) => [`n${n}`, n]));
  const lists = Array.from({ length: 300 }, () => Array.from({ length: 300 }, () => ({ a: "b" })));
  for (const [predicate, count] of [
    [deep(60), 1],
    [wide, 50_000],
    [{ lists }, 90_000],
    [{ long: "x".repeat(100_000), ["y".repeat(5_000)]: 1 }, 2],
    [null, 1],
    ["text", 1],
  ] as const) {
    const claims = claimsOf({ names: ["x".repeat(10_000)], annotations: wide, predicateType: "x", predicate });
    assert.ok(JSON.stringify(claims).length <= MAX_CLAIMS);
    // The name and the annotations, which are no texts, are left out as well.
    assert.equal(claims.values.length + claims.leftOut, count + 1 + 50_000);
  }
});
