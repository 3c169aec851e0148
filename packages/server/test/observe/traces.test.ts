import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test, type TestContext } from "node:test";
import { GroupsService } from "@moorage/api";
import { openGrpc } from "../support/grpc.ts";
import { type Installation, startInstallation } from "../support/installation.ts";

// Traces as a collector receives them: OTLP/HTTP as JSON.

interface Span {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  status: { code?: number };
  attributes: Record<string, string | number>;
}
interface Collector {
  url: string;
  spans: Span[];
  service: Set<string>;
  close(): Promise<void>;
}

/** A collector that records what it receives. */
async function startCollector(t: TestContext): Promise<Collector> {
  const spans: Span[] = [];
  const service = new Set<string>();
  const server = createServer(async (request, response) => {
    let text = "";
    for await (const chunk of request.setEncoding("utf8")) text += chunk;
    for (const { resource, scopeSpans } of (JSON.parse(text) as Export).resourceSpans) {
      service.add(String(plain(resource.attributes)["service.name"]));
      for (const scope of scopeSpans)
        spans.push(...scope.spans.map((span) => ({ ...span, attributes: plain(span.attributes) })));
    }
    assert.equal(request.url, "/v1/traces");
    response.setHeader("content-type", "application/json").end("{}");
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const close = async (): Promise<void> => {
    server.closeAllConnections();
    if (server.listening) await once(server.close(), "close");
  };
  t.after(close);
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/traces`, spans, service, close };
}

type Attributes = { key: string; value: { stringValue?: string; intValue?: number } }[];
interface Export {
  resourceSpans: {
    resource: { attributes: Attributes };
    scopeSpans: { spans: (Omit<Span, "attributes"> & { attributes: Attributes })[] }[];
  }[];
}

function plain(attributes: Attributes): Span["attributes"] {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, value.stringValue ?? value.intValue ?? "?"]));
}

const PARENT = "b7ad6b7169203331";
const traceparent = (traceId: string, flags = "01"): { traceparent: string } => ({
  traceparent: `00-${traceId}-${PARENT}-${flags}`,
});
const traceOf = (letter: string): string => letter.repeat(32);

/** The log line of the request with the path. */
function logged({ lines }: Installation, path: string): { traceId?: string; rpc?: string; verb?: string } | undefined {
  return lines
    .map((line) => JSON.parse(line) as { path?: string; traceId?: string; rpc?: string; verb?: string })
    .findLast((line) => line.path === path);
}

test("a request is a child span of its caller's, and its transactions and blob operations are child spans of it", async (t) => {
  const collector = await startCollector(t);
  const installation = await startInstallation(t, { MOORAGE_TRACES_URL: collector.url });
  const { ask, platform, registry, bootstrap, pushImage, close } = installation;
  const { layer } = await pushImage("acme/app", "v1", "one");
  const path = `/registry/v2/repos/${bootstrap.organization.uid}`;
  assert.equal(
    (await ask("POST", path, { token: platform, json: { name: "one" }, headers: traceparent(traceOf("a")) })).status,
    200,
  );
  assert.equal(
    (await ask("GET", `/v2/acme/app/blobs/${layer}`, { token: registry, headers: traceparent(traceOf("b")) })).status,
    200,
  );
  assert.equal(
    (await ask("GET", "/v2/acme/app/manifests/none?secret=1", { token: registry, headers: traceparent(traceOf("c")) }))
      .status,
    404,
  );
  await close();
  assert.deepEqual([...collector.service], ["moorage"]);

  const of = (letter: string): Span[] => collector.spans.filter(({ traceId }) => traceId === traceOf(letter));
  const create = of("a").find(({ parentSpanId }) => parentSpanId === PARENT);
  assert.ok(create);
  // 2: SPAN_KIND_SERVER.
  assert.deepEqual(
    [create.name, create.kind, create.status.code ?? 0],
    ["moorage.registry.v2.ReposService.CreateRepo", 2, 0],
  );
  const {
    "rpc.service": service,
    "rpc.method": method,
    "rpc.grpc.status_code": code,
    "http.response.status_code": status,
    "http.request.method": verb,
  } = create.attributes;
  assert.deepEqual(
    [service, method, code, status, verb, create.attributes["url.path"]],
    ["moorage.registry.v2.ReposService", "CreateRepo", 0, 200, "POST", path],
  );
  assert.deepEqual(
    of("a")
      .filter(({ parentSpanId }) => parentSpanId === create.spanId)
      .map(({ name, kind }) => [name, kind]),
    [["database method", 3]],
  );

  const pull = of("b").find(({ parentSpanId }) => parentSpanId === PARENT);
  assert.equal(pull?.name, "blob_get");
  assert.deepEqual(
    of("b")
      .filter(({ parentSpanId }) => parentSpanId === pull.spanId)
      .map(({ name }) => name),
    ["database read", "blobs read_whole"],
  );
  const missing = of("c").find(({ parentSpanId }) => parentSpanId === PARENT);
  assert.deepEqual(
    [missing?.name, missing?.attributes["http.response.status_code"], missing?.status.code ?? 0],
    ["manifest_get", 404, 0],
  );
  assert.ok(!JSON.stringify(collector.spans).includes("secret"));
  for (const token of [platform, registry]) assert.ok(!JSON.stringify(collector.spans).includes(token));
  assert.equal(logged(installation, path)?.traceId, traceOf("a"));
});

test("gRPC calls are traced, and requests without a caller's trace get one of their own", async (t) => {
  const collector = await startCollector(t);
  const installation = await startInstallation(t, { MOORAGE_TRACES_URL: collector.url });
  const grpc = openGrpc(installation.url);
  await grpc.call(GroupsService.method.listGroups, {}, installation.platform);
  grpc.close();
  await installation.close();
  const span = collector.spans.find(({ name }) => name === "moorage.iam.v2.GroupsService.ListGroups");
  assert.equal(span?.parentSpanId ?? "", "");
  const line = logged(installation, "/moorage.iam.v2.GroupsService/ListGroups");
  assert.deepEqual([line?.traceId, line?.rpc], [span?.traceId, "moorage.iam.v2.GroupsService.ListGroups"]);
});

test("the caller decides whether a trace is sampled, and the setting where the caller does not", async (t) => {
  const collector = await startCollector(t);
  const installation = await startInstallation(t, { MOORAGE_TRACES_URL: collector.url, MOORAGE_TRACES_SAMPLE: "0" });
  await installation.ask("GET", "/ping/v2/ping", { headers: traceparent(traceOf("a")) });
  await installation.ask("GET", "/ping/v2/ping", { headers: traceparent(traceOf("b"), "00") });
  await installation.ask("GET", "/ping/v2/ping", { headers: { traceparent: `00-${traceOf("0")}-${PARENT}-01` } });
  for (let count = 0; count < 10; count++) await installation.ask("GET", "/ping/v2/ping");
  await installation.close();
  assert.deepEqual(
    collector.spans.map(({ traceId }) => traceId),
    [traceOf("a")],
  );
});

test("the log has the caller's trace also without tracing", async (t) => {
  const installation = await startInstallation(t);
  await installation.ask("GET", "/ping/v2/ping", { headers: traceparent(traceOf("a")) });
  assert.equal(logged(installation, "/ping/v2/ping")?.traceId, traceOf("a"));
  await installation.ask("GET", "/v2/", { headers: { traceparent: "nonsense" } });
  assert.deepEqual(
    [logged(installation, "/v2/")?.traceId, logged(installation, "/v2/")?.verb],
    [undefined, "base_get"],
  );
});

test("an unreachable collector fails no request, causes one warning, and does not delay the shutdown", async (t) => {
  const collector = await startCollector(t);
  await collector.close();
  const installation = await startInstallation(t, { MOORAGE_TRACES_URL: collector.url });
  for (let count = 0; count < 600; count++) assert.equal((await installation.ask("GET", "/ping/v2/ping")).status, 200);
  await installation.close();
  const warned = installation.lines.filter((line) => line.includes("traces could not be sent"));
  assert.ok(warned.length <= 1, `${warned.length} warnings`);
  assert.ok(installation.lines.some((line) => line.includes('"closed"')));
});

test("a collector that never answers does not delay the shutdown either", async (t) => {
  const silent = createServer(() => undefined);
  await new Promise<void>((resolve) => void silent.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    silent.closeAllConnections();
    silent.close();
  });
  const installation = await startInstallation(t, {
    MOORAGE_TRACES_URL: `http://127.0.0.1:${(silent.address() as AddressInfo).port}/v1/traces`,
  });
  assert.equal((await installation.ask("GET", "/ping/v2/ping")).status, 200);
  await installation.close();
});

test("a collector that rejects spans is logged with the number of lost spans", async (t) => {
  const refusing = createServer((request, response) => {
    request.resume();
    response.writeHead(403).end();
  });
  await new Promise<void>((resolve) => void refusing.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    refusing.closeAllConnections();
    refusing.close();
  });
  const installation = await startInstallation(t, {
    MOORAGE_TRACES_URL: `http://127.0.0.1:${(refusing.address() as AddressInfo).port}/v1/traces`,
  });
  await installation.ask("GET", "/ping/v2/ping");
  await installation.close();
  const [warning] = installation.lines
    .filter((line) => line.includes("traces could not be sent"))
    .map((line) => JSON.parse(line) as { level: number; lostSpans: number });
  assert.equal(warning?.level, 40);
  assert.ok((warning?.lostSpans ?? 0) >= 1);
});
