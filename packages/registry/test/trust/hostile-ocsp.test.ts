// Answers of responders of OCSP as they must not be: none of them says anything of a certificate.
import assert from "node:assert/strict";
import { test } from "node:test";
import { sequence } from "../../../server/test/support/der.ts";
import { diceOf } from "../../../server/test/support/dice.ts";
import {
  certify,
  extension,
  type Holder,
  newChain,
  newKeys,
  SERVER,
} from "../../../server/test/support/notation-certificates.ts";
import {
  askAt,
  listAt,
  NO_CHECK,
  OCSP_SIGNING,
  ocspAnswer,
  type OcspFields,
} from "../../../server/test/support/ocsp-responder.ts";
import { readCertificate } from "../../src/trust/x509/certificate.ts";
import { ocspRequest } from "../../src/trust/x509/certificate-id.ts";
import { statusInAnswer } from "../../src/trust/x509/ocsp-response.ts";
import { statusPlace } from "../../src/trust/x509/status-place.ts";
import { SignatureState } from "@moorage/api/messages";
import { onlineStatus } from "../../src/trust/verify/notation/online.ts";
import { type KnownStatus, statusKey } from "../../src/trust/verify/statuses.ts";
import made from "./openssl-ocsp.json" with { type: "json" };

const [LEAF, AUTHORITY, ROOT] = newChain();
const ABOUT = { certificate: readCertificate(LEAF.der), issuer: readCertificate(AUTHORITY.der) };
const NOW_MS = Math.trunc(Date.now() / 1_000) * 1_000;
const HOUR_MS = 3_600_000;

const read = (bytes: Uint8Array) => statusInAnswer(bytes, ABOUT, NOW_MS);
const answer = (fields: OcspFields = {}, about: Holder = LEAF): Buffer => ocspAnswer(about, AUTHORITY, fields, NOW_MS);

function refused(fields: OcspFields, reason: RegExp, about?: Holder): void {
  assert.throws(() => read(answer(fields, about)), reason);
}

/** Somebody whom the authority lets answer, or not. */
const responder = (fields: Parameters<typeof certify>[0] = {}, issuer = AUTHORITY): Holder =>
  certify({ purposes: [OCSP_SIGNING], ...fields }, issuer);

test("what an authority says, and who it lets say it, by name and by key, with each hash", () => {
  const bounds = { fromMs: NOW_MS - 60_000, untilMs: NOW_MS + 2 * HOUR_MS };
  assert.deepEqual(read(answer()), { state: "good", ...bounds });
  assert.deepEqual(read(answer({ byKey: true, hash: "sha256" })), { state: "good", ...bounds });
  assert.deepEqual(read(answer({ state: "unknown" })), { state: "unknown", ...bounds });
  const revoked = { state: "revoked", ...bounds, revokedMs: NOW_MS - HOUR_MS };
  assert.deepEqual(read(answer({ state: "revoked" })), revoked);
  const invalidMs = NOW_MS - 3 * HOUR_MS;
  assert.deepEqual(read(answer({ state: "revoked", invalidMs })), { ...revoked, sinceMs: invalidMs });
  for (const byKey of [false, true])
    assert.equal(read(answer({ signer: responder({ extensions: [NO_CHECK] }), byKey })).state, "good");
  // Others may go with it, and a nonce that nobody has sent.
  const certificates = [ROOT, AUTHORITY];
  assert.equal(read(answer({ certificates })).state, "good");
  const nonce = extension("1.3.6.1.5.5.7.48.1.2", Buffer.from([4, 1, 7]), true);
  assert.equal(read(answer({ extensions: [nonce] })).state, "good");
});

test("what OpenSSL answers to our questions, signed by the authority and by whom it lets answer", () => {
  const certificate = (base64: string) => readCertificate(Buffer.from(base64, "base64"));
  const nowMs = Date.parse(made.time);
  for (const { about, by, named, answer: bytes } of made.cases) {
    const of = {
      certificate: certificate(about === "gone" ? made.gone : made.leaf),
      issuer: certificate(made.authority),
    };
    const status = statusInAnswer(Buffer.from(bytes, "base64"), of, nowMs);
    assert.equal(status.state, about === "gone" ? "revoked" : "good", `${by} by ${named}`);
    assert.ok(status.fromMs <= nowMs && status.untilMs > nowMs);
    assert.throws(() => statusInAnswer(Buffer.from(bytes, "base64"), ABOUT, nowMs), /somebody else|has not issued/);
  }
});

test("answers of somebody else do not count", () => {
  const stranger = certify({ isAuthority: true });
  refused({ signer: stranger }, /has not issued/);
  refused({ signer: stranger, claimed: AUTHORITY }, /not signed by who it says to be/);
  refused({ signer: { ...AUTHORITY, key: newKeys().privateKey } }, /not signed by who it says to be/);
  refused({ signer: responder({}, stranger) }, /has not issued/);
  refused({ signer: responder({}, ROOT) }, /has not issued/);
  refused({ signer: responder({ purposes: [] }) }, /not one for answering/);
  refused({ signer: responder({ purposes: [SERVER] }) }, /not one for answering/);
  // The certificate that is asked about, by the authority that has issued it.
  refused({ signer: LEAF }, /not one for answering/);
  refused({ signer: responder({ usage: [5] }) }, /not one for signatures/);
  refused({ signer: responder({ notAfterMs: NOW_MS - HOUR_MS }) }, /not valid now/);
  refused({ signer: responder({ extensions: [askAt("http://127.0.0.1/")] }) }, /id-pkix-ocsp-nocheck/);
  refused({ signer: responder(), certificates: [] }, /without a certificate of the authority's/);
  const own = responder();
  refused({ signer: own, claimed: responder(), certificates: [own] }, /without a certificate of the authority's/);
});

test("answers about something else, of another time, or in two ways do not count", () => {
  refused({}, /about another certificate/, certify({}, AUTHORITY));
  assert.throws(() => read(ocspAnswer(LEAF, ROOT, { signer: AUTHORITY }, NOW_MS)), /about another certificate/);
  refused({ times: 0 }, /about another certificate/);
  refused({ times: 2 }, /more than one thing/);
  refused({ times: 1_001 }, /has more than|more than 1000/);
  refused({ fromMs: NOW_MS - 2 * HOUR_MS, untilMs: NOW_MS - HOUR_MS }, /counted until/);
  refused({ fromMs: NOW_MS - 2 * HOUR_MS, untilMs: NOW_MS }, /counted until/);
  refused({ fromMs: NOW_MS + HOUR_MS }, /which is later/);
  refused({ untilMs: null }, /nextUpdate/);
  refused({ extensions: [extension("1.2.3.4", sequence(), true)] }, /critical extension 1\.2\.3\.4/);
  refused({ status: 3 }, /try again later/);
  refused({ status: 6 }, /does not answer for this authority/);
  refused({ status: 9 }, /status 9/);
});

test("what is no answer is refused, whatever it is", () => {
  const whole = answer({ signer: responder() });
  const random = diceOf(1);
  for (const bytes of [Buffer.alloc(0), Buffer.from("<html>"), Buffer.alloc(70_000, 0x30), Buffer.alloc(60_000, 0x30)])
    assert.throws(() => read(bytes));
  for (let length = 0; length < whole.length; length += 1) assert.throws(() => read(whole.subarray(0, length)));
  assert.throws(() => read(Buffer.concat([whole, Buffer.from([0])])));
  // What is signed is all that counts, and its signature; the rest are unused bits and other forms of the same.
  let said = 0;
  for (let at = 0; at < whole.length; at += 1) {
    const spoiled = Buffer.from(whole);
    spoiled[at] = (spoiled[at] ?? 0) ^ (1 << random.below(8));
    try {
      assert.deepEqual(read(spoiled), read(whole));
      said += 1;
    } catch (error) {
      assert.ok(error instanceof Error);
    }
  }
  assert.ok(said < 20, `${said} spoiled answers were taken`);
});

test("of a chain that nobody was asked about it is said why it is not known", () => {
  const extensions = [askAt("http://ca.example/ocsp")];
  const chain = newChain({ extensions }, { extensions }).map(({ der }) => readCertificate(der));
  const off = onlineStatus(chain, { statuses: {}, isAsking: false });
  assert.match(off.unknown?.reason ?? "", /is revoked: MOORAGE_REVOCATION is off, so that no authority is asked/);
  assert.equal(off.unknown?.state, SignatureState.INVALID);
  assert.deepEqual(
    off.needs.map(({ certificateId, host }) => [certificateId, host]),
    chain.slice(0, 2).map(({ fingerprint }) => [fingerprint, "ca.example"]),
  );
  const asking = onlineStatus(chain, { statuses: {}, isAsking: true });
  assert.equal(asking.unknown?.state, SignatureState.WAITING);
  // What fails says more than what waits, and an answer on one certificate nothing of the others.
  const [first, second] = asking.needs.map(statusKey);
  const failed = { state: "none", failedMs: NOW_MS, problem: "it broke off" } as const;
  const good = { state: "good", untilMs: NOW_MS + HOUR_MS, problem: "" } as const;
  const known = (statuses: Record<string, KnownStatus>) => onlineStatus(chain, { statuses, isAsking: true }).unknown;
  assert.match(known({ [second ?? ""]: failed })?.reason ?? "", /asking its authority fails since .*: it broke off/);
  assert.equal(known({ [first ?? ""]: good })?.state, SignatureState.WAITING);
  assert.equal(known({ [first ?? ""]: good, [second ?? ""]: good }), undefined);
  // A root alone, which has issued itself, is not asked about.
  assert.deepEqual(onlineStatus(chain.slice(2), { statuses: {}, isAsking: true }).unknown, undefined);
});

test("the question names the certificate alone, and whom to ask is what the certificate says", () => {
  const named = (...extensions: Buffer[]) => statusPlace(certify({ extensions }, AUTHORITY));
  assert.ok(ocspRequest(ABOUT).length < 120);
  assert.equal(named(), undefined);
  assert.deepEqual(named(askAt("http://ca.example/ocsp")), { kind: "ocsp", url: "http://ca.example/ocsp" });
  assert.deepEqual(named(listAt("https://ca.example/a.crl")), { kind: "list", url: "https://ca.example/a.crl" });
  assert.equal(named(listAt("http://ca.example/a.crl"), askAt("http://ca.example/"))?.kind, "ocsp");
  for (const url of ["ldap://ca.example/", "file:///etc/passwd", "ca", "", `http://ca.example/${"a".repeat(2_000)}`])
    assert.equal(named(askAt(url)), undefined, url);
});
