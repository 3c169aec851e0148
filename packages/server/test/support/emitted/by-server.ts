import assert from "node:assert/strict";
import { test } from "node:test";
import { collectInstallation } from "../../../src/admin/index.ts";
import { loadConfig } from "../../../src/index.ts";
import { tarOf } from "../catalog/archives.ts";
import { npmFile } from "../catalog/catalog.ts";
import { pushLayers } from "../catalog/push.ts";
import { databaseEnv, openTestStore } from "../database.ts";
import { eventually } from "../eventually.ts";
import { osvOf, putRecords } from "../feed-records.ts";
import { digestOf, OCI_IMAGE, startInstallation } from "../installation.ts";
import { before } from "../matching.ts";
import { startPair } from "../mirror.ts";
import { startAdapter } from "../scanner-adapter.ts";
import { type EventFixture, SYSTEM, TAG, type EmittedEvent } from "./events.ts";

/** Tests that the server emits events for its own jobs. */
export function serverEmits({ emittedIn }: EventFixture): void {
  test("retention and garbage collection emit events", async (t) => {
    const installation = await startInstallation(t);
    const { uid: group } = installation.bootstrap.organization;
    const image = `${installation.bootstrap.organization.name}/app`;
    const old = await installation.pushImage(image, "old", "one");
    const [repo] = (await installation.api("GET", "/registry/v2/repos?name=app")).repos;
    const uid = repo?.uid ?? "";
    await installation.api("PATCH", `/registry/v2/repos/${uid}?update_mask=tag_policy`, {
      tagPolicy: { retention: [{ tagPattern: ".*", keepLast: 1 }] },
    });
    await installation.pushImage(image, "new", "two");
    const config = {
      mediaType: "application/vnd.oci.image.config.v1+json",
      digest: await installation.pushBlob(image, "{}"),
      size: 2,
    };
    const untagged = { schemaVersion: 2, mediaType: OCI_IMAGE, config, layers: [] };
    assert.equal((await installation.pushManifest(image, digestOf(JSON.stringify(untagged)), untagged)).status, 201);
    await installation.close();
    const settings = loadConfig({
      MOORAGE_DATA_DIR: installation.dataDir,
      ...(await databaseEnv(installation.dataDir)),
    });
    const events = await emittedIn(installation, () => collectInstallation(settings, { dryRun: false, graceMs: 0 }));
    const [tag, manifests, blobs] = events as [EmittedEvent, EmittedEvent, EmittedEvent];
    assert.deepEqual([events.length, tag.type, tag.group, tag.actor], [3, `${TAG}.deleted.v1`, group, SYSTEM]);
    assert.deepEqual([tag.body["name"], tag.body["digest"], tag.body["reason"]], ["old", old.digest, "retention"]);
    const collected = { type: "registry.collect.v1", subject: uid, group, target: "", actor: SYSTEM };
    const gone = [
      [manifests, digestOf(JSON.stringify(untagged)), "manifest"],
      [blobs, digestOf("{}"), "blob"],
    ] as const;
    for (const [
      {
        body: { when, ...body },
        ...event
      },
      digest,
      type,
    ] of gone) {
      assert.ok(Date.parse(String(when)) > 0);
      assert.deepEqual([event, body], [collected, { repository: image, repo_id: uid, digests: [digest], type }]);
    }
  });

  test("findings of an image that are opened and closed emit events", async (t) => {
    const installation = await startInstallation(t, { MOORAGE_CATALOG_IMAGES: "1" });
    const { url, registry, dataDir, bootstrap } = installation;
    const { uid: group, name } = bootstrap.organization;
    const target = { url, token: registry, name: `${name}/app` };
    const { store, close } = await openTestStore(dataDir);
    let digest = "";
    // The server emits them a little later.
    const until = async (count: number): Promise<void> => {
      const ours = async (): Promise<number> => {
        const rows = await store.transact(async (tx) => [
          ...(await tx.selectFrom("events").select("type").execute()),
          ...(await tx.selectFrom("event_outbox").select("type").execute()),
        ]);
        return rows.filter(({ type }) => type.startsWith("vulnerabilities.")).length;
      };
      await eventually(async () => (await ours()) >= count);
    };
    try {
      const all = await emittedIn(installation, async () => {
        const record = osvOf("OSV-1", { aliases: ["CVE-2026-1"], ...before("lodash", "5.0.0") });
        await putRecords(store, "osv", "osv", [record]);
        digest = await pushLayers(target, "v1", [tarOf([npmFile("app", "lodash", "4.17.20")])]);
        await until(1);
        await putRecords(store, "osv", "osv", [], ["OSV-1"]);
        await until(2);
      });
      const events = all.filter(({ type }) => type.startsWith("vulnerabilities."));
      const [repo] = (await installation.api("GET", "/registry/v2/repos?name=app")).repos;
      const body = { repository: `${name}/app`, repo_id: repo?.uid, digest, tags: ["v1"], findings: 1 };
      for (const [at, type] of ["opened", "closed"].entries()) {
        const { body: said, ...event } = events[at] as EmittedEvent;
        const place = { subject: repo?.uid, group, target: "", actor: SYSTEM };
        assert.deepEqual(event, { type: `vulnerabilities.finding.${type}.v1`, ...place });
        const { repository, repo_id, digest: image, tags, findings } = said;
        assert.deepEqual({ repository, repo_id, digest: image, tags, findings }, body);
      }
    } finally {
      await close();
    }
  });
  test("scans emit events when they end", async (t) => {
    const installation = await startInstallation(t, { MOORAGE_ALLOW_PRIVATE_NETWORK: "1" });
    const { uid: group, name } = installation.bootstrap.organization;
    const adapter = await startAdapter();
    t.after(() => adapter.close());
    const place = { url: installation.url, token: installation.registry, name: `${name}/scanned` };
    const digest = await pushLayers(place, "v1", [tarOf([npmFile("srv", "left-pad", "1.3.0")])]);
    const [repo] = (await installation.api("GET", "/registry/v2/repos?name=scanned")).repos;
    const repoId = repo?.uid ?? "";
    const made = await installation.api("POST", `/vulnerabilities/v2/scanners/${group}`, {
      name: "trivy",
      url: adapter.url,
    });
    let scan = "";
    /** The event of a scan from its request to its end. */
    const eventOf = async (state: string): Promise<EmittedEvent | undefined> =>
      (
        await emittedIn(installation, async () => {
          const path = `/vulnerabilities/v2/repos/${repoId}:scan`;
          const { scans } = await installation.api<{ scans: { uid: string }[] }>("POST", path, { digest });
          scan = scans[0]?.uid ?? "";
          await eventually(async () => {
            const now = await installation.api<{ state: string }>("GET", `/vulnerabilities/v2/scans/${scan}`);
            return now.state === `SCAN_STATE_${state}`;
          });
        })
      ).at(-1);
    const completed = await eventOf("DONE");
    const about = { scan, scanner: made.uid, scanner_name: "trivy", repository: place.name, repo_id: repoId, digest };
    const none = { critical: 0, high: 0, medium: 0, low: 0, negligible: 0, unknown: 0 };
    const event = { subject: repoId, group, target: "", actor: SYSTEM };
    const body = { ...about, reason: "", ...none, critical: 1 };
    assert.deepEqual(completed, { ...event, type: "vulnerabilities.scan.completed.v1", body });
    adapter.intercept = (_, res) => Boolean(res.writeHead(403).end()) || true;
    const failed = await eventOf("FAILED");
    const reason = "the adapter answered 403 where it was asked for its metadata";
    assert.deepEqual(failed, { ...event, type: "vulnerabilities.scan.failed.v1", body: { ...about, ...none, reason } });
  });

  test("mirroring emits events", async (t) => {
    const { upstream, here, configOf, mirror, copied } = await startPair(t);
    const { digest, layer, config } = await upstream.pushImage("acme/app", "v1", "one");
    const events = await emittedIn(here, async () =>
      assert.equal((await copied(await mirror("copy", configOf("app")))).state, "SYNC_STATE_SUCCEEDED"),
    );
    const { organization } = here.bootstrap;
    const [made, ...copies] = events;
    assert.equal(made?.type, "api.platform.registry.repo.created.v1");
    for (const { group, actor } of copies) assert.deepEqual([group, actor], [organization.uid, SYSTEM]);
    const [manifest, tag] = copies
      .slice(-2)
      .map(({ type, body }) => [type, body["repository"], body["digest"], body["type"] ?? body["reason"]]);
    assert.deepEqual(manifest, ["registry.push.v1", "acme/copy", digest, "manifest"]);
    assert.deepEqual(tag, [`${TAG}.created.v1`, undefined, digest, "mirror"]);
    // Blobs are copied in any order.
    const blobs = copies
      .slice(0, -2)
      .map(({ type, body }) => [type, body["repository"], body["digest"], body["type"]].join(" "));
    assert.deepEqual(blobs.sort(), [layer, config].map((blob) => `registry.push.v1 acme/copy ${blob} blob`).sort());
  });

  test("a turn of a mirror emits an event when it fails, and when one succeeds again", async (t) => {
    const { upstream, front, here, configOf, mirror, copied } = await startPair(t);
    await upstream.pushImage("acme/app", "v1", "one");
    const uid = await mirror("copy", configOf("app"));
    await copied(uid);
    await upstream.pushImage("acme/app", "v2", "two");
    front.intercept = (req, res) => req.url?.endsWith("/manifests/v2") === true && Boolean(res.writeHead(403).end());
    const turn = async (): Promise<EmittedEvent | undefined> =>
      (await emittedIn(here, () => copied(uid))).find(({ type }) => type.startsWith("registry.mirror."));
    const failed = await turn();
    const reason = "the source does not let us pull (403)";
    const { when, ...body } = failed?.body ?? {};
    assert.match(String(when), /^\d{4}-\d\d-\d\dT/);
    assert.deepEqual(
      { ...failed, body },
      {
        type: "registry.mirror.failed.v1",
        subject: uid,
        group: here.bootstrap.organization.uid,
        target: "",
        actor: SYSTEM,
        body: {
          repository: "acme/copy",
          repo_id: uid,
          message: `1 tag could not be copied: v2 (${reason})`,
          rate_limited: false,
          tags: 2,
          failed: 1,
          failed_tags: [{ tag: "v2", failure: "refused", reason }],
          failures: 1,
        },
      },
    );
    front.intercept = () => false;
    const recovered = await turn();
    assert.deepEqual(
      [recovered?.type, recovered?.body["failed"], recovered?.body["failures"]],
      ["registry.mirror.recovered.v1", 0, 1],
    );
    assert.equal(await turn(), undefined, "a turn that succeeds as the one before does is not worth an event");
  });
}
