import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { exportInstallation, importInstallation, loadConfig } from "../../src/index.ts";
import { SILENT } from "../../src/admin/progress.ts";
import { pushArtifact } from "../support/catalog/push.ts";
import { databaseEnv, dropDatabase } from "../support/database.ts";
import { eventually } from "../support/eventually.ts";
import { type Installation, startInstallation, temporaryFolder } from "../support/installation.ts";
import { certify, fingerprintOf, newChain, revocationList } from "../support/notation-certificates.ts";
import { COSIGN_SIGN, inToto, pushReferrer } from "../support/signing.ts";
import { openSigstore } from "../support/keyless-signing.ts";
import { LOOPBACK } from "../support/mirror.ts";
import { openTufRepository } from "../support/tuf-repository.ts";
import { signByNotation } from "../support/notation-repo.ts";

// Signers, policies and verdicts belong to the installation: what was trusted before is trusted after an import.
const OPENVEX = "application/openvex+json";

async function place(t: TestContext) {
  const dataDir = temporaryFolder(t);
  const env = { MOORAGE_CATALOG_IMAGES: "1", ...(await databaseEnv(dataDir)) };
  t.after(() => dropDatabase(dataDir));
  return { dataDir, env, config: loadConfig({ MOORAGE_DATA_DIR: dataDir, ...env }) };
}

const vex = (id: string): string =>
  JSON.stringify({
    "@context": "https://openvex.dev/ns/v0.2.0",
    "@id": `https://acme.example/vex/${id}`,
    author: "security",
    timestamp: "2026-11-01T08:00:00Z",
    version: 1,
    statements: [
      {
        vulnerability: { name: "CVE-2026-1" },
        products: [{ "@id": "pkg:npm/bad@1.0.0" }],
        status: "under_investigation",
      },
    ],
  });

interface Attachment {
  manifest: string;
  state: string;
}

/** A repo of the server to push to, and what the API says of its images. */
async function openRepo(server: Installation, name: string) {
  const { repos } = await server.api(
    "GET",
    `/registry/v2/repos?uidp.descendantsOf=${server.bootstrap.organization.uid}`,
  );
  const repo = repos.find((each) => name.endsWith(`/${each.name}`))?.uid ?? "";
  const about = (digest: string, what: string): string => `/registry/v2/repos/${repo}/digests/${digest}/${what}`;
  return {
    place: { url: server.url, repo, name, token: server.registry },
    decision: (digest: string) => server.api<object>("GET", about(digest, "signatureDecision")),
    signatures: async (digest: string) =>
      await server.api<{ pending: boolean; signatures: { state: string; verdicts: object[] }[] }>(
        "GET",
        about(digest, "signatures"),
      ),
    attachments: async (digest: string) =>
      await server.api<{ attachments: Attachment[]; unsignedDocuments: number }>("GET", about(digest, "attachments")),
    /** Once the signatures of an image are verified. */
    async trusted(digest: string): Promise<void> {
      await eventually(async () => {
        const { pending, signatures } = await this.signatures(digest);
        return (
          !pending && signatures.length > 0 && signatures.every(({ state }) => state === "SIGNATURE_STATE_TRUSTED")
        );
      });
    },
  };
}

test(
  "signers with certificates, policies with signers of documents, exemptions and verdicts are exported and imported",
  { timeout: 300_000 },
  async (t) => {
    const [here, there] = [await place(t), await place(t)];
    const first = await startInstallation(t, here.env, here.dataDir);
    const organization = first.bootstrap.organization.uid;
    const { identity: viewer } = await first.addIdentity(organization, "reader", "viewer");
    const images = await Promise.all(
      ["signed", "unsigned", "exempt"].map((tag) => first.pushImage("acme/app", tag, tag)),
    );
    const [signed = "", unsigned = "", exempt = ""] = images.map(({ digest }) => digest);
    const repo = await openRepo(first, "acme/app");

    const chain = newChain();
    const [leaf, middle, root] = chain;
    const x509 = {
      roots: [root.pem],
      scheme: "SIGNER_SCHEME_X509",
      tsaRoots: [certify({ isAuthority: true }).pem],
      identities: ["x509.subject: C=US, ST=WA, O=acme"],
      crls: [revocationList(middle), revocationList(root)],
      revokedFingerprints: [fingerprintOf(newChain()[0])],
      revocation: "SIGNER_REVOCATION_CRL",
    };
    const times = ["SIGNATURE_TIME_TIMESTAMP", "SIGNATURE_TIME_REGISTRY"];
    const { uid: signer } = await first.api("POST", `/registry/v2/signers/${organization}`, {
      name: "release",
      x509,
      times,
    });
    const policyOf = async (fields: object) =>
      (
        await first.api("POST", `/registry/v2/signaturePolicies/${organization}`, {
          mode: "GATE_MODE_ENFORCE",
          ...fields,
        })
      ).uid;
    const imagePolicy = await policyOf({
      name: "images",
      on: ["SIGNATURE_ACTION_PULL"],
      rules: [{ name: "image", signers: [signer], annotations: { env: "prod" } }],
    });
    const documentPolicy = await policyOf({ name: "documents", documentSigners: [signer] });
    const { uid: exemption } = await first.api("POST", `/registry/v2/signatureExemptions/${imagePolicy}`, {
      repo: repo.place.repo,
      digest: exempt,
      reason: "signed next week",
      expireTime: new Date(Date.now() + 86_400_000).toISOString(),
    });
    await signByNotation(repo.place, signed, chain, { annotations: { env: "prod" } });
    await repo.trusted(signed);
    const documents: string[] = [];
    for (const id of ["counted", "left-out"])
      documents.push(
        await pushArtifact(repo.place, {
          artifactType: OPENVEX,
          subject: signed,
          layers: [{ mediaType: OPENVEX, content: vex(id) }],
        }),
      );
    const [counted = "", leftOut = ""] = documents;
    await signByNotation(repo.place, counted, chain);
    await eventually(async () => {
      const { attachments, unsignedDocuments } = await repo.attachments(signed);
      return (
        unsignedDocuments === 1 &&
        attachments.some(({ manifest, state }) => manifest === counted && state === "STATE_READ")
      );
    });
    /** What whoever may only pull is answered with, by tag. */
    const pulls = async (server: Installation): Promise<number[]> => {
      const token = await server.tokenFor("registry", viewer);
      const answers = ["signed", "unsigned", "exempt"].map((tag) =>
        server.ask("GET", `/v2/acme/app/manifests/${tag}`, { token }),
      );
      return (await Promise.all(answers)).map(({ status }) => status);
    };
    assert.deepEqual(await pulls(first), [200, 403, 200]);
    const paths = [
      `/registry/v2/signers/${signer}`,
      ...[imagePolicy, documentPolicy].map((uid) => `/registry/v2/signaturePolicies/${uid}`),
      `/registry/v2/signatureExemptions/${exemption}`,
    ];
    const resources = (server: Installation) => Promise.all(paths.map((path) => server.api<object>("GET", path)));
    const said = async ({ signatures, decision, attachments }: typeof repo): Promise<unknown[]> => [
      ...(await Promise.all([signed, counted].map(signatures))),
      ...(await Promise.all([signed, unsigned, exempt].map(decision))),
      await attachments(signed),
    ];
    const before = [await resources(first), await said(repo)];
    const [kept] = before[0] as [{ x509: typeof x509; times: string[] }];
    assert.deepEqual([kept.x509, kept.times], [x509, times]);
    await first.close();

    const out = temporaryFolder(t);
    await exportInstallation(here.config, out, SILENT);
    await importInstallation(there.config, out, SILENT);
    const second = await startInstallation(t, there.env, there.dataDir);
    const moved = await openRepo(second, "acme/app");
    assert.deepEqual([await resources(second), await said(moved)], before);
    assert.deepEqual(await pulls(second), [200, 403, 200]);
    // The policies still say which signers they name, and judge what comes.
    const deleted = await second.ask("DELETE", `/registry/v2/signers/${signer}`, { token: second.platform });
    assert.match(deleted.text, /RESOURCE_IN_USE/);
    await signByNotation(moved.place, unsigned, chain, { annotations: { env: "prod" } });
    await moved.trusted(unsigned);
    assert.deepEqual(await pulls(second), [200, 200, 200]);
    await signByNotation(moved.place, leftOut, chain);
    await eventually(async () => (await moved.attachments(signed)).unsignedDocuments === 0);
    const revoked = { x509: { ...x509, revokedFingerprints: [fingerprintOf(leaf)] } };
    await second.api("PATCH", `/registry/v2/signers/${signer}?updateMask=x509`, revoked);
    await eventually(async () => (await pulls(second)).join() === "403,403,200");
    await eventually(async () => (await moved.attachments(signed)).unsignedDocuments === 2);
  },
);

test("trust roots, and what was fetched for them, are exported and imported", { timeout: 300_000 }, async (t) => {
  const [here, there] = [await place(t), await place(t)];
  const first = await startInstallation(t, { ...here.env, ...LOOPBACK }, here.dataDir);
  const organization = first.bootstrap.organization.uid;
  const [sigstore, mirror] = [await openSigstore(), await openTufRepository()];
  t.after(() => mirror.close());
  const root = mirror.publishRoot();
  mirror.publish({ target: sigstore.root });
  const { uid } = await first.api("POST", `/registry/v2/trustRoots/${organization}`, {
    name: "sigstore",
    tuf: { url: mirror.url, root },
  });
  const rootOf = (server: Installation) =>
    server.api<{ state: string; refreshTime: string }>("GET", `/registry/v2/trustRoots/${uid}`);
  await eventually(async () => (await rootOf(first)).state === "TRUST_ROOT_STATE_READY");
  const job = { subject: "https://ci.example.com/acme/app", issuer: "https://ci.example.com" };
  await first.api("POST", `/registry/v2/signers/${organization}`, {
    name: "release",
    keyless: { ...job, trustRoot: uid },
  });
  const images = await Promise.all(["one", "two"].map((tag) => first.pushImage("acme/app", tag, tag)));
  const [one = "", two = ""] = images.map(({ digest }) => digest);
  const signed = async (server: Installation, digest: string): Promise<void> => {
    const repo = await openRepo(server, "acme/app");
    await pushReferrer(repo.place, digest, await sigstore.bundle(job, inToto(digest, COSIGN_SIGN)));
    await repo.trusted(digest);
  };
  await signed(first, one);
  const before = await rootOf(first);
  await first.close();
  await mirror.close();

  const out = temporaryFolder(t);
  await exportInstallation(here.config, out, SILENT);
  await importInstallation(there.config, out, SILENT);
  const second = await startInstallation(t, { ...there.env, ...LOOPBACK }, there.dataDir);
  assert.deepEqual(await rootOf(second), before);
  // Without the mirror, by what came along.
  await signed(second, two);
});
