// Certificates whose authorities are asked in the background whether they are revoked: by OCSP and by lists.
import assert from "node:assert/strict";
import { after, before, test, type TestContext } from "node:test";
import { eventually } from "../../../server/test/support/eventually.ts";
import { LOOPBACK } from "../../../server/test/support/mirror.ts";
import {
  certify,
  fingerprintOf,
  type Holder,
  type Revoked,
  revocationList,
  TIME_STAMPING,
} from "../../../server/test/support/notation-certificates.ts";
import { newX509Signer, signByNotation } from "../../../server/test/support/notation-repo.ts";
import { type EnvelopeFields, stampToken } from "../../../server/test/support/notation-signing.ts";
import {
  type Answering,
  askAt,
  listAt,
  NO_CHECK,
  OCSP_SIGNING,
  openOcspResponder,
  type OcspResponder,
} from "../../../server/test/support/ocsp-responder.ts";
import { type Platform, startPlatform } from "../../../server/test/support/platform.ts";
import { newPolicy, openSignedRepo, type SignedRepo } from "../../../server/test/support/signed-repo.ts";
import type { Call } from "../../../kernel/src/core/call.ts";
import { listSignatures, short, verifiedSignatures } from "../../../server/test/support/signing.ts";
import { removeUnusedCertificateStatuses } from "../../src/trust/revocation/remove.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
let platform: Platform;

before(async () => {
  platform = await startPlatform({ ...LOOPBACK, MOORAGE_REVOCATION: "online" });
});
after(() => platform.close());

const NOT_REVOKED = /^its authorities say that no certificate of its chain is revoked$/;
const ONLINE = { revocation: "SIGNER_REVOCATION_ONLINE" };

type Chain = [leaf: Holder, middle: Holder, root: Holder];

/** A responder, and a chain whose certificates name it, of both of which it says that they are good. */
async function openAuthority(t: TestContext): Promise<{ responder: OcspResponder; chain: Chain }> {
  const responder = await openOcspResponder(() => platform.clock.nowMs());
  t.after(() => responder.close());
  const extensions = [askAt(`${responder.url}/ocsp`)];
  const notAfterMs = Date.now() + 90 * DAY_MS;
  const root = certify({ isAuthority: true, notAfterMs });
  const middle = certify({ isAuthority: true, pathLength: 0, extensions, notAfterMs }, root);
  const chain: Chain = [certify({ extensions, notAfterMs }, middle), middle, root];
  responder.says(chain[0], middle);
  responder.says(middle, root);
  return { responder, chain };
}

interface Signed {
  repo: SignedRepo;
  signer: string;
  digest: string;
  /** What the signer makes of it, as it is listed now: in a line, and why. */
  worth(): Promise<{ worth: string; reason: string; fromTime?: string; untilTime?: string }>;
}

/** An image that the chain has signed, with a policy that lets images of the signer pass alone. */
async function signed(chain: Chain, x509: object = {}, fields: EnvelopeFields = {}): Promise<Signed> {
  const repo = await openSignedRepo(platform);
  const signer = await newX509Signer(platform, repo.group, { roots: [chain[2].pem], ...ONLINE, ...x509 });
  await newPolicy(platform, repo.group, { rules: [{ signers: [signer] }] });
  const digest = await repo.push("v1");
  await signByNotation(repo, digest, chain, fields);
  await verifiedSignatures(platform, repo, digest);
  return {
    repo,
    signer,
    digest,
    async worth() {
      const [signature] = (await listSignatures(platform, repo, digest)).signatures;
      const verdict = signature?.verdicts.find((each) => each.signer === signer);
      return { ...verdict, worth: short(verdict), reason: verdict?.reason ?? "" };
    },
  };
}

/** Waits until the signature is worth that, with a reason like this. */
async function becomes({ worth }: Signed, expected: string, reason = NOT_REVOKED): Promise<void> {
  await eventually(async () => {
    const is = await worth();
    return is.worth === expected && reason.test(is.reason);
  });
}

/** Waits until authorities were asked about all that is due: an answer is judged by the time of its question. */
async function settled(): Promise<void> {
  const rows = platform.reader.selectFrom("certificate_statuses").select("next_time");
  await eventually(async () => {
    platform.wake(["certificate-statuses"]);
    const nowMs = platform.clock.nowMs();
    return (await rows.execute()).every((row) => row.next_time > nowMs);
  });
}

/** Has authorities asked again about what is due after so long. */
async function pass(ms: number): Promise<void> {
  await settled();
  platform.clock.offsetMs += ms;
  await settled();
}

test("a pull under a policy passes, and is denied once the authority revokes the certificate, without a restart", async (t) => {
  const { responder, chain } = await openAuthority(t);
  const [leaf, middle, root] = chain;
  const image = await signed(chain);
  await becomes(image, "TRUSTED");
  assert.equal((await image.repo.pull("v1")).status, 200);
  assert.ok(responder.asked.every((each) => each === "POST /ocsp"));
  // A second image by the same certificate, for another group, asks nobody.
  const asked = responder.asked.length;
  assert.equal((await (await signed(chain)).worth()).worth, "TRUSTED");
  assert.equal(responder.asked.length, asked);
  responder.says(leaf, middle, { state: "revoked" });
  assert.equal((await image.repo.pull("v1")).status, 200);
  await pass(HOUR_MS + 60_000);
  await becomes(
    image,
    "REVOKED REVOKED",
    /its authority says that the certificate of CN=release .* is revoked since 20/,
  );
  const denied = await image.repo.pull("v1");
  assert.equal(denied.status, 403);
  assert.match(denied.text, /its authority says that the certificate of CN=release/);
  // Whoever asks why gets the same words.
  const identity = await platform.identity(image.repo.group, "viewer");
  const about = { identity, action: "REGISTRY_ACTION_PULL", resource: `${image.repo.name}:v1` };
  const { allowed, reason, message } = await platform.ok("POST", "/iam/v2/access:explain", about);
  assert.deepEqual([allowed, reason], [false, "ACCESS_REASON_SIGNATURE"]);
  assert.match(message, /its authority says that the certificate of CN=release/);
  // It stays revoked when the answer ends and nobody answers, and an older answer does not take it back.
  responder.says(leaf, middle, { fromMs: platform.clock.nowMs() - 3 * HOUR_MS });
  await pass(2 * HOUR_MS);
  responder.setDown(true);
  await pass(3 * HOUR_MS);
  responder.setDown(false);
  assert.equal((await image.worth()).worth, "REVOKED REVOKED");
  // What the authority takes back counts again, as what is revoked above does not.
  responder.says(leaf, middle);
  responder.says(middle, root);
  await pass(2 * HOUR_MS);
  await becomes(image, "TRUSTED");
  responder.says(middle, root, { state: "revoked" });
  await pass(2 * HOUR_MS);
  await becomes(image, "REVOKED REVOKED", /certificate of CN=authority/);
});

test("while a responder is down the old answer counts until it ends, and then not; when it answers again it does", async (t) => {
  const { responder, chain } = await openAuthority(t);
  const image = await signed(chain);
  await becomes(image, "TRUSTED");
  const { untilTime = "" } = await image.worth();
  const untilMs = Date.parse(untilTime);
  assert.ok(untilMs > platform.clock.nowMs() + HOUR_MS && untilMs <= platform.clock.nowMs() + 2 * HOUR_MS, untilTime);
  responder.setDown(true);
  const before = responder.asked.length;
  await pass(HOUR_MS + 60_000);
  assert.ok(responder.asked.length > before);
  // That is said while the old answer counts.
  await becomes(image, "TRUSTED", /is revoked; asking again fails since 20.*: it broke off$/);
  assert.equal((await image.repo.pull("v1")).status, 200);
  await pass(HOUR_MS);
  await becomes(
    image,
    "EXPIRED EXPIRED",
    /answer on the certificate of CN=.* counted until .*; asking again fails since 20.*: it broke off/,
  );
  const denied = await image.repo.pull("v1");
  assert.equal(denied.status, 403);
  assert.match(denied.text, /counted until/);
  responder.setDown(false);
  await pass(2 * HOUR_MS);
  await becomes(image, "TRUSTED");
  assert.equal((await image.repo.pull("v1")).status, 200);
});

test("an answer that says the same again goes on with what was known since the first", async (t) => {
  const { chain } = await openAuthority(t);
  const image = await signed(chain);
  const first = await image.worth();
  await pass(HOUR_MS + 60_000);
  const second = await eventually(async () => {
    const now = await image.worth();
    return now.untilTime !== first.untilTime && now;
  });
  assert.equal(second.worth, "TRUSTED");
  assert.equal(second.fromTime, first.fromTime);
  assert.ok(Date.parse(second.untilTime ?? "") > Date.parse(first.untilTime ?? ""));
  assert.equal((await image.repo.pull("v1")).status, 200);
});

test("what is not known does not count, and the reason says why", async (t) => {
  const { responder, chain } = await openAuthority(t);
  const [, middle] = chain;
  const bad = "INVALID BAD_CERTIFICATE";
  const image = async (reason: RegExp, by: Chain = chain, expected = bad): Promise<void> => {
    const made = await signed(by);
    const { worth, reason: said } = await made.worth();
    assert.equal(worth, expected, said);
    assert.match(said, reason);
    assert.equal((await made.repo.pull("v1")).status, 403);
  };
  const failing = (why: string): RegExp =>
    new RegExp(
      `not known whether the certificate of CN=release.* is revoked: asking its authority fails since 20.*${why}`,
    );
  /** A certificate of which this is said. */
  const of = (says: Answering): Chain => {
    const own = certify({ extensions: [askAt(`${responder.url}/ocsp`)] }, middle);
    responder.says(own, middle, says);
    return [own, middle, chain[2]];
  };
  await image(/its authority answers that it does not know it/, of({ state: "unknown" }));
  await image(failing(String.raw`try again later \(tryLater\)`), of({ status: 3 }));
  await image(failing("counted until"), of({ untilMs: Date.now() - HOUR_MS }));
  await image(
    failing("which is later"),
    of({ fromMs: platform.clock.nowMs() + DAY_MS, untilMs: Date.now() + 9 * DAY_MS }),
  );
  await image(failing("not signed by who"), of({ signer: certify({ isAuthority: true }), claimed: middle }));
  await image(failing("not one for answering"), of({ signer: certify({}, middle) }));
  await image(
    failing("the answer is a redirect"),
    of((response) => {
      response.writeHead(302, { location: "http://169.254.169.254/latest/meta-data" }).end();
    }),
  );
  await image(
    failing("the answer is too large"),
    of((response) => {
      response.writeHead(200);
      const more = (): void => {
        while (!response.destroyed && response.write(Buffer.alloc(16_384, 0x30)));
      };
      response.on("drain", more).on("error", () => {});
      more();
    }),
  );
  await image(
    failing("status 500 of HTTP"),
    of((response) => response.writeHead(500).end()),
  );
  const names = (...extensions: Buffer[]): Chain => [certify({ extensions }, middle), middle, chain[2]];
  await image(/it names neither a responder of OCSP nor a list/, names());
  await image(failing("it refuses connections"), names(askAt("http://127.0.0.1:9/")));
  // One to whom the authority has left it.
  const own = certify({ extensions: [askAt(responder.url)] }, middle);
  responder.says(own, middle, { signer: certify({ purposes: [OCSP_SIGNING], extensions: [NO_CHECK] }, middle) });
  const delegated = await signed([own, middle, chain[2]]);
  assert.equal((await delegated.worth()).worth, "TRUSTED");
  assert.equal((await delegated.repo.pull("v1")).status, 200);
});

test("a pull before the authority was asked is to come again, and is answered once it was", async (t) => {
  const { responder, chain } = await openAuthority(t);
  const [, middle, root] = chain;
  const leaf = certify({ extensions: [askAt(responder.url)] }, middle);
  responder.says(leaf, middle);
  // As if it was to be asked about later: nothing is known of it.
  const id = { certificate: fingerprintOf(leaf), issuer: fingerprintOf(middle) };
  const ders = { certificate_der: leaf.der.toString("base64"), issuer_der: middle.der.toString("base64") };
  const none = { from_time: null, until_time: null, since_time: null, revoke_time: null, failed_time: null };
  const check = { check_time: null, check_subject: "", check_manifest: "" };
  const state = { state: 0, message: "", attempts: 0, next_time: platform.clock.nowMs() + 900 * DAY_MS };
  await platform.transact((tx) =>
    tx
      .insertInto("certificate_statuses")
      .values({ ...id, ...ders, name: "", host: "", ...state, ...none, ...check })
      .execute(),
  );
  const repo = await openSignedRepo(platform);
  const signer = await newX509Signer(platform, repo.group, { roots: [root.pem], ...ONLINE });
  await newPolicy(platform, repo.group, { rules: [{ signers: [signer] }] });
  const digest = await repo.push("v1");
  await signByNotation(repo, digest, [leaf, middle, root]);
  await eventually(async () => {
    const [signature] = (await listSignatures(platform, repo, digest)).signatures;
    return short(signature) === "WAITING NOT_READ" && /was not asked so far/.test(signature?.reason ?? "");
  });
  const early = await repo.pull("v1");
  assert.equal(early.status, 503, early.text);
  assert.notEqual(early.headers["retry-after"], undefined);
  await platform.transact((tx) =>
    tx
      .updateTable("certificate_statuses")
      .set({ next_time: 0 })
      .where((where) => where.and(id))
      .execute(),
  );
  platform.wake(["certificate-statuses"]);
  await verifiedSignatures(platform, repo, digest);
  assert.equal((await repo.pull("v1")).status, 200);
});

test("a certificate without a responder is looked up in the list that it names", async (t) => {
  const { responder, chain } = await openAuthority(t);
  const [, middle, root] = chain;
  const leaf = certify({ extensions: [listAt(`${responder.url}/middle.crl`)] }, middle);
  const nowMs = (): number => platform.clock.nowMs();
  const publish = (revoked: readonly Revoked[] = [], by = middle): void =>
    responder.lists("/middle.crl", revocationList(by, revoked, { untilMs: nowMs() + 4 * HOUR_MS }));
  publish();
  const tsaRoot = certify({ isAuthority: true });
  const tsa = certify({ purposes: [TIME_STAMPING], isForCritical: true }, tsaRoot);
  const stamp = (signature: Buffer): Buffer => stampToken(tsa, [], signature, Date.now() - 2 * HOUR_MS);
  const image = await signed([leaf, middle, root]);
  const stamped = await signed([leaf, middle, root], { tsaRoots: [tsaRoot.pem] }, { stamp });
  await becomes(image, "TRUSTED");
  await becomes(stamped, "TRUSTED");
  assert.ok(responder.asked.includes("GET /middle.crl"));
  // By the key of somebody else: what is kept goes on counting.
  publish([], { ...middle, key: root.key });
  await pass(2 * HOUR_MS + 60_000);
  await becomes(image, "TRUSTED", /asking again fails since .*: the list is not signed by the authority$/);
  // What was signed before somebody else may have had the key counts, where a trusted time shows that.
  publish([[leaf, Date.now() - HOUR_MS]]);
  await pass(2 * HOUR_MS);
  await becomes(image, "REVOKED REVOKED", /its authority says/);
  await becomes(stamped, "TRUSTED", /is revoked, and it was signed before$/);
});

test("a signer that asks nobody any longer depends on no answer, and what nothing depends on is removed", async (t) => {
  const { responder, chain } = await openAuthority(t);
  responder.says(chain[0], chain[1], { state: "revoked" });
  const image = await signed(chain);
  await becomes(image, "REVOKED REVOKED", /its authority says/);
  responder.says(chain[0], chain[1]);
  await pass(2 * HOUR_MS);
  await becomes(image, "TRUSTED");
  const x509 = { roots: [chain[2].pem], identities: ["*"] };
  await platform.ok("PATCH", `/registry/v2/signers/${image.signer}?updateMask=x509`, { x509 });
  await becomes(image, "TRUSTED", /^$/);
  const uses = platform.reader.selectFrom("certificate_status_uses").selectAll().where("subject", "=", image.digest);
  await eventually(async () => (await uses.execute()).length === 0);
  // The hourly job removes them.
  const rest = platform.reader
    .selectFrom("certificate_statuses")
    .select("name")
    .where("certificate", "=", fingerprintOf(chain[0]));
  assert.equal((await rest.execute()).length, 1);
  await platform.transact(async (tx) => {
    const call = { tx, nowMs: platform.clock.nowMs() } as Call;
    assert.ok((await removeUnusedCertificateStatuses.run(call, { after: ["", ""] }, {})).removed > 0);
  });
  assert.equal((await rest.execute()).length, 0);
});
