import assert from "node:assert/strict";
import { readdirSync, statSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { test } from "node:test";
import { GroupsService } from "@moorage/api";
import { ConfigError, loadConfig, startServer } from "../../src/index.ts";
import { openGrpc } from "../support/grpc.ts";
import { digestOf, type Installation, startInstallation, temporaryFolder } from "../support/installation.ts";
import { eventually } from "../support/eventually.ts";

// What /metrics reports after known calls.

/** The samples by name with labels, as in the text format. */
type Samples = Map<string, number>;

async function scrape({ url }: { url: string }): Promise<Samples> {
  const response = await fetch(`${url}/metrics`);
  assert.equal(response.status, 200);
  assert.match(response.headers.get("content-type") ?? "", /^text\/plain; version=0\.0\.4/);
  return samplesOf(await response.text());
}

function samplesOf(text: string): Samples {
  return new Map(
    text
      .split("\n")
      .filter((line) => line !== "" && !line.startsWith("#"))
      .map((line) => {
        const cut = line.lastIndexOf(" ");
        return [line.slice(0, cut), Number(line.slice(cut + 1))];
      }),
  );
}

/**
 * How much each sample of the metric grew during the work; samples that did not grow are left out. The server counts a
 * request when it has ended, which its client may see a little earlier.
 */
async function growth(
  installation: Installation,
  metric: string,
  work: () => Promise<unknown>,
): Promise<Record<string, number>> {
  const before = await scrape(installation);
  await work();
  const grown = await eventually(async () => {
    const samples = [...(await scrape(installation))]
      .filter(([name]) => name.startsWith(`${metric}{`) || name === metric)
      .map(([name, value]) => [name.slice(metric.length), value - (before.get(name) ?? 0)] as const)
      .filter(([, value]) => value !== 0);
    return samples.length > 0 && samples;
  });
  return Object.fromEntries(grown);
}

const GROUPS = "moorage.iam.v2.GroupsService";
const LIST = `${GROUPS}.ListGroups`;

test("calls of a method are counted by code, REST and gRPC together", async (t) => {
  const installation = await startInstallation(t);
  const { ask, platform, url } = installation;
  const grpc = openGrpc(url);
  t.after(() => grpc.close());
  assert.deepEqual(
    await growth(installation, "moorage_rpc_requests_total", async () => {
      for (let count = 0; count < 3; count++) await ask("GET", "/iam/v2/groups", { token: platform });
      await grpc.call(GroupsService.method.listGroups, {}, platform);
      await ask("GET", "/iam/v2/groups");
      await grpc.call(GroupsService.method.listGroups, {});
      await ask("GET", "/iam/v2/groups?page_size=-1", { token: platform });
      await grpc.call(GroupsService.method.listGroups, { pageSize: -1 }, platform);
      await ask("POST", "/iam/v2/groups", {
        token: platform,
        headers: { "content-type": "application/json" },
        bytes: "{",
      });
    }),
    {
      [`{method="${LIST}",code="OK"}`]: 4,
      [`{method="${LIST}",code="UNAUTHENTICATED"}`]: 2,
      [`{method="${LIST}",code="INVALID_ARGUMENT"}`]: 2,
      [`{method="moorage.iam.v2.GroupsService.CreateGroup",code="INVALID_ARGUMENT"}`]: 1,
    },
  );
  const samples = await scrape(installation);
  assert.equal(samples.get(`moorage_rpc_request_duration_seconds_count{service="${GROUPS}"}`), 9);
  assert.equal(samples.get(`moorage_rpc_request_duration_seconds_bucket{le="+Inf",service="${GROUPS}"}`), 9);
  assert.equal(samples.get(`moorage_rpc_requests_in_flight{service="${GROUPS}"}`), 0);
  const seconds = [`${GROUPS}.ListGroups`, `${GROUPS}.CreateGroup`].map((method) =>
    Number(samples.get(`moorage_rpc_request_seconds_total{method="${method}"}`)),
  );
  assert.ok(seconds.every((value) => value > 0));
  const sum = Number(samples.get(`moorage_rpc_request_duration_seconds_sum{service="${GROUPS}"}`));
  assert.ok(Math.abs(seconds.reduce((one, other) => one + other) - sum) < 1e-9);
});

test("requests that the RPC library itself rejects are counted as well", async (t) => {
  const installation = await startInstallation(t);
  const { ask, platform } = installation;
  const headers = { "content-type": "application/proto", "connect-protocol-version": "1" };
  assert.deepEqual(
    await growth(installation, "moorage_rpc_requests_total", async () => {
      assert.equal(
        (
          await ask("POST", "/moorage.iam.v2.GroupsService/ListGroups", {
            token: platform,
            headers,
            bytes: "\u0007\u0007\u0007",
          })
        ).status,
        400,
      );
      assert.equal(
        (await ask("POST", "/grpc.health.v1.Health/Check", { json: {}, headers: { "connect-protocol-version": "1" } }))
          .status,
        200,
      );
    }),
    { [`{method="${LIST}",code="INVALID_ARGUMENT"}`]: 1, [`{method="grpc.health.v1.Health.Check",code="OK"}`]: 1 },
  );
});

test("pulls and pushes are counted by verb and status, with their bytes", async (t) => {
  const installation = await startInstallation(t);
  const { ask, registry: token, pushImage } = installation;
  let image = { digest: "", layer: "", size: 0 };
  assert.deepEqual(
    await growth(installation, "moorage_registry_requests_total", async () => {
      image = await pushImage("acme/app", "v1", "one");
    }),
    {
      [`{verb="uploads_post",status="201"}`]: 2,
      [`{verb="manifest_put",status="201"}`]: 1,
    },
  );
  const pull = async (): Promise<void> => {
    for (let count = 0; count < 3; count++)
      assert.equal((await ask("GET", "/v2/acme/app/manifests/v1", { token })).status, 200);
    assert.equal((await ask("HEAD", "/v2/acme/app/manifests/v1", { token })).status, 200);
    assert.equal((await ask("GET", `/v2/acme/app/blobs/${image.layer}`, { token })).status, 200);
    assert.equal((await ask("GET", "/v2/acme/app/tags/list", { token })).status, 200);
    assert.equal((await ask("GET", "/v2/acme/app/manifests/none", { token })).status, 404);
    assert.equal((await ask("GET", "/v2/acme/app/manifests/v1")).status, 401);
  };
  assert.deepEqual(await growth(installation, "moorage_registry_requests_total", pull), {
    [`{verb="manifest_get",status="200"}`]: 3,
    [`{verb="manifest_head",status="200"}`]: 1,
    [`{verb="blob_get",status="200"}`]: 1,
    [`{verb="tags_get",status="200"}`]: 1,
    [`{verb="manifest_get",status="404"}`]: 1,
    [`{verb="manifest_get",status="401"}`]: 1,
  });
  const sent = await growth(installation, "moorage_registry_sent_bytes_total", async () => {
    for (let count = 0; count < 3; count++) await ask("GET", `/v2/acme/app/manifests/${image.digest}`, { token });
    await ask("HEAD", "/v2/acme/app/manifests/v1", { token });
    await ask("GET", `/v2/acme/app/blobs/${image.layer}`, { token, headers: { range: "bytes=2-4" } });
  });
  assert.deepEqual(sent, { [`{verb="manifest_get"}`]: 3 * image.size, [`{verb="blob_get"}`]: 3 });
});

test("the bytes of large blobs are counted in both directions, and so are the operations of the blob store", async (t) => {
  const installation = await startInstallation(t);
  const { ask, registry: token, pushBlob, pushImage } = installation;
  await pushImage("acme/app", "v1", "one");
  const content = "0123456789abcdef".repeat(20_000);
  assert.deepEqual(
    await growth(installation, "moorage_registry_received_bytes_total", () => pushBlob("acme/app", content)),
    { [`{verb="uploads_post"}`]: content.length },
  );
  assert.deepEqual(
    await growth(installation, "moorage_registry_sent_bytes_total", () =>
      ask("GET", `/v2/acme/app/blobs/${digestOf(content)}`, { token }),
    ),
    {
      [`{verb="blob_get"}`]: content.length,
    },
  );
  assert.deepEqual(
    await growth(installation, "moorage_blobs_read_bytes_total", () =>
      ask("GET", `/v2/acme/app/blobs/${digestOf(content)}`, { token }),
    ),
    { "": content.length },
  );
  assert.deepEqual(
    await growth(installation, "moorage_blobs_written_bytes_total", () => pushBlob("acme/app", "small")),
    { "": 5 },
  );
  assert.deepEqual(
    await growth(installation, "moorage_blobs_operations_total", () => pushBlob("acme/app", "another")),
    {
      [`{operation="store",outcome="OK"}`]: 1,
    },
  );
  const pushWrong = () =>
    ask("POST", `/v2/acme/app/blobs/uploads/?digest=${digestOf("right")}`, {
      token,
      bytes: "wrong",
      headers: { "content-type": "application/octet-stream" },
    });
  assert.equal(
    (await growth(installation, "moorage_blobs_operations_total", pushWrong))[
      `{operation="store",outcome="INVALID_ARGUMENT"}`
    ],
    1,
  );
});

test("transactions are counted by command and outcome", async (t) => {
  const installation = await startInstallation(t);
  const { ask, api, bootstrap, platform } = installation;
  const target = `/registry/v2/repos/${bootstrap.organization.uid}`;
  const grown = await growth(installation, "moorage_database_transactions_total", async () => {
    await api("POST", target, { name: "one" });
    assert.equal((await ask("POST", target, { token: platform, json: { name: "one" } })).status, 409);
  });
  // The sequencer of events and the jobs have transactions of their own, at any time.
  const isBackground = (labels: string): boolean => /"(?:events\.\w+|leases\.\w+|read)"/.test(labels);
  assert.deepEqual(Object.fromEntries(Object.entries(grown).filter(([labels]) => !isBackground(labels))), {
    [`{operation="method",outcome="OK"}`]: 1,
    [`{operation="method",outcome="ALREADY_EXISTS"}`]: 1,
  });
  const samples = await until(installation, (each) => each.get("moorage_database_write_queue_length") === 0);
  for (const name of ["process_resident_memory_bytes", "process_start_time_seconds", "process_cpu_seconds_total"])
    assert.ok((samples.get(name) ?? 0) > 0, name);
  assert.equal([...samples].filter(([name]) => name.startsWith("moorage_build_info{version=")).length, 1);
});

test("a request under way counts as in flight, and one whose client disconnects as aborted", async (t) => {
  const installation = await startInstallation(t);
  const { url, registry: token, pushImage } = installation;
  await pushImage("acme/app", "v1", "one");
  const started = await installation.ask("POST", "/v2/acme/app/blobs/uploads/", { token });
  const upload = request(`${url}${new URL(started.headers.get("location") ?? "", url).pathname}`, {
    method: "PATCH",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/octet-stream" },
  });
  const half = Buffer.alloc(262_144);
  upload.on("error", () => undefined).write(half);
  await until(installation, (samples) => samples.get(`moorage_registry_requests_in_flight{verb="upload_patch"}`) === 1);
  await until(installation, (samples) => samples.get(`moorage_blobs_operations_in_flight{operation="append"}`) === 1);
  // The bytes are counted once the blob store reads them; it writes when it has this many.
  const uploads = join(installation.dataDir, "uploads");
  const files = (): string[] => readdirSync(uploads).filter((name) => !name.endsWith(".lock"));
  await eventually(() => files().some((name) => statSync(join(uploads, name)).size === half.length));
  upload.destroy();
  const after = await until(
    installation,
    (samples) => samples.get(`moorage_registry_requests_total{verb="upload_patch",status="aborted"}`) === 1,
  );
  assert.equal(after.get(`moorage_registry_requests_in_flight{verb="upload_patch"}`), 0);
  assert.equal(after.get(`moorage_registry_received_bytes_total{verb="upload_patch"}`), half.length);
});

/** Scrapes until the condition holds. */
async function until(installation: { url: string }, isSo: (samples: Samples) => boolean): Promise<Samples> {
  return await eventually(async () => {
    const samples = await scrape(installation);
    return isSo(samples) && samples;
  });
}

test("names that callers invent do not get into the metrics", async (t) => {
  const installation = await startInstallation(t);
  const { ask, url, registry: token } = installation;
  const wild = async (seed: string): Promise<void> => {
    await ask("GET", `/${seed}/${seed}?${seed}=1`);
    await ask("GET", `/v2/acme/${seed}/manifests/${seed}`, { token });
    await ask("GET", `/v2/${seed}`, { token });
    await ask("PUT", `/v2/acme/${seed}/tags/list`, { token });
    await ask("POST", `/moorage.iam.v2.GroupsService/${seed}`, {
      json: {},
      headers: { "connect-protocol-version": "1" },
    });
    await ask("POST", `/${seed}.Service/${seed}`, { bytes: "", headers: { "content-type": "application/grpc" } });
    await odd(url, seed.toUpperCase());
  };
  await wild("first");
  // The samples of scrapes themselves exist from the second scrape on.
  await scrape(installation);
  const few = ownNames(await scrape(installation));
  for (let count = 0; count < 20; count++) await wild(`made-up-${count}`);
  const samples = await scrape(installation);
  assert.deepEqual(ownNames(samples), few);
  assert.deepEqual(
    [...samples.keys()].filter((name) => name.toLowerCase().includes("made-up")),
    [],
  );
  assert.equal(samples.get(`moorage_rpc_requests_total{method="other",code="UNIMPLEMENTED"}`), 2 * 21);
  assert.equal(samples.get(`moorage_registry_requests_total{verb="other",status="405"}`), 21);
});

// The samples of the process vary with its open handles, and those of the database with what runs in the background.
function ownNames(samples: Samples): string[] {
  return [...samples.keys()]
    .filter((name) => name.startsWith("moorage_") && !name.startsWith("moorage_database_"))
    .toSorted();
}

/** Sends a request with an uncommon method. Node's parser knows a few dozen and rejects all others itself. */
function odd(url: string, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    request(`${url}/${path}`, { method: "PROPFIND" }, (response) => response.resume().once("end", resolve))
      .once("error", reject)
      .end();
  });
}

test("/metrics answers only the networks of the setting, by the client's real address", async (t) => {
  const statusOf = async (env: Record<string, string>, headers: Record<string, string> = {}): Promise<number> => {
    const installation = await startInstallation(t, env);
    const { status, text } = await installation.ask("GET", "/metrics", { headers });
    const missing = await installation.ask("GET", "/nothing-here", { headers });
    if (status === 404) assert.equal(text, missing.text);
    await installation.close();
    return status;
  };
  assert.equal(await statusOf({}), 200);
  assert.equal(await statusOf({ MOORAGE_METRICS_NETWORKS: "10.0.0.0/8,192.0.2.7" }), 404);
  // A forwarding header shows that a proxy forwards for another client; the proxy on this machine is not trusted.
  assert.equal(await statusOf({}, { "x-forwarded-for": "127.0.0.1" }), 404);
  assert.equal(await statusOf({}, { forwarded: "for=127.0.0.1" }), 404);
  const proxied = { MOORAGE_TRUSTED_PROXIES: "127.0.0.1", MOORAGE_METRICS_NETWORKS: "192.0.2.0/24" };
  assert.equal(await statusOf(proxied, { "x-forwarded-for": "192.0.2.9" }), 200);
  assert.equal(await statusOf(proxied, { "x-forwarded-for": "198.51.100.1" }), 404);
  assert.equal(await statusOf(proxied), 404);
});

test("/metrics takes only GET and HEAD, and invalid settings are named", async (t) => {
  const { ask, url } = await startInstallation(t);
  assert.equal((await ask("POST", "/metrics", { json: {} })).status, 404);
  const head = await fetch(`${url}/metrics`, { method: "HEAD" });
  assert.deepEqual([head.status, await head.text()], [200, ""]);
  const wrong = {
    MOORAGE_METRICS_NETWORKS: "10.0.0.0/33",
    MOORAGE_TRACES_URL: "collector:4318",
    MOORAGE_TRACES_SAMPLE: "1.5",
    MOORAGE_LOG_FORMAT: "xml",
  };
  for (const [name, value] of Object.entries(wrong)) {
    const starting = async (): Promise<unknown> =>
      startServer(
        loadConfig({
          MOORAGE_PORT: "0",
          MOORAGE_DATA_DIR: temporaryFolder(t),
          MOORAGE_LOG_LEVEL: "silent",
          [name]: value,
        }),
      );
    await assert.rejects(
      starting,
      (error) => error instanceof ConfigError && error.message.startsWith(`${name}: `),
      name,
    );
  }
});

test("the counts of several processes are added up", async () => {
  const { mergeSnapshots, openObservation } = await import("../../../kernel/src/observe/index.ts");
  const { pino } = await import("pino");
  const workers = await Promise.all(
    [1, 2].map(() => openObservation({ tracesUrl: "", tracesSample: 1 }, pino({ level: "silent" }), [])),
  );
  for (const [at, { requests }] of workers.entries()) {
    for (let count = 0; count <= at; count++) {
      const observed = requests.begin({ method: "GET", url: "/", headers: {} }, "rest", {
        requestId: "r",
        remoteAddress: "127.0.0.1",
      });
      observed.beginRpc(LIST);
      observed.endRpc(0);
      observed.end("200");
    }
  }
  // In the form that messages between processes have.
  const snapshots = await Promise.all(workers.map(async ({ snapshot }) => structuredClone(await snapshot())));
  const samples = samplesOf(await mergeSnapshots(snapshots));
  assert.equal(samples.get(`moorage_rpc_requests_total{method="${LIST}",code="OK"}`), 3);
  assert.equal(samples.get(`moorage_rpc_request_duration_seconds_count{service="${GROUPS}"}`), 3);
  assert.equal([...samples].find(([name]) => name.startsWith("moorage_build_info"))?.[1], 1);
  for (const worker of workers) await worker.close();
});
