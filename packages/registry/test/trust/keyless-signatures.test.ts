// Signatures of identities: certificates of Fulcio, with an entry of a log or a time stamp, by a trusted root in a
// file.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { newRepoPlace, type Place } from "../../../server/test/support/catalog/place.ts";
import { pushLayers } from "../../../server/test/support/catalog/push.ts";
import { type Job, openSigstore, type Sigstore } from "../../../server/test/support/keyless-signing.ts";
import { type Platform, startPlatform } from "../../../server/test/support/platform.ts";
import {
  COSIGN_SIGN,
  cosignPayload,
  inToto,
  newKey,
  pushCosign,
  pushReferrer,
  short,
  SIMPLE_SIGNING,
  verifiedSignatures,
} from "../../../server/test/support/signing.ts";

const ISSUER = "https://token.actions.example.com";
const WORKFLOW = "https://github.example.com/acme/app/.github/workflows/release.yml@refs/tags/v1";
const JOB: Job = {
  subject: WORKFLOW,
  issuer: ISSUER,
  // source_repository_uri and source_repository_ref.
  extensions: { 12: "https://github.example.com/acme/app", 14: "refs/tags/v1" },
};

let platform: Platform;
let token = "";
let sigstore: Sigstore;
let folder = "";

before(async () => {
  folder = mkdtempSync(join(tmpdir(), "moorage-root-"));
  sigstore = await openSigstore();
  const file = join(folder, "root.json");
  writeFileSync(file, sigstore.root);
  platform = await startPlatform({ MOORAGE_SIGSTORE_ROOT: file });
  token = await platform.token(platform.owner, { audience: new URL(platform.url).host });
  await signer("release", {
    issuer: ISSUER,
    subjectPattern: "https://github\\.example\\.com/acme/app/\\.github/workflows/release\\.yml@refs/tags/.*",
    extensions: {
      source_repository_uri: "https://github\\.example\\.com/acme/app",
      source_repository_ref: "refs/tags/.*",
    },
  });
});
after(async () => {
  await platform.close();
  rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
});

async function signer(name: string, keyless: object, fields: object = {}): Promise<void> {
  await platform.ok("POST", `/registry/v2/signers/${platform.organization}`, { name, keyless, ...fields });
}

let images = 0;
async function image(): Promise<{ place: Place; digest: string }> {
  const place = await newRepoPlace(platform, token);
  return { place, digest: await pushLayers(place, "v1", [Buffer.from(`layer ${(images += 1)}`)]) };
}

/** What the signer says of each of these bundles about one image. */
async function worthOf(bundles: (digest: string) => Promise<string>[], name = "release"): Promise<string[]> {
  const { place, digest } = await image();
  const pushed: string[] = [];
  for (const bundle of await Promise.all(bundles(digest))) pushed.push(await pushReferrer(place, digest, bundle));
  const found = await verifiedSignatures(platform, place, digest, pushed.length);
  return pushed.map((manifest) => {
    const signature = found.find((each) => each.manifest === manifest);
    return short(signature?.verdicts.find((each) => each.signerName === name));
  });
}

test("a job's signature is trusted by its issuer, identity and repository, with who and when", async () => {
  const { place, digest } = await image();
  await pushReferrer(place, digest, await sigstore.bundle(JOB, inToto(digest, COSIGN_SIGN)));
  const [signature] = await verifiedSignatures(platform, place, digest);
  assert.equal(short(signature), "TRUSTED", JSON.stringify(signature));
  assert.deepEqual(
    [signature?.identity, signature?.timeSource, signature?.predicateType],
    [`${WORKFLOW} (${ISSUER})`, "SIGNATURE_TIME_LOG", ""],
  );
  assert.ok(Math.abs(Date.parse(signature?.signedTime ?? "") - Date.now()) < 3_600_000);
});

test("cosign 2 keeps the same in annotations", async () => {
  const { place, digest } = await image();
  const payload = cosignPayload(digest);
  const annotations = await sigstore.cosignAnnotations(JOB, payload);
  const other = cosignPayload(`sha256:${"0".repeat(64)}`);
  await pushCosign(place, digest, [
    { mediaType: SIMPLE_SIGNING, content: payload, annotations },
    // The log's entry of another signature.
    {
      mediaType: SIMPLE_SIGNING,
      content: payload,
      annotations: {
        ...(await sigstore.cosignAnnotations(JOB, payload)),
        "dev.sigstore.cosign/bundle":
          (await sigstore.cosignAnnotations(JOB, other))["dev.sigstore.cosign/bundle"] ?? "",
      },
    },
    { mediaType: SIMPLE_SIGNING, content: payload, annotations: { ...annotations, "dev.sigstore.cosign/bundle": "" } },
    {
      mediaType: SIMPLE_SIGNING,
      content: payload,
      annotations: { ...annotations, "dev.sigstore.cosign/certificate": "x" },
    },
  ]);
  const found = await verifiedSignatures(platform, place, digest, 4);
  assert.deepEqual(found.map(short), ["TRUSTED", "INVALID NOT_LOGGED", "EXPIRED EXPIRED", "INVALID BAD_CERTIFICATE"]);
});

test("another issuer, identity or repository is another signer: patterns match the whole, and literally", async () => {
  const worth = await worthOf((digest) => {
    const payload = inToto(digest, COSIGN_SIGN);
    return [
      sigstore.bundle({ ...JOB, issuer: "https://token.actions.example.com.evil.example" }, payload),
      sigstore.bundle({ ...JOB, subject: `${WORKFLOW.replace("acme/app", "acme/apps")}` }, payload),
      sigstore.bundle({ ...JOB, subject: `https://evil.example/?${WORKFLOW}` }, payload),
      sigstore.bundle({ ...JOB, subject: WORKFLOW.replace("release.yml", "releaseXyml") }, payload),
      sigstore.bundle(
        { ...JOB, extensions: { 12: "https://github.example.com/acme/app.evil", 14: "refs/tags/v1" } },
        payload,
      ),
      sigstore.bundle(
        { ...JOB, extensions: { 12: "https://github.example.com/acme/app", 14: "refs/heads/main" } },
        payload,
      ),
      sigstore.bundle({ subject: WORKFLOW, issuer: ISSUER }, payload),
    ];
  });
  assert.deepEqual(worth, Array<string>(7).fill("UNTRUSTED OTHER_SIGNER"));
});

test("who only claims to be the job is found out: other authorities, other logs, no log, no time", async () => {
  const other = await openSigstore();
  const worth = await worthOf((digest) => {
    const payload = inToto(digest, COSIGN_SIGN);
    return [
      other.bundle(JOB, payload),
      sigstore.bundle(JOB, payload, { withLog: false, withTimestamp: true }),
      sigstore.bundle(JOB, payload, { withLog: false }),
      // As Rekor 2 has it: in the log, which says no time.
      sigstore.bundle(JOB, payload, { withPromise: false }),
      sigstore.bundle(JOB, payload, { withPromise: false, withTimestamp: true }),
      sigstore.bundle(JOB, payload, { loggedKey: newKey().pem }),
    ];
  });
  assert.deepEqual(worth, [
    "INVALID BAD_CERTIFICATE",
    "INVALID NOT_LOGGED",
    "EXPIRED EXPIRED",
    "EXPIRED EXPIRED",
    "TRUSTED",
    "INVALID NOT_LOGGED",
  ]);
});

test("an entry of another bundle is not this one's, and a certificate of then does not hold at another time", async () => {
  const worth = await worthOf((digest) => {
    const payload = inToto(digest, COSIGN_SIGN);
    const swapped = async (): Promise<string> => {
      const [one, two] = await Promise.all([sigstore.bundle(JOB, payload), sigstore.bundle(JOB, payload)]);
      const [first, second] = [one, two].map(
        (text) => JSON.parse(text) as { verificationMaterial: { tlogEntries: unknown[] } },
      );
      if (first === undefined || second === undefined) throw new Error("two were made");
      first.verificationMaterial.tlogEntries = second.verificationMaterial.tlogEntries;
      return JSON.stringify(first);
    };
    return [swapped(), sigstore.bundle(JOB, payload, { isLate: true })];
  });
  assert.deepEqual(worth, ["INVALID NOT_LOGGED", "INVALID BAD_CERTIFICATE"]);
});

test("only the times that a signer lets count do", async () => {
  const keyless = { issuer: ISSUER, subject: WORKFLOW };
  await signer("by time stamp", keyless, { times: ["SIGNATURE_TIME_TIMESTAMP"] });
  const bundles = (digest: string): Promise<string>[] => [
    sigstore.bundle(JOB, inToto(digest, COSIGN_SIGN)),
    sigstore.bundle(JOB, inToto(digest, COSIGN_SIGN), { withTimestamp: true }),
  ];
  assert.deepEqual(await worthOf(bundles, "by time stamp"), ["EXPIRED EXPIRED", "TRUSTED"]);
});

test("what would not be verified is rejected, with the reason", async () => {
  const rejected = async (body: object): Promise<string> => {
    const answer = await platform.call("POST", `/registry/v2/signers/${platform.organization}`, {
      token: await platform.token(),
      body: { name: "rejected", ...body },
    });
    assert.equal(answer.status, 400, answer.text);
    return answer.text;
  };
  const keyless = { issuer: ISSUER, subject: WORKFLOW };
  assert.match(
    await rejected({ keyless: { ...keyless, subjectPattern: "x" } }),
    /exactly one of subject and subjectPattern/,
  );
  assert.match(await rejected({ keyless: { issuer: ISSUER } }), /exactly one of subject and subjectPattern/);
  assert.match(await rejected({ keyless: { subject: WORKFLOW } }), /keyless\.issuer/);
  assert.match(await rejected({ keyless: { issuer: ISSUER, subjectPattern: "(" } }), /not a valid RE2/);
  assert.match(await rejected({ keyless: { issuer: ISSUER, subjectPattern: "a{900}b{900}c{900}" } }), /too complex/);
  assert.match(
    await rejected({ keyless: { ...keyless, extensions: { repository: "x" } } }),
    /there is no repository: use build_signer_uri/,
  );
  assert.match(await rejected({ keyless: { ...keyless, trustRoot: "x" } }), /there is no such trust root/);
  assert.match(await rejected({ keyless, keys: [{ pem: newKey().pem }] }), /exclude each other/);
  assert.match(await rejected({ keyless, times: ["SIGNATURE_TIME_REGISTRY"] }), /use LOG, TIMESTAMP/);
  assert.match(await rejected({ keyless, x509: { roots: ["x"] } }), /x509.*and keyless exclude each other/);
  assert.match(await rejected({}), /a signer has keys, or keyless, or x509/);
  assert.match(await rejected({ keys: [{ pem: newKey().pem }], requireLog: true }), /not verified for keys/);
  assert.match(await rejected({ keys: [{ pem: newKey().pem }], times: ["SIGNATURE_TIME_LOG"] }), /use REGISTRY/);
});
