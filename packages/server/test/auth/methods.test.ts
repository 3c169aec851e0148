import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import {
  create,
  type DescMethod,
  type DescMethodServerStreaming,
  type DescMethodUnary,
  type DescService,
  fromJson,
  getOption,
  hasOption,
  type Message,
  toJson,
} from "@bufbuild/protobuf";
import { EmptySchema } from "@bufbuild/protobuf/wkt";
import * as api from "@moorage/api";
import {
  access as accessOption,
  CapabilitySchema,
  SecurityTokenService,
  transaction as transactionOption,
} from "@moorage/api";
import { endOf } from "../support/grpc.ts";
import { pushImage } from "../support/image.ts";
import { type Platform, startPlatform } from "../support/platform.ts";
import { requestsOf } from "../support/requests.ts";
import { restCallOf } from "../support/rest-call.ts";

// Every method of every service of the API, by REST and gRPC, without a token, with invalid tokens, and with those of a
// stranger, a viewer and an owner.
let platform: Platform;
let requests: ReturnType<typeof requestsOf>;
/** Tokens that no method accepts. */
const worthless: Record<string, string | undefined> = { none: undefined };
const OTHER_AUDIENCES = ["the registry's", "one for elsewhere"];
const tokens = { stranger: "", viewer: "", elsewhere: "", narrowedAway: "", narrowedElsewhere: "", owner: "" };
type Who = keyof typeof tokens;
let viewerCapabilities: string[];

before(async () => {
  platform = await startPlatform({ MOORAGE_ALLOW_PRIVATE_NETWORK: "true" });
  const { organization: root, owner, url } = platform;
  const { uid: group } = await platform.group(root, { name: "team" });
  const { uid: other } = await platform.group(root);
  const digest = await pushImage(platform, "acme/team/app", "v1");
  const [repo] = (await platform.ok("GET", "/registry/v2/repos?name=app"))["repos"] as { uid: string }[];
  requests = requestsOf(platform, { group, repo: repo?.uid ?? "", digest });

  const deleted = await platform.identity(root, "owner");
  Object.assign(worthless, {
    garbage: "not-a-token",
    expired: await platform.token(owner, { ttlMs: -60_000 }),
    "the registry's": await platform.token(owner, { audience: new URL(url).host }),
    "one for elsewhere": await platform.token(owner, { audience: "https://elsewhere.example" }),
    "a deleted identity's": await platform.token(deleted),
  });
  await platform.ok("DELETE", `/iam/v2/identities/${deleted}`);
  const narrowed = async (query: string): Promise<string> => {
    const answer = await platform.call("GET", `/sts/exchange?${query}`, { token: await platform.token() });
    assert.equal(answer.status, 200, answer.text);
    return String(answer.body["token"]);
  };
  tokens.stranger = await platform.token(await platform.identity(root));
  tokens.viewer = await platform.token(await platform.identity(root, "viewer"));
  tokens.elsewhere = await platform.token(await platform.identity(other, "owner"));
  tokens.narrowedAway = await narrowed("cap=CAP_VULN_REPORT_LIST");
  tokens.narrowedElsewhere = await narrowed(`scopes=${other}`);
  tokens.owner = await platform.token();
  viewerCapabilities = (await platform.ok("GET", `/iam/v2/roles/${await platform.role("viewer")}`))[
    "capabilities"
  ] as string[];
});
after(() => platform.close());

type Outcome = "ok" | "empty" | "NOT_FOUND" | "PERMISSION_DENIED" | "UNAUTHENTICATED";
const STRANGERS: readonly Who[] = ["stranger", "elsewhere", "narrowedAway", "narrowedElsewhere"];

/** The outcome by the method's own access rule. */
function expected(method: DescMethod, who: Who): Outcome {
  const rule = getOption(method, accessOption);
  // The exchange reads the token itself: any valid token is exchanged for another. Only a refresh token can be
  // refreshed.
  if (method.parent.typeName === SecurityTokenService.typeName)
    return method.name === "Exchange" ? "ok" : "UNAUTHENTICATED";
  if (rule.public || who === "owner") return "ok";
  // What feeds publish about products is for whoever is signed in.
  if (method.name === "GetPackageVersionMetadata") return "ok";
  // A caller with the code is accepted, unless its rights cannot reach the group or its token is narrowed.
  if (method.name === "AcceptGroupInvite") return who === "stranger" || who === "viewer" ? "ok" : "PERMISSION_DENIED";
  // This one names its images, as a method does that is about one resource.
  const isList = method.name.startsWith("List") && rule.scope === "" && method.name !== "ListResolvedVulnsReports";
  if (STRANGERS.includes(who)) return isList ? "empty" : "NOT_FOUND";
  const held = rule.capabilities.every((capability) =>
    viewerCapabilities.includes(CapabilitySchema.value[capability]?.name ?? ""),
  );
  if (held && !rule.authenticated) return "ok";
  // A list about one group whose log the caller may not read.
  if (method.name === "ListAuditEntries") return "PERMISSION_DENIED";
  return isList ? "empty" : "PERMISSION_DENIED";
}

const CODES: Record<number, Outcome> = { 5: "NOT_FOUND", 7: "PERMISSION_DENIED", 16: "UNAUTHENTICATED" };
const HTTP: Record<number, number> = { 5: 404, 7: 403, 16: 401 };
interface Result {
  outcome: Outcome | number;
  answer: unknown;
}

async function byRest(method: DescMethod, request: Message, token: string | undefined): Promise<Result> {
  const rest = restCallOf(method, request);
  assert.ok(rest);
  const { status, headers, body, text } = await platform.call(rest.verb, rest.path, { token, body: rest.body });
  if (status !== 200) {
    assert.equal(status, HTTP[body.code], text);
    return { outcome: CODES[body.code] ?? body.code, answer: body };
  }
  // The answer to a delete has no body.
  if (method.output.typeName === EmptySchema.typeName)
    assert.deepEqual([rest.verb, headers["content-length"], text], ["DELETE", "0", ""]);
  return { outcome: "ok", answer: toJson(method.output, fromJson(method.output, text === "" ? {} : JSON.parse(text))) };
}

async function byGrpc(
  method: DescMethodUnary | DescMethodServerStreaming,
  request: Message,
  token: string | undefined,
): Promise<Result> {
  const { message, error } = isUnary(method)
    ? await platform.grpc.call(method, request, token)
    : await firstOf(method, request, token);
  if (message !== undefined) return { outcome: "ok", answer: toJson(method.output, message) };
  assert.ok(error);
  const { code } = error;
  return { outcome: CODES[code] ?? code, answer: error };
}

/** The first message of a stream. */
async function firstOf(method: DescMethodServerStreaming, request: Message, token: string | undefined) {
  const enough = new AbortController();
  try {
    for await (const message of platform.grpc.stream(method, request, token, enough.signal)) return { message };
    return { error: null };
  } catch (error) {
    return { error: endOf(error) };
  } finally {
    enough.abort();
  }
}

/** A caller without rights sees an empty list: only built-in roles, which have no organization in their uid. */
function outcomeOf(result: Result, wanted: Outcome): Outcome | number {
  if (wanted !== "empty" || result.outcome !== "ok") return result.outcome;
  return JSON.stringify(result.answer).includes(`${platform.organization}/`) ? "ok" : "empty";
}

/** The part of an error that does not depend on the request, as the request's uids do. */
function shapeOf(answer: unknown): unknown {
  const { code, details = [] } = answer as {
    code?: number;
    details?: { "@type": string; reason?: string; domain?: string; resourceType?: string }[];
  };
  return {
    code,
    details: details.map(({ reason, domain, resourceType, ...rest }) => ({
      type: rest["@type"],
      reason,
      domain,
      resourceType,
    })),
  };
}

const services = Object.values<unknown>(api).filter(
  (value): value is DescService =>
    typeof value === "object" && value !== null && "kind" in value && value.kind === "service",
);

const isUnary = (method: DescMethod): method is DescMethodUnary => method.methodKind === "unary";
const isStream = (method: DescMethod): method is DescMethodServerStreaming => method.methodKind === "server_streaming";

for (const service of services) {
  describe(service.typeName, () => {
    for (const method of service.methods) {
      test(method.name, async () => {
        assert.ok(isUnary(method) || isStream(method), "is one that is served");
        assert.ok(hasOption(method, accessOption), "has an access rule");
        const make = requests.get(`${service.typeName}.${method.name}`);
        assert.ok(make, "support/requests.ts has a request for the method");
        const isPublic = getOption(method, accessOption).public && service.typeName !== SecurityTokenService.typeName;
        const hasRest = restCallOf(method, create(method.input)) !== undefined;
        const rejections: Record<string, unknown>[] = [];
        for (const call of hasRest ? [byRest, byGrpc] : [byGrpc]) {
          const request = await make();
          const seen: Record<string, unknown> = {};
          for (const [name, token] of Object.entries(worthless)) {
            // The exchange reads tokens of every audience, and has an error of its own for those that it cannot
            // exchange.
            if (service.typeName === SecurityTokenService.typeName && OTHER_AUDIENCES.includes(name)) continue;
            const answer = await call(method, request, token);
            assert.equal(
              answer.outcome,
              isPublic ? "ok" : "UNAUTHENTICATED",
              `${call.name}, ${name}: ${JSON.stringify(answer)}`,
            );
            seen[name] = shapeOf(answer.answer);
          }
          // The owner last: its success shows that the request was valid and that no caller before had succeeded.
          for (const who of Object.keys(tokens) as Who[]) {
            const wanted = expected(method, who);
            const answer = await call(method, request, tokens[who]);
            assert.equal(outcomeOf(answer, wanted), wanted, `${call.name}, ${who}: ${JSON.stringify(answer)}`);
            if (answer.outcome !== "ok") seen[who] = shapeOf(answer.answer);
          }
          rejections.push(seen);
        }
        if (rejections[1] !== undefined) assert.deepEqual(rejections[0], rejections[1], "REST and gRPC refuse alike");
      });
    }
  });
}

test("every service of the SDK is served by gRPC, and every method declares the transaction that fits its name", async () => {
  assert.ok(services.length >= 9);
  for (const method of services.flatMap((service) => service.methods)) {
    const reads = /^(?:Get|List|Lookup|Preview|Watch)/.test(method.name);
    const outside = getOption(method, transactionOption) === api.Transaction.NONE;
    if (!outside)
      assert.equal(
        getOption(method, transactionOption),
        reads ? api.Transaction.READ : api.Transaction.WRITE,
        method.name,
      );
    // A request to sync now, to redeliver, or for a scan changes no resource.
    const emitsEvent =
      getOption(method, transactionOption) === api.Transaction.WRITE &&
      !/^(?:Sync|Redeliver|ScanImage)/.test(method.name);
    assert.equal(hasOption(method, api.event), emitsEvent, method.name);
  }
});
