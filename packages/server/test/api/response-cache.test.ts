import assert from "node:assert/strict";
import { test } from "node:test";
import { getOption } from "@bufbuild/protobuf";
import {
  DeliveriesService,
  DiffsService,
  EolTagsService,
  EventsService,
  ReposService,
  SubscriptionsService,
  TagsService,
  Transaction,
  transaction,
} from "@moorage/api";
import {
  claimDeliveries,
  eventsArea,
  expireEvents,
  keepPulls,
  notePulls,
  type BufferedPulls,
  recordOutcomes,
  releaseLeases,
  sequenceEvents,
} from "../../../platform/src/events/index.ts";
import { loadConfig, signToken } from "../../src/index.ts";
import { isCacheable } from "../../src/runtime/response-cache.ts";
import { createKeyCache } from "../../../kernel/src/store/index.ts";
import { temporaryFolder } from "../support/installation.ts";
import { ENGINE } from "../support/database.ts";
import { openEventQueue, outcome, PREFIX } from "../support/event-queue.ts";
import { startProcess } from "../support/processes.ts";
import { digestOf, OCI_IMAGE, startRegistry } from "../support/registry-server.ts";
import { systemCall } from "../../../kernel/src/core/system-call.ts";
import { takeLease } from "../../src/jobs/leases.ts";
import { eventually } from "../support/eventually.ts";

// Cached answers survive the commits of event delivery, which happen all the time, and no other commits. That any other
// change is visible to the next call is tested in oci/pull-cache.test.ts and response-cache-invalidation.test.ts.

const WORKERS = ENGINE === "sqlite" ? false : "workers share a data folder; of replicas engines/fresh-answers tests it";
const GROUP = "a".repeat(40);
const REPO = `${GROUP}/${"b".repeat(16)}`;
const PULL: BufferedPulls = {
  repository: "acme/app",
  repo: REPO,
  type: "manifest",
  method: "GET",
  actor: { identity: "", act: {} },
  remoteAddress: "192.0.2.1",
  userAgent: "client",
  contents: [{ tag: "v1", digest: `sha256:${"c".repeat(64)}`, timesMs: [1, 2] }],
};

test("the regular commits of event delivery keep cached answers; a change of a subscription drops them", async (t) => {
  const queue = await openEventQueue(t);
  const subscription = await queue.subscribe(GROUP);
  const cache = createKeyCache<string>(queue.reader, 10, { endsWithAny: true });
  /** Whether an answer that was cached before is still cached after the work, which is repeated. */
  const keeps = async (work: () => Promise<unknown>): Promise<boolean> => {
    cache.keep(await cache.snapshot(), "key", "answer");
    assert.equal(await cache.get("key"), "answer");
    await work();
    await new Promise((resolve) => setImmediate(resolve));
    return (await cache.get("key")) === "answer";
  };
  const claimed = async () => (await queue.claim(subscription, 10)) ?? [];
  const quiet: Record<string, () => Promise<unknown>> = {
    [keepPulls.name]: () => queue.write(keepPulls, 1, { pulls: JSON.stringify([PULL]) }),
    [notePulls.name]: () => queue.write(notePulls, 1, {}),
    [sequenceEvents.name]: () => queue.sequence(5),
    [claimDeliveries.name]: claimed,
    [recordOutcomes.name]: () => queue.record(subscription, 20, { outcomes: [], release: true }),
    [expireEvents.name]: () => queue.write(expireEvents, 1_000_000, { what: "events", beforeMs: 900_000 }),
    [releaseLeases.name]: () => queue.write(releaseLeases, 20, {}),
  };
  assert.deepEqual(
    Object.keys(quiet).sort(),
    (eventsArea.commands ?? []).map(({ name }) => name).sort(),
    "each command of the queue is tried here",
  );
  for (const [name, work] of Object.entries(quiet)) assert.equal(await keeps(work), true, name);
  assert.ok((await queue.rows(subscription)).length > 0, "something was delivered");

  await queue.fill(subscription, 2, 30);
  const [first, second] = await claimed();
  assert.ok(first && second);
  assert.equal(await keeps(() => queue.record(subscription, 40, { outcomes: [outcome(first)] })), true, "delivered");
  const gone = [outcome(second, { status: 410, error: "gone" })];
  assert.equal(
    await keeps(() => queue.record(subscription, 40, { outcomes: gone, disable: "gone" })),
    false,
    "disabled",
  );
  const lease = { work: "something", holder: "a", holdMs: 1_000 };
  assert.equal(await keeps(() => queue.write(takeLease, 1, lease)), false);
});

test("answers about events and what waits to be read are never cached, those of other reading methods are", () => {
  for (const { methods } of [SubscriptionsService, DeliveriesService, EventsService, DiffsService, EolTagsService]) {
    for (const method of methods) assert.equal(isCacheable(method), false, method.name);
  }
  for (const { methods } of [ReposService, TagsService]) {
    // What retention would delete depends on pulls.
    for (const method of methods.filter(({ name }) => name !== "PreviewTagRetention"))
      assert.equal(isCacheable(method), getOption(method, transaction) === Transaction.READ, method.name);
    assert.ok(methods.some(isCacheable));
  }
});

test(
  "a pull is answered from the cache again while the pulls themselves are written as events",
  { timeout: 300_000 },
  async (t) => {
    const registry = await startRegistry(t);
    const { deps, ownerToken: token, pulls } = registry;
    const image = await registry.image("acme/app", "one");
    assert.equal((await registry.pushManifest("acme/app", "v1", image.body)).status, 201);
    const target = "/v2/acme/app/manifests/v1";
    const pull = async (): Promise<string | null> =>
      (await registry.ask(target, { token })).headers.get("docker-content-digest");
    const kept = () => pulls.get(`${target} Bearer ${token}`, registry.clock.nowMs());
    const data = systemCall(1);
    assert.equal(await pull(), image.digest);
    const first = await kept();
    assert.notEqual(first, undefined);
    for (let round = 0; round < 3; round += 1) {
      assert.equal(await pull(), image.digest);
      // The recorder writes what it has within half a second.
      await eventually(async () => (await deps.transactor.write(notePulls, data, {})).count !== 0);
      assert.equal(
        (await deps.transactor.write(sequenceEvents, data, { limit: 500, typePrefix: PREFIX })).count > 0,
        true,
      );
      assert.equal(await kept(), first);
    }
    const next = await registry.image("acme/app", "two");
    assert.equal((await registry.pushManifest("acme/app", "v1", next.body)).status, 201);
    assert.equal(await kept(), undefined);
    assert.equal(await pull(), next.digest);
  },
);

test(
  "several processes on one database never answer with a tag's old digest, while events are written all the time",
  { skip: WORKERS },
  async (t) => {
    const dataDir = temporaryFolder(t);
    const env = { MOORAGE_DATA_DIR: dataDir, MOORAGE_LOG_LEVEL: "warn", MOORAGE_WORKERS: "2" };
    const { url, stop } = await startProcess(t, env);
    const { token } = await signToken({
      config: loadConfig({ ...env, MOORAGE_BASE_URL: url }),
      audience: "registry",
      ttlMs: 600_000,
    });
    const ask = async (method: string, path: string, body?: string): Promise<Response> => {
      const headers = {
        authorization: `Bearer ${token}`,
        connection: "close",
        ...(body !== undefined && { "content-type": OCI_IMAGE }),
      };
      const answer = await fetch(url + path, {
        method,
        headers,
        ...(body !== undefined && { body }),
        signal: AbortSignal.timeout(60_000),
      });
      await answer.arrayBuffer();
      return answer;
    };
    assert.equal((await ask("POST", `/v2/acme/app/blobs/uploads/?digest=${digestOf("{}")}`, "{}")).status, 201);
    for (let round = 0; round < 25; round += 1) {
      const config = { mediaType: "application/vnd.oci.empty.v1+json", digest: digestOf("{}"), size: 2 };
      const manifest = JSON.stringify({
        schemaVersion: 2,
        mediaType: OCI_IMAGE,
        config,
        layers: [],
        annotations: { round: String(round) },
      });
      assert.equal((await ask("PUT", "/v2/acme/app/manifests/v1", manifest)).status, 201);
      // Each call on a connection of its own, which either process may get; the second answer of one comes from the
      // cache.
      const answers = await Promise.all(Array.from({ length: 6 }, () => ask("GET", "/v2/acme/app/manifests/v1")));
      for (const { headers } of answers) assert.equal(headers.get("docker-content-digest"), digestOf(manifest));
    }
    assert.equal(await stop(), 0);
  },
);
