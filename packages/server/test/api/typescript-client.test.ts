// The client of @moorage/api against a server: pages, errors, further attempts, dates, credentials, streams.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { once } from "node:events";
import { createServer, request as forward } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, test, type TestContext } from "node:test";
import { promisify } from "node:util";
import { ApiError, Code, createClient, exchangeCredentials } from "@moorage/api";
import { openIssuer } from "../support/issuer.ts";
import { type Platform, startPlatform } from "../support/platform.ts";

let platform: Platform;
let parent = "";
let token = "";
const NAMES = ["one", "two", "three", "four", "five", "six", "seven"];

before(async () => {
  platform = await startPlatform({ MOORAGE_ALLOW_PRIVATE_NETWORK: "1" });
  token = await platform.token();
  parent = (await platform.group(platform.organization, { name: "listed" })).uid;
  for (const name of NAMES) await platform.group(parent, { name });
});
after(() => platform.close());

/** A relay before the server, whose first `cuts` requests end with a closed connection. Counts all of them. */
async function startRelay(t: TestContext, url: string, cuts: number): Promise<{ url: string; requests: number }> {
  const relay = { url: "", requests: 0 };
  const server = createServer((request, response) => {
    relay.requests += 1;
    if (relay.requests <= cuts) return void request.socket.destroy();
    const { method, headers } = request;
    const passed = forward(`${url}${request.url}`, { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    request.pipe(passed);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  relay.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return relay;
}

/** The ApiError that a call rejects with. */
async function errorOf(call: PromiseLike<unknown>): Promise<ApiError> {
  try {
    await call;
  } catch (error) {
    assert.ok(error instanceof ApiError, String(error));
    return error;
  }
  return assert.fail("the call succeeded");
}

test("a list is one page when awaited, and all items when iterated", async (t) => {
  const relay = await startRelay(t, platform.url, 0);
  const client = createClient({ url: relay.url, token });
  const page = await client.groups.listGroups({ uidp: { childrenOf: parent }, pageSize: 3, orderBy: "name" });
  assert.deepEqual(
    page.groups.map(({ name }) => name),
    NAMES.toSorted().slice(0, 3),
  );
  assert.equal(relay.requests, 1);
  const names: string[] = [];
  for await (const { name } of client.groups.listGroups({
    uidp: { childrenOf: parent },
    pageSize: 3,
    orderBy: "name",
    skip: 1,
  }))
    names.push(name);
  assert.deepEqual(names, NAMES.toSorted().slice(1));
  assert.equal(relay.requests, 3, "two pages, each asked for once");
});

test("a failed call throws an ApiError with the server's details", async () => {
  const client = createClient({ url: platform.url, token });
  const invalid = await errorOf(client.groups.createGroup({ parent, group: { name: "Not A Name" } }));
  assert.equal(invalid.code, Code.InvalidArgument);
  assert.deepEqual(
    invalid.fieldViolations.map(({ field }) => field),
    ["name"],
  );
  const missing = await errorOf(client.groups.getGroup({ uid: "0".repeat(40) }));
  assert.deepEqual(
    [missing.code, missing.reason, missing.resource],
    [Code.NotFound, "NOT_FOUND", { type: "moorage.iam.v2.Group", name: "0".repeat(40) }],
  );
  assert.match(missing.requestId ?? "", /^[\da-f-]{36}$/);
  const anonymous = await errorOf(createClient({ url: platform.url }).groups.getGroup({ uid: parent }));
  assert.equal(anonymous.code, Code.Unauthenticated);
});

test("a read is sent again when its connection breaks; a write is not", async (t) => {
  const readings = await startRelay(t, platform.url, 2);
  const client = createClient({ url: readings.url, token });
  assert.equal((await client.groups.getGroup({ uid: parent })).name, "listed");
  assert.equal(readings.requests, 3);

  const writings = await startRelay(t, platform.url, 1);
  const writer = createClient({ url: writings.url, token });
  const error = await errorOf(writer.groups.createGroup({ parent, group: { name: "broken" } }));
  assert.equal(error.code, Code.Unavailable);
  assert.equal(writings.requests, 1);

  const never = await startRelay(t, platform.url, 100);
  const patient = createClient({ url: never.url, token, retry: { retries: 2, maxDelayMs: 10 } });
  assert.equal((await errorOf(patient.groups.getGroup({ uid: parent }))).code, Code.Unavailable);
  assert.equal(never.requests, 3);
});

test("what the rate limit refuses is sent again when the server says", async (t) => {
  const limited = await startPlatform({ MOORAGE_RATE_LIMIT_IDENTITY: "2/s:1" });
  t.after(() => limited.close());
  const relay = await startRelay(t, limited.url, 0);
  const options = { url: relay.url, token: await limited.token() };
  const client = createClient(options);
  const made = await Promise.all(
    ["a-one", "b-two", "c-three"].map((name) =>
      client.groups.createGroup({ parent: limited.organization, group: { name } }),
    ),
  );
  assert.equal(new Set(made.map(({ uid }) => uid)).size, 3);
  assert.ok(relay.requests > 3, "at least one was refused first");
  const impatient = createClient({ ...options, retry: { retries: 0 } });
  const outcomes = await Promise.allSettled(NAMES.map(() => impatient.groups.getGroup({ uid: limited.organization })));
  const refused = outcomes.filter((outcome) => outcome.status === "rejected").map(({ reason }) => reason as ApiError);
  assert.ok(refused.length > 0);
  for (const error of refused) {
    assert.equal(error.code, Code.ResourceExhausted);
    assert.ok((error.retryDelayMs ?? 0) > 0);
  }
});

test("with `dates`, answers have Dates and requests take them", async () => {
  const client = createClient({ url: platform.url, token, dates: true });
  const group = await client.groups.getGroup({ uid: parent });
  assert.ok(group.createTime instanceof Date);
  const listed = client.groups.listGroups({ uidp: { childrenOf: parent } });
  for await (const { createTime } of listed) assert.ok(createTime instanceof Date);
  const repo = await client.repos.createRepo({ parent, repo: { name: "dated" } });
  const made = repo.createTime?.getTime() ?? assert.fail("a repo has the time when it was made");
  await platform.tag(repo.uid, { name: "now" });
  const { uid } = repo;
  const since = (updatedSince: Date) => client.tags.listTags({ uidp: { childrenOf: uid }, updatedSince });
  assert.equal((await since(new Date(made - 1000))).tags.length, 1);
  assert.equal((await since(new Date(Date.now() + 3_600_000))).tags.length, 0);
});

test("credentials trade another issuer's token once for calls at the same time, and again when it is refused", async (t) => {
  const issuer = await openIssuer();
  t.after(() => issuer.close());
  const identity = await platform.ok("POST", `/iam/v2/identities/${platform.organization}`, {
    name: "job",
    claimMatch: { issuer: issuer.url, subject: "job" },
  });
  await platform.bind(platform.organization, identity.uid, await platform.role("viewer"));
  const now = Math.floor(Date.now() / 1000);
  let asked = 0;
  const credentials = exchangeCredentials({
    url: platform.url,
    identity: identity.uid,
    idToken: () => {
      asked += 1;
      return issuer.sign({ iss: issuer.url, sub: "job", aud: platform.url, iat: now, exp: now + 300 });
    },
  });
  const client = createClient({ url: platform.url, credentials });
  const groups = await Promise.all([1, 2, 3].map(() => client.groups.getGroup({ uid: parent })));
  assert.deepEqual(
    groups.map(({ name }) => name),
    ["listed", "listed", "listed"],
  );
  assert.equal(asked, 1);

  const given: string[] = [];
  const twice = createClient({
    url: platform.url,
    credentials: {
      accessToken: (rejected) => {
        given.push(rejected === undefined ? "ended" : token);
        return given.at(-1) ?? "";
      },
    },
  });
  assert.equal((await twice.groups.getGroup({ uid: parent })).name, "listed");
  assert.deepEqual(given, ["ended", token]);
  const hopeless = createClient({ url: platform.url, credentials: { accessToken: () => "ended" } });
  assert.equal((await errorOf(hopeless.groups.getGroup({ uid: parent }))).code, Code.Unauthenticated);
});

test("a stream's events are iterated, and breaking off ends it", async () => {
  const client = createClient({ url: platform.url, token, dates: true });
  const names: string[] = [];
  for await (const { event } of client.events.watchEvents({ group: parent })) {
    if (event === undefined) continue;
    assert.ok(event.time instanceof Date);
    names.push(event.type);
    if (names.length === 2) break;
  }
  assert.equal(names.length, 2);
  const watch = async (): Promise<void> => {
    for await (const _ of client.events.watchEvents(
      { group: parent, typePrefixes: ["dev.moorage.registry.push."] },
      { timeoutMs: 300 },
    ));
  };
  assert.equal((await errorOf(watch())).code, Code.DeadlineExceeded);
});

test("a program that breaks off a stream with a time limit ends by itself", async () => {
  const program = `
    import { createClient } from "@moorage/api";
    const { events } = createClient({ url: process.env.URL, token: process.env.TOKEN });
    for await (const { event } of events.watchEvents({ group: process.env.GROUP }, { timeoutMs: 600_000 })) {
      if (event) break;
    }
    console.log("done");`;
  const env = { ...process.env, URL: platform.url, TOKEN: token, GROUP: parent };
  const options = { env, cwd: import.meta.dirname, timeout: 60_000 };
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", program], options);
  assert.equal(stdout, "done\n");
});
