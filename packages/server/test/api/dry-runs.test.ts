import assert from "node:assert/strict";
import { setTimeout } from "node:timers/promises";
import { after, before, describe, test } from "node:test";
import {
  clone,
  type DescMethod,
  type DescMethodUnary,
  type DescService,
  fromJson,
  getOption,
  type Message,
  toJson,
} from "@bufbuild/protobuf";
import * as api from "@moorage/api";
import { allRows } from "../support/all-rows.ts";
import { type Callers, startCallers } from "../support/every-method.ts";
import { type Json, reason } from "../support/platform.ts";
import { type MakeRequest, requestsOf } from "../support/requests.ts";
import { eventually } from "../support/eventually.ts";
import { restCallOf } from "../support/rest-call.ts";

let callers: Callers;
let requests: Map<string, MakeRequest>;
before(async () => {
  callers = await startCallers();
  requests = requestsOf(callers.platform, callers.place);
});
after(() => callers.platform.close());

const services = Object.values<unknown>(api).filter(
  (value): value is DescService =>
    typeof value === "object" && value !== null && "kind" in value && value.kind === "service",
);
const writing = services
  .flatMap(({ methods }): DescMethod[] => methods)
  .filter((method) => getOption(method, api.transaction) === api.Transaction.WRITE) as DescMethodUnary[];
// Last: where there are scanners, tags that move are scanned.
const usesScanners = ({ parent, name }: DescMethod): number =>
  Number(parent === api.ScannersService) + 2 * Number(name === "ScanImage");
writing.sort((one, other) => usesScanners(one) - usesScanners(other));

/** What a call came to, by REST or by gRPC, in a form that both have. */
type Outcome = { code: number; body: unknown };
type Send = (method: DescMethodUnary, request: Message, token: string) => Promise<Outcome>;

const asDryRun = (method: DescMethodUnary, request: Message): Message =>
  Object.assign(clone(method.input, request), { validateOnly: true });

const byGrpc: Send = async (method, request, token) => {
  const { message, error } = await callers.platform.grpc.call(method, request, token);
  return message === undefined ? { code: error.code, body: error } : { code: 0, body: toJson(method.output, message) };
};

/** A dry run by the query parameter, whatever the method's body is. */
const byRest =
  (parameter: string): Send =>
  async (method, request, token) => {
    const rest = restCallOf(method, Object.assign(clone(method.input, request), { validateOnly: false }));
    assert.ok(rest, `${method.name} has a path`);
    const path = `${rest.path}${rest.path.includes("?") ? "&" : "?"}${parameter}=true`;
    const { status, text, body } = await callers.platform.call(rest.verb, path, { token, body: rest.body });
    if (status !== 200) return { code: body.code, body };
    return { code: 0, body: toJson(method.output, fromJson(method.output, text === "" ? {} : JSON.parse(text))) };
  };

const UID = /(?<![0-9a-f:])[0-9a-f]{40}(?:\/[0-9a-f]{16})*(?![0-9a-f])/g;
const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g;
const RANDOM = new Set([
  "keyId",
  "secret",
  "token",
  "hint",
  "code",
  "url",
  "requestId",
  "advisoryId",
  "checkTime",
  "eventId",
]);

/** An answer without what differs between two calls that do the same. */
function comparable({ code, body }: Outcome): Outcome {
  const text = JSON.stringify(body, (key, value: unknown) => (RANDOM.has(key) ? undefined : value));
  return { code, body: JSON.parse(text.replaceAll(UID, "uid").replaceAll(TIME, "time")) as unknown };
}

interface FeedNamed {
  name?: string;
  feed?: { name: string };
}

/** A feed is fetched as soon as it is there. Waits until that is over, for a request about a feed that is there. */
async function firstFetchOf({ name = "", feed }: FeedNamed): Promise<void> {
  const feeds = callers.platform.reader.selectFrom("feeds").select("attempt_time");
  const named = feeds.where("name", "=", feed?.name ?? name);
  await eventually(async () => (await named.execute()).every(({ attempt_time: timeMs }) => timeMs !== null));
}

/** What a quota counts is measured as soon as it is there. Waits until that is over, for a request about a quota. */
async function firstMeasureOf({ quota }: { quota?: { uid?: string } }): Promise<void> {
  const { reader } = callers.platform;
  const counted = reader
    .selectFrom("quotas")
    .select("uid")
    .where("uid", "=", quota?.uid ?? "");
  if ((await counted.execute()).length === 0) return;
  const measured = reader
    .selectFrom("quota_shares")
    .select("quota")
    .where("quota", "=", quota?.uid ?? "");
  await eventually(async () => (await measured.execute()).length > 0);
}

const MAX_ATTEMPTS = 8;
const WAIT_MS = 500;

/**
 * Asserts that the work leaves every row of every table as it is. What the server does by itself meanwhile, such as the
 * scan of a tag that has moved, is over at another attempt; what the work changes is changed at each.
 */
async function changesNothing<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await changesNothingNow(work);
    } catch (error) {
      if (attempt === MAX_ATTEMPTS || !(error instanceof assert.AssertionError)) throw error;
      await setTimeout(WAIT_MS);
    }
  }
}

async function changesNothingNow<T>(work: () => Promise<T>): Promise<T> {
  // The events and changes before it have been worked on.
  await eventually(async () => {
    const { reader } = callers.platform;
    const [event] = await reader.selectFrom("event_outbox").select("n").limit(1).execute();
    const [cause] = await reader.selectFrom("finding_causes").select("id").limit(1).execute();
    return event === undefined && cause === undefined;
  });
  const rows = await allRows(callers.platform.reader);
  const value = await work();
  const now = await allRows(callers.platform.reader);
  for (const table of new Set([...rows.keys(), ...now.keys()]))
    assert.deepEqual(now.get(table), rows.get(table), table);
  return value;
}

describe("a dry run of every writing method answers what the call answers, and changes nothing", () => {
  for (const [at, method] of writing.entries()) {
    test(`${method.parent.name}.${method.name}`, async () => {
      const { tokens } = callers;
      assert.ok(method.input.field["validateOnly"], "has validate_only");
      const make = requests.get(`${method.parent.typeName}.${method.name}`);
      assert.ok(make, "there is a request for the method");
      const request = await make();
      // What the adapter says is not stored by a dry run, nor answered: so it has been asked before.
      if (method === api.ScannersService.method.checkScanner) await byGrpc(method, request, tokens.owner);
      await firstFetchOf(request as Message & FeedNamed);
      await firstMeasureOf(request as Message & { quota?: { uid?: string } });
      const dry = asDryRun(method, request);
      const bySome = byRest(at % 2 === 0 ? "validateOnly" : "validate_only");
      const first = await changesNothing(async () => [
        await byGrpc(method, dry, tokens.owner),
        await bySome(method, request, tokens.owner),
      ]);
      const denied = await changesNothing(() => byGrpc(method, dry, tokens.stranger));
      assert.deepEqual(comparable(denied), comparable(await byGrpc(method, request, tokens.stranger)));
      const real = await byGrpc(method, request, tokens.owner);
      assert.equal(real.code, 0, JSON.stringify(real));
      // A source is asked by the scheduler as well, meanwhile: its state is not the same from one moment to the next.
      const isSync = method === api.ReposService.method.syncRepo;
      for (const each of first)
        if (isSync) assert.equal(each.code, real.code);
        else assert.deepEqual(comparable(each), comparable(real));
      // The same again, which many methods refuse by now.
      const again = await changesNothing(async () => [
        await byGrpc(method, dry, tokens.owner),
        await bySome(method, request, tokens.owner),
      ]);
      const refused = await byGrpc(method, request, tokens.owner);
      // Deliveries that the call itself began are under way.
      const shown = (outcome: Outcome): unknown => (refused.code === 0 ? outcome.code : comparable(outcome));
      for (const each of again) assert.deepEqual(shown(each), shown(refused));
    });
  }
});

test("secrets that are shown once are not in the answer of a dry run", async () => {
  const { platform, place } = callers;
  const roleUid = await platform.role("viewer");
  const invite = await platform.ok("POST", `/iam/v2/groupInvites/${place.group}?validateOnly=true`, {
    roleUid,
    ttl: "600s",
  });
  assert.equal(invite["code"], "");
  assert.equal(invite["url"] ?? "", "");
  const sink = "http://127.0.0.1:9/";
  const path = `/events/v2/subscriptions/${place.group}`;
  assert.equal((await platform.ok("POST", `${path}?validateOnly=true`, { sink }))["secret"], "");
  const { uid, secret } = await platform.ok("POST", path, { sink });
  assert.match(String(secret), /^whsec_/);
  const rotate = `/events/v2/subscriptions/${uid}:rotateSecret`;
  assert.equal((await platform.ok("POST", rotate, { validateOnly: true }))["secret"], "");
  assert.equal((await platform.ok("POST", `${rotate}?validateOnly=true`))["secret"], "");
  const tokens = "/iam/v2/personalTokens";
  assert.equal((await platform.ok("POST", `${tokens}?validateOnly=true`, { name: "laptop" }))["token"], "");
});

test("dry runs do not undo what is written beside them, nor does that keep what they would write", async () => {
  const { platform, place } = callers;
  const { uid } = await platform.group(place.group, { name: "beside" });
  const make = (name: string, query = ""): Promise<Json> =>
    platform.ok("POST", `/iam/v2/groups/${uid}${query}`, { name });
  const describe = (text: string, query = ""): Promise<Json> =>
    platform.ok("PATCH", `/iam/v2/groups/${uid}${query}`, { description: text });
  const repo = await platform.repo(uid, { name: "tagged" });
  const tag = (name: string, query = ""): Promise<Json> =>
    platform.ok("POST", `/registry/v2/tags/${repo.uid}${query}`, { name, digest: place.digest });
  const refused = async (): Promise<void> => {
    const answer = await platform.call("POST", `/iam/v2/groups/${uid}`, {
      token: await platform.token(),
      body: { name: "real-0" },
    });
    assert.ok(answer.status === 200 || reason(answer) === "ALREADY_EXISTS", answer.text);
  };
  const numbers = Array.from({ length: 40 }, (_, at) => at);
  await make("real-0");
  await Promise.all(
    numbers.flatMap((at) => [
      at > 0 && make(`real-${at}`),
      make(`dry-${at}`, "?validateOnly=true"),
      describe(`dry ${at}`, "?validateOnly=true"),
      tag(`real-${at}`),
      tag(`dry-${at}`, "?validate_only=true"),
      refused(),
    ]),
  );
  await describe("real");
  await describe("dry", "?validateOnly=true");
  const names = async (path: string, plural: string): Promise<string[]> =>
    ((await platform.ok("GET", path))[plural] as Json[]).map(({ name }) => name).toSorted();
  const real = numbers.map((at) => `real-${at}`).toSorted();
  assert.deepEqual(await names(`/iam/v2/groups?uidp.childrenOf=${uid}&pageSize=200`, "groups"), real);
  assert.deepEqual(await names(`/registry/v2/tags?uidp.childrenOf=${repo.uid}&pageSize=200`, "tags"), real);
  assert.equal((await platform.ok("GET", `/iam/v2/groups/${uid}`)).description, "real");
});

test("a dry run is what a read after it, and a cached answer before it, do not know of", async () => {
  const { platform, place } = callers;
  const path = `/iam/v2/groups/${(await platform.group(place.group)).uid}`;
  const token = await platform.token();
  const read = () => platform.call("GET", path, { token });
  const first = await read();
  const { body } = await platform.call("PATCH", `${path}?validateOnly=true`, { token, body: { description: "dry" } });
  assert.equal(body.description, "dry");
  assert.deepEqual((await read()).text, first.text);
  const { status } = await platform.call("DELETE", `${path}?validate_only=true`, { token });
  assert.equal(status, 200);
  assert.deepEqual((await read()).text, first.text);
});
