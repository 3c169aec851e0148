import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { createClient, Code as ConnectCode, ConnectError } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { GroupsService } from "@moorage/api";
import { Health } from "@moorage/api/gen/health/v1/health_pb";
import { RetryInfoSchema } from "@moorage/api/gen/google/rpc/error_details_pb";
import { loadConfig } from "../../../kernel/src/config/index.ts";
import { type Answer, type Ask, type Platform, reason, startPlatform } from "../support/platform.ts";
import { jsonOf } from "../support/json-of.ts";

// Rate limits of every handler. The clock stands still, and each test has addresses and identities of its own.
const IDENTITY_BURST = 5;
const ADDRESS_BURST = 8;
let platform: Platform;
let addresses = 0;
before(async () => {
  platform = await startPlatform({
    MOORAGE_RATE_LIMIT_IDENTITY: `1/s:${IDENTITY_BURST}`,
    MOORAGE_RATE_LIMIT_ADDRESS: `2/s:${ADDRESS_BURST}`,
    MOORAGE_TRUSTED_PROXIES: "127.0.0.1",
  });
  const standing = Date.now();
  platform.clock.nowMs = () => standing + platform.clock.offsetMs;
});
beforeEach(() => rest());
after(() => platform.close());

/** Long enough for every bucket to fill up. */
const rest = (): void => {
  platform.clock.offsetMs += 60_000;
};
const address = (): string => `192.0.2.${(addresses += 1)}`;
const call = (
  path: string,
  from: string,
  { method = "GET", headers, ...ask }: Ask & { method?: string } = {},
): Promise<Answer> => platform.call(method, path, { ...ask, headers: { ...headers, "x-forwarded-for": from } });
const ping = (from: string): Promise<Answer> => call("/ping/v2/ping", from);
const retryAfterMs = ({ headers }: Answer): number => Number(headers["retry-after"]) * 1000;
const repeated = async (count: number, work: () => Promise<Answer>): Promise<number[]> => {
  const statuses: number[] = [];
  for (let at = 0; at < count; at += 1) statuses.push((await work()).status);
  return statuses;
};
const times = (count: number, status: number): number[] => Array.from({ length: count }, () => status);

test("an address may send its burst immediately; then Retry-After says when the next request is accepted", async () => {
  const from = address();
  assert.deepEqual(await repeated(ADDRESS_BURST, () => ping(from)), times(ADDRESS_BURST, 200));
  const refused = await ping(from);
  assert.deepEqual(
    [refused.status, refused.body.code, reason(refused), refused.headers["cache-control"]],
    [429, 8, "RESOURCE_EXHAUSTED", "no-store"],
  );
  assert.deepEqual(
    refused.body.details.find((each) => each["@type"].endsWith("RetryInfo")),
    { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "0.500s" },
  );
  assert.equal(retryAfterMs(refused), 1000);
  assert.equal((await ping(address())).status, 200, "another is not hurt");
  platform.clock.offsetMs += 499;
  assert.equal((await ping(from)).status, 429, "to ask again does not make it longer, and not shorter");
  platform.clock.offsetMs += 1;
  assert.deepEqual(await repeated(2, () => ping(from)), [200, 429]);
  platform.clock.offsetMs += 1000;
  assert.deepEqual(await repeated(3, () => ping(from)), [200, 200, 429], "two a second");
});

test("an identity's requests count from every address, cached answers too, and leave other identities alone", async () => {
  const one = await platform.identity(platform.organization, "viewer");
  rest();
  const other = await platform.identity(platform.organization, "viewer");
  rest();
  const token = await platform.token(one);
  const image = await platform.token(one, { audience: new URL(platform.url).host });
  const upload = "/v2/acme/app/blobs/uploads/";
  const group = `/iam/v2/groups/${platform.organization}`;
  const asks = [
    () => call(group, address(), { token }),
    () => call(group, address(), { token }),
    () => call(upload, address(), { method: "POST", token: image }),
    () =>
      call("/moorage.iam.v2.GroupsService/GetGroup", address(), {
        method: "POST",
        token,
        body: { uid: platform.organization },
      }),
  ];
  for (const ask of asks) assert.equal((await ask()).status, ask === asks[2] ? 403 : 200);
  assert.equal(
    (await platform.grpc.call(GroupsService.method.getGroup, { uid: platform.organization }, token)).error,
    undefined,
  );
  for (const ask of asks) {
    const refused = await ask();
    assert.equal(refused.status, 429, refused.text);
    assert.equal(retryAfterMs(refused), 1000);
  }
  assert.equal(
    (await platform.grpc.call(GroupsService.method.getGroup, { uid: platform.organization }, token)).message,
    undefined,
  );
  assert.equal((await call(group, address(), { token: await platform.token(other) })).status, 200);
  platform.clock.offsetMs += 1000;
  assert.equal((await call(group, address(), { token })).status, 200);
  assert.equal((await call(group, address(), { token })).status, 429);
});

test("each handler answers 429 in its protocol's form; health and metrics are never limited", async () => {
  const from = address();
  await repeated(ADDRESS_BURST, () => ping(from));
  for (const path of ["/v2/", "/v2/acme/app/tags/list", "/token?service=x"]) {
    const refused = await call(path, from);
    const { errors } = jsonOf<{ errors: { code: string }[] }>(refused);
    assert.deepEqual([refused.status, errors[0]?.code, retryAfterMs(refused)], [429, "TOOMANYREQUESTS", 1000], path);
  }
  for (const path of ["/sts/exchange", "/.well-known/jwks.json", "/openapi.json", "/iam/v2/groups", "/nothing"]) {
    const refused = await call(path, from);
    assert.deepEqual([refused.status, reason(refused), retryAfterMs(refused)], [429, "RESOURCE_EXHAUSTED", 1000], path);
  }
  const connect = await call("/moorage.ping.v2.PingService/Ping", from, { method: "POST", body: {} });
  assert.deepEqual([connect.status, connect.body.code, retryAfterMs(connect)], [429, "resource_exhausted", 1000]);

  for (const path of ["/healthz", "/readyz"]) assert.equal((await call(path, from)).status, 200, path);
  // gRPC health checks from this machine itself.
  await repeated(ADDRESS_BURST, () => platform.call("GET", "/ping/v2/ping"));
  assert.equal((await platform.call("GET", "/metrics")).status, 200);
  const transport = createGrpcTransport({ baseUrl: platform.url });
  assert.equal((await createClient(Health, transport).check({})).status, 1);
  const error = await createClient(GroupsService, transport)
    .getGroup({ uid: platform.organization })
    .then(
      () => undefined,
      (thrown: unknown) => ConnectError.from(thrown),
    );
  assert.equal(error?.code, ConnectCode.ResourceExhausted);
  assert.equal(error.metadata.get("retry-after"), "1");
  assert.deepEqual(
    error.findDetails(RetryInfoSchema).map(({ retryDelay }) => retryDelay?.nanos),
    [500_000_000],
  );
});

test("IPv6 is counted by /64, and X-Forwarded-For counts only from a trusted proxy", async () => {
  const network = "2001:db8:5:6";
  let host = 0;
  assert.deepEqual(await repeated(ADDRESS_BURST + 1, () => ping(`${network}::${(host += 1).toString(16)}`)), [
    ...times(ADDRESS_BURST, 200),
    429,
  ]);
  assert.equal((await ping("2001:db8:5:7::1")).status, 200);
  const from = address();
  const forged = (): Promise<Answer> => ping(`198.51.100.${(host += 1)}, ${from}`);
  assert.deepEqual(
    await repeated(ADDRESS_BURST + 1, forged),
    [...times(ADDRESS_BURST, 200), 429],
    "what stands before the proxy's own entry was said by the client",
  );
});

test("requests with invalid credentials count twice, at every handler; requests without credentials count once", async () => {
  const bad = { token: "x.y.z" };
  const basic = { headers: { authorization: `Basic ${Buffer.from("x:y").toString("base64")}` } };
  for (const [path, ask] of [
    ["/iam/v2/groups", bad],
    ["/v2/", bad],
    ["/token", basic],
    [`/sts/exchange?aud=${encodeURIComponent(platform.url)}`, bad],
    ["/moorage.iam.v2.GroupsService/ListGroups", { ...bad, method: "POST", body: {} }],
  ] as const) {
    const from = address();
    assert.deepEqual(
      await repeated(ADDRESS_BURST / 2 + 1, () => call(path, from, ask)),
      [...times(ADDRESS_BURST / 2, 401), 429],
      path,
    );
  }
  const form = {
    method: "POST",
    raw: "grant_type=refresh_token&refresh_token=x",
    headers: { "content-type": "application/x-www-form-urlencoded" },
  };
  const guesser = address();
  assert.deepEqual(await repeated(ADDRESS_BURST / 2 + 1, () => call("/sts/token", guesser, form)), [
    ...times(ADDRESS_BURST / 2, 400),
    429,
  ]);
  const client = address();
  assert.deepEqual(
    await repeated(ADDRESS_BURST + 1, () => call("/v2/", client)),
    [...times(ADDRESS_BURST, 401), 429],
    "as clients that look for the challenge do",
  );
  rest();
  for (let at = 0; at < ADDRESS_BURST / 2; at += 1)
    await platform.grpc.call(GroupsService.method.listGroups, {}, "x.y.z");
  assert.equal((await platform.call("GET", "/ping/v2/ping")).status, 429, "gRPC's are counted twice as well");
});

test("limited requests are counted by handler and kind", async () => {
  rest();
  const from = address();
  await repeated(ADDRESS_BURST + 1, () => ping(from));
  const { text } = await platform.call("GET", "/metrics");
  const label = "door";
  const counted = (handler: string, kind: string): number =>
    Number(
      new RegExp(`^moorage_rate_limited_total\\{${label}="${handler}",kind="${kind}"\\} (\\d+)$`, "m").exec(
        text,
      )?.[1] ?? 0,
    );
  for (const [handler, kind] of [
    ["rest", "address"],
    ["rest", "identity"],
    ["registry", "address"],
    ["registry", "identity"],
    ["rpc", "address"],
    ["rpc", "identity"],
    ["/token", "address"],
  ] as const) {
    assert.ok(counted(handler, kind) > 0, `${handler} ${kind}`);
  }
});

test("the settings are a rate per second and a burst; 0 is no limit; anything else is an error that names the setting", () => {
  const limits = (value?: string) =>
    loadConfig({ MOORAGE_RATE_LIMIT_IDENTITY: value, MOORAGE_RATE_LIMIT_ADDRESS: value });
  assert.deepEqual(
    [limits().rateLimitIdentity, limits().rateLimitAddress],
    [
      { perSecond: 500, burst: 2000 },
      { perSecond: 1000, burst: 4000 },
    ],
  );
  assert.deepEqual(limits("7/s").rateLimitIdentity, { perSecond: 7, burst: 28 });
  assert.deepEqual(limits("7/s:9").rateLimitAddress, { perSecond: 7, burst: 9 });
  assert.equal(limits("0").rateLimitIdentity, undefined);
  for (const wrong of ["7", "0/s", "-1/s", "1.5/s", "7/m", "7/s:0", "7/s:", "7/s:x", " 7/s", "1000000000000/s"])
    assert.throws(() => limits(wrong), /^Error: MOORAGE_RATE_LIMIT_IDENTITY: must be 0 or of the form/, wrong);
});
