import assert from "node:assert/strict";
import { randomInt } from "node:crypto";
import { after, before, test } from "node:test";
import { create, type DescMethod, type DescService, getOption, type Message } from "@bufbuild/protobuf";
import * as api from "@moorage/api";
import { requestAbout } from "../../src/auth/index.ts";
import { newUid } from "../../../kernel/src/lib/uid.ts";
import { type Actor, openWorlds, type Worlds } from "../../../server/test/support/access-worlds.ts";
import { type Dice, diceOf } from "../../../server/test/support/dice.ts";
import { sized } from "../../../server/test/support/extent.ts";
import { type Answer, type Json, reason } from "../../../server/test/support/platform.ts";
import { restCallOf } from "../../../server/test/support/rest-call.ts";

// Random rights, narrowing, documents and policies: what the explanation says is what then happens, for every method of
// the API and every action of the registry.
let worlds: Worlds;
before(async () => {
  worlds = await openWorlds();
});
after(() => worlds?.platform.close());

// `npm test` asks the same every time: what it finds is of the change that is tested. The long run draws a seed.
//
//   MOORAGE_TEST_WORLDS=10000 MOORAGE_TEST_SEED=1 npm test -- access-explain-worlds      as many as one has time for
const SEED = Number(process.env["MOORAGE_TEST_SEED"] ?? sized(17, randomInt(2 ** 31)));
const COUNT = Number(process.env["MOORAGE_TEST_WORLDS"] ?? sized(150, 2_000));
const MAX_DIFFERENCES = 20;
const METHODS = Object.values<unknown>(api)
  .filter(
    (value): value is DescService =>
      typeof value === "object" && value !== null && "kind" in value && value.kind === "service",
  )
  .flatMap(({ methods }) => methods)
  // Streams have the same checks as the others; the token exchange reads tokens itself.
  .filter(({ methodKind, parent }) => methodKind === "unary" && parent !== api.SecurityTokenService)
  .filter((method) => method.parent !== api.AccessService);
const INDEX = "application/vnd.oci.image.index.v1+json";

interface Said extends Json {
  allowed: boolean;
  reason: string;
  message: string;
}

function wordsOf({ allowed, reason: why, message }: Said, { status, text }: Answer): string {
  return `said ${allowed} ${why} (${message}); answered ${status} ${text.slice(0, 500)}`;
}

async function explained(dice: Dice, actor: Actor, question: object): Promise<Said> {
  const { platform } = worlds;
  const { identity, capabilities, scopes, groups } = actor;
  // By an owner or, where there is somebody, by itself: that makes no difference.
  const asksItself = identity !== "" && dice.chance(0.3);
  const token = await platform.token(asksItself ? identity : platform.owner);
  const subject = identity === "" ? { anonymous: true } : { identity };
  const body = { ...subject, ...question, capabilities, scopes, externalGroups: groups };
  const answer = await platform.call("POST", "/iam/v2/access:explain", { token, body });
  if (answer.status === 404 && !asksItself) return { ...answer.body, allowed: false, reason: "404" };
  assert.equal(answer.status, 200, answer.text);
  return answer.body as Said;
}

async function tokenOf({ identity, capabilities, scopes, groups }: Actor): Promise<string | undefined> {
  if (identity === "") return undefined;
  const { platform, provider } = worlds;
  const untilMs = platform.clock.nowMs() + 3_600_000;
  const narrowing = {
    ...(groups.length > 0 && { external: { provider, groups, untilMs } }),
    ...(capabilities.length > 0 && {
      capabilities: capabilities.map(
        (name) => api.CapabilitySchema.values.find((value) => value.name === name)?.number,
      ),
    }),
    ...(scopes.length > 0 && { scopes }),
  };
  return platform.token(identity, narrowing as object);
}

async function registryRound(dice: Dice, actor: Actor, at: number): Promise<void> {
  const { platform, images, digests, vulnerable } = worlds;
  const action = dice.pick(["PULL", "PUSH", "DELETE"]);
  // Its only image is not deleted: others would have to be scanned first.
  const isGated = action === "PULL" && dice.chance(0.2);
  const name = isGated ? vulnerable.name : dice.chance(0.1) ? `${dice.pick(images)}-${at}` : dice.pick(images);
  const reference = isGated
    ? dice.pick(["bad", vulnerable.digest])
    : dice.chance(0.15)
      ? dice.pick(digests)
      : dice.pick(["v1", "old", "free", "none", `n-${at % 7}`]);
  // The digest of a push follows from what is pushed.
  const pushedTag = reference.includes(":") ? "v1" : reference;
  const resource = `${name}${reference.includes(":") && action !== "PUSH" ? "@" : ":"}${action === "PUSH" ? pushedTag : reference}`;
  const said = await explained(dice, actor, { action: `REGISTRY_ACTION_${action}`, resource });
  const scope = `repository:${name}:${action === "PUSH" ? "pull,push" : action.toLowerCase()}`;
  const granted = await platform.call("GET", `/token?scope=${encodeURIComponent(scope)}`, {
    token: await tokenOf(actor),
  });
  assert.equal(granted.status, 200, granted.text);
  const token = String(granted.body["token"]);
  const path = `/v2/${name}/manifests/`;
  const done =
    action === "PUSH"
      ? await platform.call("PUT", path + pushedTag, {
          token,
          raw: JSON.stringify({ schemaVersion: 2, mediaType: INDEX, manifests: [], annotations: { at: String(at) } }),
          headers: { "content-type": INDEX },
        })
      : await platform.call(action === "PULL" ? "GET" : "DELETE", path + reference, { token });
  const isDone = done.status < 300;
  assert.equal(said.allowed, isDone, `${action} ${resource} by ${JSON.stringify(actor)}: ${wordsOf(said, done)}`);
}

/** A uid that the method may be about, and often one that it may not. */
async function aboutOf(dice: Dice, method: DescMethod, made: { bindings: string[]; roles: string[] }): Promise<string> {
  const { platform, groups, repos, identities } = worlds;
  const { resource } = getOption(method, api.access);
  const nothing = newUid(dice.pick([...groups, ...repos]));
  if (method.name.startsWith("Delete")) {
    const group = dice.pick(groups);
    if (dice.chance(0.3)) return nothing;
    if (resource === api.GroupSchema.typeName) return (await platform.group(group)).uid;
    if (resource === api.RepoSchema.typeName) return worlds.spareRepos.pop() ?? nothing;
    if (resource === api.IdentitySchema.typeName) return platform.identity(group);
    if (resource === api.RoleBindingSchema.typeName) return dice.pick(made.bindings);
    return nothing;
  }
  const of: Record<string, string[]> = {
    [api.GroupSchema.typeName]: groups,
    [api.RepoSchema.typeName]: repos,
    [api.IdentitySchema.typeName]: identities,
    [api.RoleSchema.typeName]: [...made.roles, await platform.role("viewer")],
    [api.RoleBindingSchema.typeName]: made.bindings,
  };
  return dice.chance(0.2) ? nothing : dice.pick(of[resource] ?? groups);
}

/** Makes the request of those methods whole: then nothing but rights and documents decides it. */
function complete(method: DescMethod, request: Message, name: string): void {
  // Without one no path would lead to the method.
  if (method.input.field["digest"] !== undefined) Object.assign(request, { digest: worlds.digests[0] });
  if (method === api.TagsService.method.listTagMoves) Object.assign(request, { tag: "v1" });
  if (method === api.GroupsService.method.createGroup)
    Object.assign(request, { group: create(api.GroupSchema, { name }) });
  // One request that is let through to its own checks, and is none.
  if (method === api.RoleBindingsService.method.batchCreateRoleBindings)
    Object.assign(request, { requests: [create(api.CreateRoleBindingRequestSchema, { roleBinding: {} })] });
  if (method === api.ReposService.method.createRepo) Object.assign(request, { repo: create(api.RepoSchema, { name }) });
}

async function methodRound(dice: Dice, actor: Actor, at: number, made: { bindings: string[]; roles: string[] }) {
  const { platform } = worlds;
  const method = dice.pick(METHODS);
  const rule = getOption(method, api.access);
  const resource = await aboutOf(dice, method, made);
  const said = await explained(dice, actor, { method: `${method.parent.typeName}/${method.name}`, resource });
  const isBatch = method.name.startsWith("Batch");
  const request = requestAbout(method, isBatch ? { ...rule, scope: "parent" } : rule, resource);
  complete(method, request, `new-${at}`);
  const rest = restCallOf(method, request);
  if (rest === undefined) return;
  const done = await platform.call(rest.verb, rest.path, { token: await tokenOf(actor), body: rest.body });
  const words = `${method.name} on ${resource} by ${JSON.stringify(actor)}: ${wordsOf(said, done)}`;
  compare(method, said, done, words);
}

/** Whether the answer of a method is one that rights and documents alone decide. */
function compare(method: DescMethod, said: Said, done: Answer, words: string): void {
  const { scope, authenticated } = getOption(method, api.access);
  const isBlocked = reason(done) === "TERMS_NOT_ACCEPTED";
  const isRejected = [401, 403, 404].includes(done.status) || isBlocked;
  if (scope === "" && !(authenticated && method.name.startsWith("Batch"))) {
    // Lists answer nothing to those without rights. What a rejection says, the explanation says as well.
    if (isRejected && done.status !== 404) assert.equal(said.allowed, false, words);
    return;
  }
  // The rights are there, and the method judges what its request would give away, which is not explained.
  if (done.status === 403 && /only capabilities that the caller holds can be given away/.test(done.text))
    return assert.equal(said.allowed, true, words);
  // A request that is not valid was let through to the method, which had not looked for the resource yet.
  // Nor does a method that finds nothing of what the rest of its request names speak of the resource of its rule.
  const missing = done.body.details?.find((detail) => detail.resourceType !== undefined)?.resourceType;
  const isOther = done.status === 404 && missing !== getOption(method, api.access).resource;
  if ((done.status === 400 && !isBlocked) || (isOther && said.allowed))
    assert.ok(/ALLOWED|RESOURCE_MISSING|TERMS_MISSING/.test(said.reason), words);
  else assert.equal(said.allowed, !isRejected, words);
}

test("the explanation and the real decision never differ", async (t) => {
  t.diagnostic(`MOORAGE_TEST_SEED=${SEED}, MOORAGE_TEST_WORLDS=${COUNT}`);
  const differences: string[] = [];
  for (let at = 0; at < COUNT && differences.length < MAX_DIFFERENCES; at++) {
    const dice = diceOf(SEED, at);
    const made = await worlds.deal(dice);
    for (const round of [registryRound, methodRound])
      await round(dice, worlds.actor(dice), at, made).catch((error: unknown) => {
        if (!(error instanceof assert.AssertionError)) throw error;
        differences.push(`MOORAGE_TEST_SEED=${SEED}, world ${at}: ${error.message}`);
      });
  }
  if (differences.length > 0) assert.fail(differences.join("\n"));
});
