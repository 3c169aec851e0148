// Several servers of one installation: what is signed at one and verified by another is pulled from any, and what is
// not trusted any longer from none.
import assert from "node:assert/strict";
import { test } from "node:test";
import { loadConfig, signToken } from "../../../server/src/index.ts";
import { pushIndex, pushLayers } from "../../../server/test/support/catalog/push.ts";
import { ENGINE } from "../../../server/test/support/database.ts";
import { eventually } from "../../../server/test/support/eventually.ts";
import { type Job, openSigstore } from "../../../server/test/support/keyless-signing.ts";
import { LOOPBACK } from "../../../server/test/support/mirror.ts";
import { startReplicas } from "../../../server/test/support/replicas.ts";
import {
  COSIGN_SIGN,
  envelopeBundle,
  inToto,
  newKey,
  pushReferrer,
  type SigningKey,
} from "../../../server/test/support/signing.ts";
import { openTufRepository } from "../../../server/test/support/tuf-repository.ts";

const JOB: Job = { subject: "https://ci.example.com/acme/app", issuer: "https://ci.example.com" };

test(
  "an index that is signed at one replica is pulled with its images from the others, until its key is revoked",
  { timeout: 400_000 },
  async (t) => {
    const mirror = await openTufRepository();
    t.after(() => mirror.close());
    const sigstore = await openSigstore();
    const root = mirror.publishRoot();
    mirror.publish({ target: sigstore.root });
    const house = await startReplicas(t, ENGINE === "postgres" ? 2 : 1, LOOPBACK);
    const organization = house.bootstrap.organization.uid;
    /** A server by its place; with one server always that. */
    const urlOf = (at: number): string => `http://127.0.0.1:${house.servers[at % house.servers.length]?.port}`;
    const ask = async (at: number, method: string, path: string, token: string, body?: object): Promise<Response> =>
      await fetch(`${urlOf(at)}${path}`, {
        method,
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(60_000),
      });
    const api = async (at: number, method: string, path: string, body?: object): Promise<Record<string, string>> => {
      const answer = await ask(at, method, path, house.platform, body);
      const text = await answer.text();
      assert.equal(answer.status, 200, text);
      return JSON.parse(text) as Record<string, string>;
    };
    const { uid: group = "" } = await api(0, "POST", `/iam/v2/groups/${organization}`, { name: "signed" });
    await api(0, "POST", `/registry/v2/repos/${group}`, { name: "app" });
    const { uid: viewer = "" } = await api(0, "POST", `/iam/v2/identities/${group}`, { name: "viewer" });
    const found = (await api(0, "GET", "/iam/v2/roles?name=viewer")) as unknown as { roles: { uid: string }[] };
    await api(0, "POST", `/iam/v2/roleBindings/${group}`, { identityUid: viewer, roleUid: found.roles[0]?.uid });
    const config = loadConfig(house.env);
    const { token: pulling } = await signToken({ config, audience: "registry", identity: viewer, ttlMs: 3_600_000 });
    const name = `${house.bootstrap.organization.name}/signed/app`;
    const pushTo = (at: number) => ({ url: urlOf(at), repo: "", name, token: house.registry });
    const pull = async (at: number, reference: string): Promise<number> => {
      const answer = await ask(at, "GET", `/v2/${name}/manifests/${reference}`, pulling);
      await answer.arrayBuffer();
      return answer.status;
    };
    const pulled = async (at: number, reference: string, status: number): Promise<void> =>
      void (await eventually(async () => (await pull(at, reference)) === status));

    const key = newKey();
    const keysOf = ({ privateKey: _private, ...own }: SigningKey): object => own;
    const { uid: release = "" } = await api(0, "POST", `/registry/v2/signers/${organization}`, {
      name: "release",
      keys: [keysOf(key)],
    });
    const { uid: trustRoot = "" } = await api(1, "POST", `/registry/v2/trustRoots/${organization}`, {
      name: "sigstore",
      tuf: { url: mirror.url, root },
    });
    // Before a server is killed: its jobs stay its own for minutes.
    await eventually(
      async () => (await api(0, "GET", `/registry/v2/trustRoots/${trustRoot}`))["state"] === "TRUST_ROOT_STATE_READY",
    );
    const { uid: ci = "" } = await api(0, "POST", `/registry/v2/signers/${organization}`, {
      name: "ci",
      keyless: { ...JOB, trustRoot },
    });
    await api(1, "POST", `/registry/v2/signaturePolicies/${group}`, {
      name: "signed",
      mode: "GATE_MODE_ENFORCE",
      on: ["SIGNATURE_ACTION_PULL"],
      rules: [{ name: "image", signers: [release, ci] }],
    });

    const image = await pushLayers(pushTo(0), "amd64", [Buffer.from("one")]);
    const index = await pushIndex(pushTo(1), "v1", [[image, { architecture: "amd64", os: "linux" }]]);
    for (const at of [0, 1]) for (const reference of ["v1", image]) await pulled(at, reference, 403);
    await pushReferrer(pushTo(0), index, envelopeBundle(key, inToto(index, COSIGN_SIGN)));
    // Whichever server has begun to verify it: another one does when that is gone.
    await house.replace(0);
    for (const at of [1, 0]) for (const reference of ["v1", index, image]) await pulled(at, reference, 200);
    // The one that did not answer the change does not go by what it has judged before.
    await api(0, "PATCH", `/registry/v2/signers/${release}?updateMask=keys`, {
      keys: [{ ...keysOf(key), revokeTime: "2020-01-01T00:00:00Z" }],
    });
    for (const at of [1, 0]) for (const reference of ["v1", image]) assert.notEqual(await pull(at, reference), 200);
    for (const at of [1, 0]) await pulled(at, image, 403);
    // By a trust root that one of them has fetched, for all.
    await pushReferrer(pushTo(1), index, await sigstore.bundle(JOB, inToto(index, COSIGN_SIGN)));
    for (const at of [0, 1]) for (const reference of ["v1", image]) await pulled(at, reference, 200);
    mirror.setDown(true);
    await api(0, "PATCH", `/registry/v2/trustRoots/${trustRoot}?updateMask=tuf`, {
      tuf: { url: `${mirror.url}/other`, root },
    });
    for (const at of [1, 0]) await pulled(at, image, 403);
  },
);
