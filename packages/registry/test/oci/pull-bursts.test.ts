// A cluster whose nodes start together pulls with one pull token from one address. The clock stands still, so that a
// limit by count would be met by the sixth request.
import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { after, before, test } from "node:test";
import { SignJWT } from "jose";
import { pushImage } from "../../../server/test/support/image.ts";
import { type Answer, type Ask, type Platform, startPlatform } from "../../../server/test/support/platform.ts";
import { jsonOf } from "../../../server/test/support/json-of.ts";

const BURST = 20;
const NODES = 250;
const CLUSTER = "192.0.2.7";
let platform: Platform;
let addresses = 0;
before(async () => {
  platform = await startPlatform({
    MOORAGE_RATE_LIMIT_IDENTITY: `1/s:${BURST}`,
    MOORAGE_RATE_LIMIT_ADDRESS: `1/s:${BURST}`,
    MOORAGE_TRUSTED_PROXIES: "127.0.0.1",
  });
  const standing = Date.now();
  platform.clock.nowMs = () => standing + platform.clock.offsetMs;
});
after(() => platform.close());

const address = (): string => `198.51.100.${(addresses += 1)}`;
const call = (
  method: string,
  path: string,
  from: string,
  { headers, ...ask }: Ask & { basic?: string } = {},
): Promise<Answer> => platform.call(method, path, { ...ask, headers: { ...headers, "x-forwarded-for": from } });
const basic = (user: string, password: string): Ask => ({
  headers: { authorization: `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}` },
});
const tokenOf = async (credentials: Ask, from: string, name = "acme/app"): Promise<string> => {
  const answer = await call("GET", `/token?service=x&scope=repository:${name}:pull`, from, credentials);
  assert.equal(answer.status, 200, answer.text);
  return jsonOf<{ token: string }>(answer).token;
};

/** A pull token: its user name and its password, which is signed with a key that only its holder has. */
async function pullToken(group: string): Promise<Ask> {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const jwk = { ...publicKey.export({ format: "jwk" }), kid: "k", alg: "ES256" };
  const issuer = "https://issuer.example";
  const { uid } = await platform.ok("POST", `/iam/v2/identities/${group}`, {
    name: `cluster-${(addresses += 1)}`,
    staticKeys: { issuer, subject: "cluster", issuerKeys: JSON.stringify({ keys: [jwk] }) },
  });
  await platform.bind(group, uid, await platform.role("registry.pull"));
  const password = await new SignJWT({})
    .setProtectedHeader({ alg: "ES256", kid: "k" })
    .setIssuer(issuer)
    .setSubject("cluster")
    .setAudience(platform.url)
    .setIssuedAt()
    .setExpirationTime("1h")
    .sign(privateKey);
  return basic(uid, password);
}
/** Long enough for every bucket to fill up. */
const rest = (): void => void (platform.clock.offsetMs += 60_000);

test("3,000 requests that pull with one pull token are all served, and another organization's in between", async () => {
  const digest = await pushImage(platform, "acme/app", "v1");
  rest();
  const other = await platform.ok("POST", "/iam/v2/groups", { name: "other" });
  rest();
  const credentials = await pullToken(platform.organization);
  const others = await pullToken(other.uid);
  rest();
  const image = jsonOf<{ config: { digest: string }; layers: { digest: string }[] }>(
    await call("GET", "/v2/acme/app/manifests/v1", CLUSTER, { token: await tokenOf(credentials, CLUSTER) }),
  );
  const blobs = [image.config, ...image.layers].map((each) => each.digest);
  let answered = 0;
  const statuses = new Map<number, number>();
  const count = ({ status }: Answer): void => {
    answered += 1;
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
  };
  const node = async (): Promise<void> => {
    const token = await tokenOf(credentials, CLUSTER);
    count({ status: 200 } as Answer);
    const pull = async (method: string, path: string): Promise<void> =>
      count(await call(method, `/v2/acme/app/${path}`, CLUSTER, { token }));
    await pull("HEAD", "manifests/v1");
    await pull("GET", `manifests/${digest}`);
    for (const blob of blobs) for (const method of ["HEAD", "GET"]) await pull(method, `blobs/${blob}`);
    await pull("GET", "tags/list");
    await pull("GET", `referrers/${digest}`);
    await pull("GET", "manifests/v1");
    await pull("GET", "");
    await pull("GET", "manifests/v1");
  };
  const cluster = Promise.all(Array.from({ length: NODES }, node));
  while (answered < BURST) await new Promise((resolve) => setImmediate(resolve));
  const headers = { ...others.headers, "x-forwarded-for": address() };
  const token = await fetch(`${platform.url}/token?scope=repository:other/none:pull`, { headers });
  const before = answered;
  assert.equal(token.status, 200);
  assert.ok(before < 3_000, "the other organization did not wait for the cluster");
  await cluster;
  assert.deepEqual([...statuses].toSorted(), [
    [200, NODES * 11],
    [404, NODES],
  ]);
});

test("writes and the API stay limited by identity and by address", async () => {
  const audience = new URL(platform.url).host;
  rest();
  const pusher = await platform.identity(platform.organization, "registry.push");
  const pushes = await platform.token(pusher, { audience });
  const calls = await platform.token(pusher);
  rest();
  const statuses = async (ask: () => Promise<Answer>): Promise<number[]> => {
    const all: number[] = [];
    for (let at = 0; at <= BURST; at += 1) all.push((await ask()).status);
    return all;
  };
  const limited = (status: number): number[] => [...Array.from({ length: BURST }, () => status), 429];
  const uploads = "/v2/acme/app/blobs/uploads/";
  assert.deepEqual(await statuses(() => call("POST", uploads, address(), { token: pushes })), limited(202));
  rest();
  assert.deepEqual(await statuses(() => call("GET", "/registry/v2/repos", address(), { token: calls })), limited(200));
  assert.equal((await call("GET", "/v2/acme/app/manifests/v1", address(), { token: pushes })).status, 200);
  rest();
  const from = address();
  assert.deepEqual(await statuses(() => call("GET", "/ping/v2/ping", from)), limited(200));
  assert.equal((await call("POST", uploads, from, { token: pushes })).status, 429);
  assert.equal((await call("GET", "/v2/acme/app/manifests/v1", from, { token: pushes })).status, 200);
});

test("who guesses is stopped at pulls as well, and a valid token of the same address still pulls", async () => {
  rest();
  const good = await platform.token(platform.owner, { audience: new URL(platform.url).host });
  const path = "/v2/acme/app/manifests/v1";
  for (const guess of [{ token: "x.y.z" }, basic("x", "y")]) {
    const from = address();
    const statuses: number[] = [];
    for (let at = 0; at <= BURST / 2; at += 1) statuses.push((await call("GET", path, from, guess)).status);
    assert.deepEqual(statuses, [...Array.from({ length: BURST / 2 }, () => 401), 429]);
    assert.equal((await call("GET", "/token", from, basic("x", "y"))).status, 429);
    assert.equal((await call("GET", "/npm/acme/left-pad", from, guess)).status, 429);
    assert.equal((await call("GET", path, from, { token: good })).status, 200);
    assert.equal((await call("GET", "/ping/v2/ping", from)).status, 429, "it is the address's limit");
    assert.equal((await call("GET", path, address(), guess)).status, 401, "others are not stopped");
  }
});

test("anonymous pulls are counted at their address", async () => {
  rest();
  const from = address();
  const statuses: number[] = [];
  for (let at = 0; at <= BURST; at += 1) statuses.push((await call("GET", "/v2/acme/app/manifests/v1", from)).status);
  assert.deepEqual(statuses, [...Array.from({ length: BURST }, () => 401), 429]);
  const other = address();
  const anonymous = await tokenOf({}, other);
  const pull = (): Promise<Answer> => call("GET", "/v2/acme/app/manifests/v1", other, { token: anonymous });
  const pulled: number[] = [];
  for (let at = 0; at < BURST; at += 1) pulled.push((await pull()).status);
  assert.deepEqual([new Set(pulled.slice(0, -1)).has(429), pulled.at(-1)], [false, 429]);
});
